/**
 * Header blocks that a contract declares (rules B2.3–B2.5; SOAP 1.2 Part 1 §5.2): read and set by
 * handlers, published, sent by the client, in REST as HTTP fields.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app, { bank } from '../../examples/bank/service.ts'
import { createSoapClient, FaultError, InputError } from '../../src/client/index.ts'
import { implement } from '../../src/contract/implement.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { readWsdl11 } from '../../src/describe/reader/read-wsdl.ts'
import { writeWsdl11 } from '../../src/describe/wsdl11.ts'
import { writeWsdl20 } from '../../src/describe/wsdl20.ts'
import { anyone, header, job, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'
import { Malformed } from '../../src/xml/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { find, ns11, ns12, readAnswer } from './orders-over-soap.ts'

const own = 'urn:example:bank'
const ns = `${own}:v1`
const hosted = await startHosted({}, app)
const token = await hosted.server.token('tina', ['teller'])
const create =
  '<CreateTransfer xmlns="urn:example:bank:v1"><transfer><to>DE1</to><amount>1.00</amount></transfer></CreateTransfer>'
const branch = (more = '', code = '0042', uri = own) => `<b:Branch xmlns:b="${uri}"${more}>${code}</b:Branch>`

async function post(header: string, body = create, version: '1.1' | '1.2' = '1.2', style = '') {
  const e = version === '1.2' ? ns12 : ns11
  const text = `<e:Envelope xmlns:e="${e}" xmlns:o="urn:outer"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`
  const type = version === '1.2' ? 'application/soap+xml' : 'text/xml'
  const fields = { 'content-type': `${type}; charset=utf-8`, authorization: `Bearer ${token}` }
  const { status, fields: found, text: content } = await hosted.ask('POST', `/soap/v1${style}`, fields, text)
  return readAnswer({ status, fields: found as never, content }) // its fields are single texts
}

for (const version of ['1.1', '1.2'] as const)
  test(`B2.5 a declared mandatory block reaches the handler, and its reply has one: SOAP ${version}`, async () => {
    const answer = await post(branch(' e:mustUnderstand="1" xml:lang="de" xml:base="urn:x" o:any="1"'), create, version)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(find(answer.body, 'transfer', 'branch')?.text, '0042')
    const [receipt, ...more] = answer.blocks
    assert.deepEqual([receipt?.name.uri, receipt?.name.local, more.length], [own, 'Receipt', 0])
    assert.equal(find(receipt, 'branch')?.text, '0042')
    assert.equal(find(receipt, 'number')?.name.uri, own)
  })

for (const style of ['/rpc', '/encoded'])
  test(`WSDL 1.1 §3.7 a declared block is literal and qualified, also at ${style}`, async () => {
    const body = `<m:CreateTransfer xmlns:m="${ns}"><transfer><to>DE1</to><amount>1.00</amount></transfer></m:CreateTransfer>`
    const answer = await post(branch(), body, '1.1', style)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(find(answer.blocks[0], 'branch')?.text, '0042')
  })

const mandatory = ' e:mustUnderstand="1"'
/** [title, Header, fault, reason] */
const refused: readonly (readonly [string, string, string, RegExp])[] = [
  [
    'B2.4 a mandatory block that is not declared',
    `${branch()}<x:A xmlns:x="${own}"${mandatory}/>`,
    'MustUnderstand',
    /A$/,
  ],
  ['B2.4 … in another namespace', branch(mandatory, '0042', ns), 'MustUnderstand', /Branch$/],
  ['B2.4 … of answers alone', `${branch()}<x:Receipt xmlns:x="${own}"${mandatory}/>`, 'MustUnderstand', /Receipt$/],
  ['§5.2 a block that is missing', '', 'Sender', /urn:example:bank\}Branch is missing/],
  ['§5.2 a block twice', branch() + branch(), 'Sender', /Branch is repeated/],
  ['B2.5 a value that breaks its declaration', branch('', '42'), 'Sender', /^\/Branch\[1\]/],
  [
    'XML whose elements each repeat a long namespace, 540 MB of 114 KB',
    `${branch()}<b:Remark xmlns:b="${own}" xmlns:p="urn:${'p'.repeat(60_000)}">${'<p:a/>'.repeat(9000)}</b:Remark>`,
    'Sender',
    /its canonical form is too long/,
  ],
]
for (const [title, header, code, reason] of refused)
  test(`${title}: a fault, and nothing is booked`, async () => {
    const list = () => hosted.ask('GET', '/api/v1/transfers', { authorization: `Bearer ${token}`, branch: '0001' })
    const before = (await list()).text
    const answer = await post(header)
    assert.equal(answer.fault?.code, code, answer.text)
    assert.match(answer.fault?.reason ?? '', reason)
    assert.equal(answer.blocks.filter(each => each.name.uri === own).length, 0, 'a fault has no header of handlers')
    assert.equal((await list()).text, before)
  })

