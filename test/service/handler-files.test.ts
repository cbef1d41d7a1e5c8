/** Files of items in handlers: read as the caller may, and kept with the call or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, fault, implement, job, resource, role, service, t } from '../../src/index.ts'
import { pieceOctets } from '../../src/service/file-content.ts'
import { startTestService } from '../../src/testing/index.ts'

const clerk = role('clerk')
const Infected = fault('Infected', { status: 422, title: 'The file has a virus', detail: { what: t.string() } })
const claims = resource('claims', {
  fields: { id: t.id('c'), owner: t.string(), size: t.int().readOnly().default(0) },
  actions: on => ({
    print: on().stay({ rel: 'print-out', input: { octets: t.int() }, output: { kept: t.int(), first: t.int() } }),
    measure: on().read({ rel: 'size', output: { size: t.int(), mediaType: t.string() } }),
    scribble: on().stay({ rel: 'scribbling', input: { mediaType: t.string(), octets: t.int() }, faults: [Infected] }),
  }),
  files: { scan: { mediaTypes: ['application/pdf', 'text/plain'], max: 1_000_000 } },
}).rules({
  faults: { scan: [Infected] },
  allow: {
    ...{ read: [role('owner').owning({ owner: 'owner' }), clerk], create: [clerk], change: [clerk], print: [clerk] },
    ...{ scribble: [clerk] },
  },
})
const rows = resource('rows', { fields: { id: t.id('r'), text: t.string() } }).rules({
  filter: ['text'],
  allow: { read: [anyone] },
})
const imports = job('imports', {
  input: { claim: t.string() },
  output: { rows: t.int() },
  allow: [clerk, role('owner')],
})
const office = service('office', { namespace: 'urn:office', resources: [claims, rows], jobs: [imports] })

const octetsOf = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => at % 251)
const app = implement(
  office,
  {
    claims: {
      receiving: (ctx, _claim, { start }) => {
        if (start[0] === 66) ctx.fail(Infected, { what: 'B' })
      },
      print: async (ctx, { id }, { octets }) => {
        await ctx.items.putFile('claims', id, 'scan', { mediaType: 'application/pdf', octets: octetsOf(octets) })
        const kept = await ctx.items.file('claims', id, 'scan')
        const all = (await kept?.octets()) ?? new Uint8Array()
        return { set: { size: all.length }, output: { kept: all.length, first: all[pieceOctets] ?? -1 } }
      },
      measure: async (ctx, { id }) => {
        const { length = 0, mediaType = 'none' } = (await ctx.items.file('claims', id, 'scan')) ?? {}
        return { size: length, mediaType }
      },
      scribble: async (ctx, { id }, { mediaType, octets }) => {
        await ctx.items.putFile('claims', id, 'scan', { mediaType, octets: new Uint8Array(octets).fill(66) })
      },
    },
    imports: {
      run: async (ctx, { claim }) => {
        const file = await ctx.items.file('claims', claim, 'scan')
        let text = ''
        for await (const piece of file?.read() ?? []) text += Buffer.from(piece).toString('latin1')
        const lines = text.split('\n').filter(line => line !== '')
        for (const line of lines) await ctx.items.create('rows', { text: line.slice(0, 20) })
        return { rows: lines.length }
      },
    },
  },
  {
    seed: () => ({
      people: [
        { subject: 'cleo', password: 'cleo-secret', roles: ['clerk'] },
        { subject: 'olaf', password: 'olaf-secret', roles: ['owner'], claims: { owner: 'olaf' } },
      ],
      items: {
        claims: [
          { id: 'c-1', owner: 'olaf', size: 0 },
          { id: 'c-2', owner: 'else', size: 0 },
        ],
      },
    }),
  },
)
const start = () => startTestService(office, app)

for (const octets of [0, 300, pieceOctets, 3 * pieceOctets + 5])
  test(`an action keeps a file of its own item, of ${octets} octets, and reads it`, async () => {
    await using desk = await start()
    const cleo = desk.rest('cleo')
    const before = await cleo.claims.get('c-1')
    const { kept, first } = await cleo.claims.print(before, { octets })
    assert.deepEqual([kept, first], [octets, octets > pieceOctets ? pieceOctets % 251 : -1])
    const answer = await desk.fetchAs('olaf')(`${desk.address}/api/claims/c-1/scan`)
    assert.equal(answer.headers.get('content-type'), 'application/pdf')
    assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), octetsOf(octets))
    const olaf = desk.rest('olaf')
    const measured = await olaf.claims.measure(await olaf.claims.get('c-1'))
    assert.deepEqual([measured.size, measured.mediaType], [octets, 'application/pdf'])
  })

async function sendText(desk: Awaited<ReturnType<typeof start>>, id: string, body: string): Promise<void> {
  const headers = { 'content-type': 'text/plain', 'if-none-match': '*' }
  const sent = await desk.fetchAs('cleo')(`${desk.address}/api/claims/${id}/scan`, { method: 'PUT', body, headers })
  assert.equal(sent.status, 201)
}

test('a job reads what a client has sent, piece by piece', async () => {
  await using desk = await start()
  await sendText(desk, 'c-1', `${'x'.repeat(200_000)}\n${'y'.repeat(200_000)}\nz`)
  assert.deepEqual(await desk.rest('cleo').imports.run({ claim: 'c-1' }), { rows: 3 })
})

test('a file is there only for those who may read its item', async () => {
  await using desk = await start()
  for (const id of ['c-1', 'c-2']) await sendText(desk, id, 'one\ntwo')
  assert.deepEqual(await desk.rest('olaf').imports.run({ claim: 'c-1' }), { rows: 2 })
  assert.deepEqual(await desk.rest('olaf').imports.run({ claim: 'c-2' }), { rows: 0 })
  assert.deepEqual(await desk.rest('cleo').imports.run({ claim: 'c-2' }), { rows: 2 })
})

const refused: readonly (readonly [what: string, mediaType: string, octets: number, log: RegExp])[] = [
  [
    'another media type',
    'image/png',
    3,
    /claims\.scan\.mediaType must be application\/pdf or text\/plain: it is image\/png/,
  ],
  [
    'more octets than the contract allows',
    'text/plain',
    1_000_001,
    /claims\.scan\.octets must have at most 1000000 octets/,
  ],
]
for (const [what, mediaType, octets, log] of refused)
  test(`${what} is a bug of the handler, reported with its place`, async () => {
    await using desk = await start()
    const cleo = desk.rest('cleo')
    await assert.rejects(cleo.claims.scribble(await cleo.claims.get('c-1'), { mediaType, octets }), /500|incident/i)
    assert.match(desk.incidents.map(String).join(), log)
    assert.equal((await cleo.claims.measure(await cleo.claims.get('c-1'))).mediaType, 'none')
  })

test('the hook for received files is called, and a file that it refuses is undone with the call', async () => {
  await using desk = await start()
  const cleo = desk.rest('cleo')
  const claim = await cleo.claims.get('c-1')
  await assert.rejects(cleo.claims.scribble(claim, { mediaType: 'text/plain', octets: 600_000 }), /virus|Infected/)
  assert.equal((await cleo.claims.measure(await cleo.claims.get('c-1'))).mediaType, 'none')
})

test('mistakes do not compile', () => {
  const mistaken = () =>
    implement(office, {
      claims: {
        print: async (ctx, { id }) => {
          // @ts-expect-error the resource has no files
          await ctx.items.file('rows', id, 'scan')
          // @ts-expect-error the resource has no such file
          await ctx.items.putFile('claims', id, 'photo', { mediaType: 'text/plain', octets: new Uint8Array() })
          return { output: { kept: 0, first: 0 } }
        },
        measure: () => ({ size: 0, mediaType: '' }),
        scribble: () => {},
      },
      imports: { run: async () => ({ rows: 0 }) },
    })
  assert.equal(typeof mistaken, 'function')
})