test('B2.4 a mandatory block that only another operation declares is not understood', async () => {
  const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({
    allow: { read: [anyone], create: [anyone] },
  })
  const contract = service('notes', {
    namespace: 'urn:n',
    resources: [notes],
    versions: { v1: {}, v2: {} },
    headers: { A: header(t.string(), { operations: ['CreateNote'], versions: ['v2'], role: 'urn:r' }) },
  })
  const { ask } = await startHosted({}, implement(contract, {}))
  const send = async (version: string, body: string, role = 'urn:r') => {
    const text = `<e:Envelope xmlns:e="${ns12}"><e:Header><a:A xmlns:a="urn:n" e:role="${role}" e:mustUnderstand="1">x</a:A></e:Header><e:Body>${body}</e:Body></e:Envelope>`
    const answer = await ask('POST', `/soap/${version}`, { 'content-type': 'application/soap+xml' }, text)
    return /:(MustUnderstand|Sender)</.exec(answer.text)?.[1] ?? answer.status
  }
  const make = (version: string) => `<CreateNote xmlns="urn:n:${version}"><note><text>x</text></note></CreateNote>`
  assert.equal(await send('v2', make('v2')), 200)
  assert.equal(await send('v2', make('v2'), `${ns12}/role/next`), 'MustUnderstand', 'declared for another role')
  assert.equal(await send('v2', '<ListNotes xmlns="urn:n:v2"/>'), 'MustUnderstand')
  assert.equal(await send('v1', make('v1'), `${ns12}/role/next`), 'MustUnderstand')
})

test('free content arrives as XML that declares its namespaces, and returns unchanged', async () => {
  const remark = `<b:Remark xmlns:b="${own}" o:by="x">a &lt; <o:em>b</o:em><c xmlns="urn:c"/></b:Remark>`
  const answer = await post(branch() + remark)
  assert.equal(answer.status, 200, answer.text)
  const [, content] = /<b:Remark xmlns:b="urn:example:bank">(.*)<\/b:Remark>/.exec(answer.text) ?? []
  assert.equal(content, 'a &lt; <o:em xmlns:o="urn:outer">b</o:em><c xmlns="urn:c"></c>')
})

test('B4.11 the same message with another header is another message', async () => {
  const wsa = 'http://www.w3.org/2005/08/addressing'
  const id = `<a:MessageID xmlns:a="${wsa}">urn:uuid:same</a:MessageID><a:Action xmlns:a="${wsa}">${ns}/CreateTransfer</a:Action>`
  const first = await post(id + branch())
  assert.equal(first.status, 200, first.text)
  const again = await post(id + branch())
  assert.equal(find(again.body, 'transfer', 'id')?.text, find(first.body, 'transfer', 'id')?.text)
  assert.match((await post(id + branch('', '0043'))).fault?.reason ?? '', /used before/)
})

test("an undefined member of a header block, or of a job's input, is absent", async () => {
  const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({
    allow: { read: [anyone], create: [anyone] },
  })
  const input = { text: t.string(), to: t.string().optional() }
  const contract = service('notes', {
    namespace: 'urn:n',
    resources: [notes],
    jobs: [job('mails', { input, output: {}, allow: [] })],
    headers: { Stamp: header(t.object({ by: t.string().optional(), text: t.string() }), { direction: 'response' }) },
  })
  const inputs: unknown[] = []
  const app = implement(contract, {
    notes: {
      derive: async (ctx, { text }) => {
        ctx.setHeader('Stamp', { by: ctx.caller.subject, text })
        await ctx.after('mails', { text, to: ctx.caller.subject })
        return {}
      },
    },
    mails: {
      run: async (_ctx, given) => {
        inputs.push(given)
        return {}
      },
    },
  })
  await using running = await startTestService(contract, app)
  const note = await running.soap().CreateNote.callForHeaders({ note: { text: 'a' } })
  assert.deepEqual(note.headers.Stamp, { text: 'a' })
  await running.work()
  assert.deepEqual(inputs, [{ text: 'a' }])
  assert.deepEqual(running.incidents, [])
})

test('REST has the headers that name a field', async () => {
  const content = JSON.stringify({ to: 'DE1', amount: '1.00' })
  const send = (fields: Record<string, string>) =>
    hosted.ask(
      'POST',
      '/api/v1/transfers',
      { ...fields, 'content-type': 'application/json', authorization: `Bearer ${token}` },
      content,
    )
  const made = await send({ branch: '0042' })
  assert.equal(made.status, 201, made.text)
  assert.equal(JSON.parse(made.text).branch, '0042')
  assert.equal(made.fields['receipt'], undefined, 'it has no field')
  assert.match(String(made.fields['vary']), /\bbranch\b/)
  for (const [fields, detail] of [
    [{}, /branch is missing/],
    [{ branch: '42' }, /branch must match/],
  ] as const) {
    const { status, text } = await send(fields)
    assert.equal(status, 400)
    assert.match(text, detail)
  }
  const described = JSON.parse((await hosted.ask('GET', '/openapi.json')).text)
  const { parameters } = described.paths['/api/v1/transfers'].post
  assert.ok(parameters.some((each: { name?: string; in?: string }) => each.name === 'branch' && each.in === 'header'))
})

test('row 25 the same key with another header is another request, with the same header a repeat', async () => {
  const content = JSON.stringify({ to: 'DE1', amount: '1.00' })
  const send = (code: string) =>
    hosted.ask(
      'POST',
      '/api/v1/transfers',
      {
        branch: code,
        'idempotency-key': '"with-branch"',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
      content,
    )
  const made = await send('0042')
  assert.equal(made.status, 201, made.text)
  assert.equal((await send('0042')).text, made.text)
  const other = await send('0043')
  assert.equal(other.status, 422, other.text)
})

test('a handler sets the HTTP fields of a response, not of a request; undefined means that there is none', async () => {
  const seen: unknown[] = []
  const notes = resource('notes', { fields: { id: t.id('n'), text: t.string(), at: t.int().readOnly() } }).rules({
    allow: { read: [anyone], create: [anyone] },
  })
  const headers = {
    Count: header(t.int(), { direction: 'both', field: 'Note-Count' }),
    Hidden: header(t.string(), { direction: 'both' }),
    Asked: header(t.string()),
  }
  const contract = service('notes', { namespace: 'urn:n', resources: [notes], headers })
  const app = implement(contract, {
    notes: {
      derive: ctx => {
        seen.push(ctx.headers.Count, ctx.headers.Hidden)
        ctx.setHeader('Count', (ctx.headers.Count ?? 0) + 1)
        ctx.setHeader('Hidden', 'x')
        for (const name of ['Asked', 'Nowhere'])
          assert.throws(() => ctx.setHeader(name as 'Count', 1), /is not a declared header of answers/)
        return { at: 1 }
      },
    },
  })
  const { ask } = await startHosted({}, app)
  const fields = { 'content-type': 'application/json', 'note-count': '6', hidden: 'y' }
  const made = await ask('POST', '/api/v1/notes', fields, JSON.stringify({ text: 'a' }))
  assert.deepEqual([made.status, made.fields['note-count'], made.fields['hidden']], [201, '7', undefined], made.text)
  assert.deepEqual(seen, [6, undefined])
})

for (const soap of ['1.1', '1.2'] as const)
  test(`the client sends and reads the headers of the contract: SOAP ${soap}`, async () => {
    const address = `${hosted.server.url}/soap/v1`
    using client = createSoapClient(bank, { address, soap, credentials: { bearer: token } })
    const transfer = { to: 'DE1', amount: '2.00' }
    const made = await client.CreateTransfer.callForHeaders(
      { transfer },
      { headers: { Branch: '0042', Remark: '<em xmlns="urn:e">x</em>' } },
    )
    assert.equal(made.output.transfer.branch, '0042')
    assert.equal(made.headers.Receipt?.branch, '0042')
    assert.equal(made.headers.Remark, '<em xmlns="urn:e">x</em>')
    const { id } = made.output.transfer
    await assert.rejects(client.ReverseTransfer({ id }, { headers: { Branch: '0001' } }), FaultError)
    await assert.rejects(client.ReverseTransfer({ id }), InputError)
    await assert.rejects(client.ReverseTransfer({ id }, { headers: { Branch: '1' } }), InputError)
    using own = createSoapClient(bank, { address, soap, credentials: { bearer: token }, headers: { Branch: '0042' } })
    assert.equal((await own.ReverseTransfer({ id })).transfer.state, 'reversed')
  })

test('headers that the contract does not declare do not compile', () => {
  using client = createSoapClient(bank, { address: 'http://127.0.0.1:1/soap/v1' })
  const unasked = (_: () => unknown): void => {}
  // @ts-expect-error Branch is a text
  unasked(() => client.GetTransfer({ id: 't-1' }, { headers: { Branch: 42 } }))
  // @ts-expect-error no header of requests has this name
  unasked(() => client.GetTransfer({ id: 't-1' }, { headers: { Receipt: { number: '1', branch: '1' } } }))
  // @ts-expect-error GetTransfer has no receipt
  unasked(async () => (await client.GetTransfer.callForHeaders({ id: 't-1' })).headers.Receipt)
  unasked(
    async () => (await client.CreateTransfer.callForHeaders({ transfer: { to: '', amount: '' } })).headers.Receipt,
  )
  unasked(() =>
    implement(bank, {
      transfers: {
        derive: ctx => {
          // @ts-expect-error Branch is a header of requests
          ctx.setHeader('Branch', '0042')
          // @ts-expect-error a receipt has a branch
          ctx.setHeader('Receipt', { number: '1' })
          // @ts-expect-error Receipt is a header of answers
          return { branch: ctx.headers.Receipt }
        },
        reverse: () => {},
      },
    }),
  )
})

test('B2.12 WSDL 1.1 §3.7 publishes the headers of each operation', () => {
  const contract = app.contract
  const written = writeWsdl11(contract, 'v1', { address: 'http://bank.example/soap/v1' })
  const document = readWsdl11(Buffer.from(written))
  assert.ok(!(document instanceof Malformed))
  assert.deepEqual(document.flaws, [])
  const [port] = document.services.flatMap(each => each.ports)
  const headers = (name: string) => {
    const operation = port?.operations.find(each => each.name === name)
    return [operation?.input, operation?.output].map(part => part?.headers.map(each => each.element))
  }
  const [branch, receipt, remark] = ['Branch', 'Receipt', 'Remark'].map(each => `{${own}}${each}`)
  assert.deepEqual(headers('CreateTransfer'), [
    [branch, remark],
    [receipt, remark],
  ])
  assert.deepEqual(headers('GetTransfer'), [[branch, remark], [remark]])
})

test('B2.13 WSDL 2.0 Part 2 §5.9 publishes them, and says which are required', () => {
  const written = writeWsdl20(app.contract, 'v1', { address: 'http://bank.example/soap/v1' })
  assert.match(
    written,
    /<wsdl:input messageLabel="In">\s*<wsoap:header element="h1:Branch" mustUnderstand="true" required="true"\/>/,
  )
  assert.match(written, /<wsdl:output messageLabel="Out">\s*<wsoap:header element="h1:Receipt"\/>/)
})

test('a mistake in a header is reported at start, with its cure', () => {
  const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone] } })
  const contract = service('notes', {
    namespace: 'urn:n',
    resources: [notes],
    headers: {
      A: header(t.list(t.string())),
      B: header(t.object({ a: t.string() }), { field: 'B' }),
      C: header(t.string(), { field: 'Authorization' }),
      D: header(t.string(), { operations: ['GetNothing'], versions: ['v7'] }),
      E: header(t.string(), { namespace: 'http://www.w3.org/2005/08/addressing' }),
      F: header(t.string().nullable()),
    },
  })
  const mistakes = findContractMistakes(implement(contract, {}))
  assert.deepEqual(
    mistakes.map(each => each.slice(0, 8)),
    ['header A', 'header B', 'header C', 'header D', 'header D', 'header E', 'header F'],
    mistakes.join('\n'),
  )
})
