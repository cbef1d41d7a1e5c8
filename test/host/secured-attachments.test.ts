/**
 * Attachments of messages that prove themselves (SwA Profile 1.1): by the one declaration of a port
 * they are signed and encrypted in both messages, published, and refused where they are not what
 * was signed.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ClientKeys } from '../../src/client/message-keys.ts'
import { createPortClient, type PortClientOptions } from '../../src/client/port-client.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { type DescribedPorts, exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { importDocument } from '../../src/import/import-command.ts'
import { readWsdl } from '../../src/import/index.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { changePackage, type PackagePart, splitPackage } from '../support/package-parts.ts'
import { startHosted } from './hosted-service.ts'
import { bankRoot, issueBank, issuePartner, partnerRoot, writeKeyFiles } from './partner-keys.ts'

const bank = issueBank()
const acme = issuePartner('O=Acme/CN=acme')
const album = x.namespace('urn:album')
const Title = album.element('Title', x.string)
const declareAlbum = (security: SecurityRule) =>
  port('Album', {
    namespace: 'urn:album:wsdl',
    allow: [role('partner')],
    security,
    exchanges: {
      Keep: exchange({
        action: 'urn:Keep',
        input: x.body({
          title: x.ref(Title),
          'große Bilder': x.attachment(x.base64Binary, 'image/jpeg'),
          notes: x.attachment(x.string, 'text/plain'),
          meta: x.attachment(x.string, 'application/xml', 'text/xml').optional(),
        }),
        output: x.body({
          title: x.ref(Title),
          copy: x.attachment(x.base64Binary, 'image/jpeg'),
          notes: x.attachment(x.string, 'text/plain'),
        }),
      }),
      Refer: exchange({
        action: 'urn:Refer',
        input: album.element('Refer', x.object({ scan: x.element(x.swaRef) })),
        output: album.element('Referred', x.object({ scan: x.element(x.swaRef) })),
      }),
    },
  })

const ways = {
  signed: { callers: ['x509'], answers: 'signed' },
  encrypted: { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  shared: { callers: ['x509'], symmetric: 'direct', encrypted: true, answers: 'encrypted' },
  derived: { callers: ['x509'], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
  complete: { callers: ['x509'], attachments: 'complete', answers: 'signed' },
  'complete and encrypted': { callers: ['x509'], attachments: 'complete', encrypted: true, answers: 'encrypted' },
  'complete and shared': { callers: ['x509'], attachments: 'complete', symmetric: 'direct', answers: 'signed' },
} as const satisfies Record<string, SecurityRule>
type Way = keyof typeof ways

const keys: ClientKeys = {
  ...acme,
  service: { authorities: bankRoot, name: 'bank.example' },
  encryptTo: bank.certificate,
}
/** All octets, line ends and what looks like a boundary among them. */
const picture = Uint8Array.from([...Array(256).keys(), ...Buffer.from('\r\n--x\r\n\r\n')])
const notes = 'one\r\ntwo\nthree\rfour ✓'
const meta = {
  mediaType: 'application/xml',
  value: '<?xml version="1.0"?>\n<m  b="1"   a="2"><!-- c --></m>\n',
} as const
const kept = { title: 'sea', 'große Bilder': picture, notes, meta }

async function serve(way: Way) {
  const declared = declareAlbum(ways[way])
  const contract = service('album', { namespace: 'urn:album', resources: [], ports: [declared] })
  const app = implement(
    contract,
    {
      Album: {
        Keep: ({ title, 'große Bilder': copy, notes: said, meta: more }, ctx) => {
          assert.deepEqual(more, meta)
          return { title: `${title} of ${ctx.caller.subject}`, copy, notes: said }
        },
        Refer: ({ scan }) => ({ scan }),
      },
    },
    { seed: () => ({ people: [{ subject: 'acme', password: 'acme-secret', roles: ['partner'] }] }) },
  )
  const messageSecurity = { authorities: partnerRoot, keyFiles: [writeKeyFiles(bank).files] }
  const { server, ask } = await startHosted({ messageSecurity }, app)
  const text = (await ask('GET', '/soap/Album?wsdl')).text
  const folder = mkdtempSync(join(tmpdir(), 'album-'))
  after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'album.wsdl'), text)
  const described = await readWsdl(join(folder, 'album.wsdl'))
  const address = `${server.url}/soap/Album`
  const open = (from: DescribedPorts, options: PortClientOptions<'Album', never> = {}) => {
    const client = createPortClient<{ ports: [typeof declared] }>(from, { address, keys, ...options })
    after(() => client[Symbol.dispose]())
    return client
  }
  return { text, described, declared: { ports: [declared] }, open, address }
}
type Served = Awaited<ReturnType<typeof serve>>
const served = Object.fromEntries(
  await Promise.all((Object.keys(ways) as Way[]).map(async way => [way, await serve(way)] as const)),
) as Record<Way, Served>

const byContent = /<sp:Attachments>\s*<sp13:ContentSignatureTransform [^>]*\/>\s*<\/sp:Attachments>/
const withFields = /<sp:Attachments>\s*<sp13:AttachmentCompleteSignatureTransform [^>]*\/>\s*<\/sp:Attachments>/

const isInClear = (content: Uint8Array): readonly boolean[] =>
  [Buffer.from(picture), 'three', 'b="1"', 'Title'].map(each => Buffer.from(content).includes(each))

/** By fetch, with a change of the request's content, and of the response's. */
const changing = (
  address: string,
  request: (parts: PackagePart[]) => void,
  answer: (parts: PackagePart[]) => void = () => {},
): ClientTransport => ({
  prepare: common => async sending => {
    const content = typeof sending.content === 'string' ? Buffer.from(sending.content) : Buffer.concat(sending.content)
    const body = changePackage(content, request)
    const response = await fetch(address, { method: 'POST', headers: { ...common, ...sending.fields }, body })
    const octets = new Uint8Array(await response.arrayBuffer())
    const fields = Object.fromEntries(response.headers)
    const isPackage = fields['content-type']?.startsWith('multipart/') === true
    return { status: response.status, fields, content: isPackage ? changePackage(octets, answer) : octets }
  },
  close: () => {},
})

for (const way of Object.keys(ways) as Way[])
  describe(`attachments that are ${way}`, () => {
    const { open, declared, described, address, text } = served[way]
    const { encrypted: isSealed = false, attachments = 'content' }: SecurityRule = ways[way]
    const isClear = !isSealed
    for (const [source, description] of [
      ['the contract', declared],
      ['the WSDL', described],
    ] as const)
      for (const soap of ['1.1', '1.2'] as const)
        test(`go both ways by ${source} in SOAP ${soap}`, async () => {
          const { title, copy, notes: back } = await open(description, { soap }).Keep(kept)
          assert.deepEqual([title, new Uint8Array(copy), back], ['sea of acme', picture, notes])
        })

    test('are what the policies say', () => {
      const parts = (kind: string) =>
        [...text.matchAll(new RegExp(`<sp:${kind}>.*?</sp:${kind}>`, 'gs'))].map(([all]) => all)
      const encrypted = parts('EncryptedParts')
      assert.equal(parts('SignedParts').length, 2)
      for (const each of parts('SignedParts')) assert.match(each, attachments === 'content' ? byContent : withFields)
      assert.equal(encrypted.length, isClear ? 0 : 2)
      for (const each of encrypted) assert.match(each, /<sp:Body\/>\s*<sp:Attachments\/>/)
    })

    test('are in clear, or they are not, in both messages', async () => {
      const seen: Buffer[] = []
      const look = (parts: PackagePart[]) => void seen.push(Buffer.from(JSON.stringify(parts.map(({ head }) => head))), Buffer.from(parts.map(({ content }) => content).join(''), 'latin1'))
      await open(declared, { transport: changing(address, look, look) }).Keep(kept)
      const [asked = '', request, answered = '', answer] = seen
      assert.deepEqual(isInClear(request!), [isClear, isClear, isClear, isClear])
      assert.deepEqual(isInClear(answer!), [isClear, isClear, false, isClear])
      for (const heads of [asked, answered]) assert.equal(/image\/jpeg|text\/plain/.test(String(heads)), isClear, String(heads))
    }) // biome-ignore format: long lines

    const refused = (call: Promise<unknown>) =>
      assert.rejects(call, /<wsse:Security> header|signature or decryption was invalid/)
    const flip = (part: PackagePart | undefined): void => {
      part!.content = `${String.fromCharCode(part!.content.charCodeAt(0) ^ 1)}${part!.content.slice(1)}`
    }
    /** [what was done to a message, the change] */
    const attacks: readonly (readonly [string, (parts: PackagePart[]) => void])[] = [
      ['an attachment is changed', parts => flip(parts[1])],
      ['another one is', parts => flip(parts[2])],
      ['an attachment is dropped', parts => void parts.splice(1, 1)],
      ['all are', parts => void parts.splice(1)],
      ['two have each other’s octets', ([, one, two]) => ([one!.content, two!.content] = [two!.content, one!.content])],
      ['two have each other’s names', ([, one, two]) => ([one!.head, two!.head] = [two!.head, one!.head])],
      ['one is added', parts => void parts.push({ head: 'Content-Type: image/jpeg\r\nContent-ID: <more=1@x>', content: 'x' })],
      ['one without a name is added', parts => void parts.push({ head: 'Content-Type: image/jpeg', content: 'x' })],
      ['one takes the place of another', parts => {
        parts.push({ ...parts[1]!, head: parts[1]!.head.replace('=', '=2') })
        parts[1]!.content = 'x'
      }],
      ['one has a name of its own', parts => void (parts[1]!.head = parts[1]!.head.replace(/=[^>]*/, '=1@x'))],
    ] // biome-ignore format: a table
    for (const [what, change] of attacks) {
      test(`attack: a request of which ${what}`, () =>
        refused(open(declared, { transport: changing(address, change) }).Keep(kept)))
      test(`attack: a response of which ${what}`, async () => {
        const call = open(declared, { transport: changing(address, () => {}, change) }).Keep(kept)
        await assert.rejects(call, { name: 'AnswerError', why: 'unproven' })
      })
    }

    for (const description of [declared, described])
      test('WS-I AP §4.4 go both ways if elements refer to them, and are refused if they were changed', async () => {
        const { scan } = await open(description).Refer({ scan: picture })
        assert.deepEqual(new Uint8Array(scan), picture)
        const change = ([, part]: PackagePart[]) => flip(part)
        await refused(open(description, { transport: changing(address, change) }).Refer({ scan: picture }))
        const call = open(description, { transport: changing(address, () => {}, change) }).Refer({ scan: picture })
        await assert.rejects(call, { name: 'AnswerError', why: 'unproven' })
      })

    test('attack: a message whose attachments nothing proves', async () => {
      const strip = ([root]: PackagePart[]): void => {
        root!.content = root!.content.replace(/<wsse:Security .*<\/wsse:Security>/s, '')
      }
      await refused(open(declared, { transport: changing(address, strip) }).Keep(kept))
      const call = open(declared, { transport: changing(address, () => {}, strip) }).Keep(kept)
      await assert.rejects(call, { name: 'AnswerError', why: 'unproven' })
    })
  })

test('attack: attachments that are signed in clear but must be encrypted', async () => {
  const { address, declared } = served.signed
  const { address: other } = served.encrypted
  const { content, fields } = await served.signed.open(declared).Keep.render(kept)
  assert.equal(splitPackage(content as Uint8Array).length, 4)
  const body = content as Uint8Array<ArrayBuffer>
  const sent = await fetch(other, { method: 'POST', headers: { ...fields }, body })
  assert.equal(sent.status, 500)
  assert.match(await sent.text(), /<wsse:Security&gt; header|Security> header|InvalidSecurity/)
  assert.equal((await fetch(address, { method: 'POST', headers: { ...fields }, body })).status, 200)
})

const Mark = album.element('Mark', x.int)
const declareDesk = (security: SecurityRule | 'settings') =>
  port('Desk', {
    namespace: 'urn:desk:wsdl',
    allow: [anyone],
    security,
    exchanges: {
      File: exchange({
        action: 'urn:File',
        input: x.body({ mark: x.ref(Mark), scan: x.attachment(x.base64Binary, 'image/png') }),
        output: x.body({ scan: x.attachment(x.base64Binary, 'image/png') }),
      }),
      Drop: exchange({ action: 'urn:Drop', input: x.body({ scan: x.attachment(x.base64Binary, 'image/png') }) }),
      Ping: exchange({ action: 'urn:Ping', input: Title, output: Title }),
    },
  })
async function serveDesk(security: SecurityRule | 'settings', policy?: SecurityPolicy['anyOf']) {
  const declared = declareDesk(security)
  const contract = service('desk', { namespace: 'urn:desk', resources: [], ports: [declared] })
  const dropped: Uint8Array[] = []
  const app = implement(
    contract,
    { Desk: { File: ({ scan }) => ({ scan }), Drop: ({ scan }) => void dropped.push(scan), Ping: said => said } },
    { seed: () => ({ people: [{ subject: 'acme', password: 'acme-secret', roles: ['partner'] }] }) },
  )
  const keyFiles = [writeKeyFiles(bank).files]
  const messageSecurity = { authorities: partnerRoot, keyFiles, ...(policy && { policy: { anyOf: policy } }) }
  const { server, ask } = await startHosted({ messageSecurity }, app)
  const address = `${server.url}/soap/Desk`
  const open = (options: PortClientOptions<'Desk', never> = {}, from: DescribedPorts = { ports: [declared] }) => {
    const client = createPortClient<{ ports: [typeof declared] }>(from, { address, ...options })
    after(() => client[Symbol.dispose]())
    return client
  }
  const wsdl = (await ask('GET', '/soap/Desk?wsdl')).text
  return { open, dropped, wsdl }
}

test('an exchange with attachments has a rule of its own, by the one element of its Body or by none', async () => {
  const { open, dropped, wsdl } = await serveDesk({
    callers: ['x509'],
    encrypted: true,
    answers: 'encrypted',
    operations: { File: { callers: ['x509'], answers: 'signed' }, Ping: 'none' },
  })
  const folder = mkdtempSync(join(tmpdir(), 'desk-'))
  after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'desk.wsdl'), wsdl)
  const described = await readWsdl(join(folder, 'desk.wsdl'))
  const { text, losses } = await importDocument(join(folder, 'desk.wsdl'), [], [])
  assert.deepEqual(losses, [])
  assert.match(text, /encrypted: true/)
  for (const from of [undefined, described]) {
    const client = open({ keys }, from)
    assert.deepEqual(new Uint8Array((await client.File({ mark: 1, scan: picture })).scan), picture)
    await client.Drop({ scan: picture })
    assert.equal(await client.Ping('here'), 'here')
  }
  assert.deepEqual(dropped.map(each => new Uint8Array(each)), [picture, picture])
  const bare = open({ keys: undefined as never }, { ports: [declareDesk('settings')] })
  assert.equal(await bare.Ping('here'), 'here')
  await assert.rejects(bare.Drop({ scan: picture }), /<wsse:Security> header/)
}) // biome-ignore format: long lines

test('a port that leaves its security to the settings has attachments covered if they name the Body', async () => {
  const signed = ['Body', 'Timestamp'] as const
  const { open, wsdl } = await serveDesk('settings', [{ caller: 'x509', timestamp: true, signed, encrypted: ['Body'] }])
  assert.match(wsdl, /<sp:SignedParts>.*<sp:Attachments>.*<sp:EncryptedParts><sp:Body\/><sp:Attachments\/>/s)
  const own = { key: acme.key, by: { certificate: acme.certificate } }
  const encryption = { to: bank.certificate }
  await open({ security: { signature: own, encryption } }).Drop({ scan: picture })
  for (const security of [
    { signature: { ...own, parts: ['Headers', 'Body', 'Timestamp'] }, encryption },
    { signature: own, encryption: { ...encryption, parts: ['Body'] } },
    { signature: own },
  ] as const)
    await assert.rejects(open({ security }).Drop({ scan: picture }), /<wsse:Security> header/)
})

/** [what is left out of the policies, how, what the client says] */
const unmet: readonly (readonly [string, (wsdl: string) => string, RegExp])[] = [
  ['that attachments are signed', wsdl => wsdl.replaceAll(/<sp:Attachments>.*?<\/sp:Attachments>/gs, ''), /attachments that nothing signs/],
  ['that they are encrypted', wsdl => wsdl.replaceAll(/<sp:Attachments\/>/g, ''), /one of Body and attachments is encrypted/],
  ['that the Body is', wsdl => wsdl.replaceAll(/(<sp:EncryptedParts>)<sp:Body\/>/g, '$1'), /one of Body and attachments is encrypted/],
] // biome-ignore format: a table
for (const [what, change, why] of unmet)
  test(`a WSDL that does not say ${what} is refused by the client, which could not do it`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'album-'))
    after(() => rmSync(folder, { recursive: true }))
    const changed = change(served.encrypted.text)
    assert.notEqual(changed, served.encrypted.text)
    writeFileSync(join(folder, 'album.wsdl'), changed)
    const described = await readWsdl(join(folder, 'album.wsdl'))
    assert.throws(() => served.encrypted.open(described), why)
  })

test('a WSDL that does not state how attachments are signed means with their fields', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'album-'))
  after(() => rmSync(folder, { recursive: true }))
  const of = (way: Way) => served[way].text.replaceAll(/<sp13:\w+Transform [^>]*\/>/g, '')
  writeFileSync(join(folder, 'complete.wsdl'), of('complete'))
  const described = await readWsdl(join(folder, 'complete.wsdl'))
  assert.equal((await served.complete.open(described).Keep(kept)).title, 'sea of acme')
  await assert.rejects(served.signed.open(described).Keep(kept), /an attachment is not signed with its fields/)
  await assert.rejects(served.complete.open(served.signed.declared).Keep(kept), /<wsse:Security> header/)
})

test('attack: the media type of an attachment that is signed with its fields is changed', async () => {
  const { address, open, declared } = served.complete
  const change = (parts: PackagePart[]): void => {
    parts[1]!.head = parts[1]!.head.replace('image/jpeg', 'image/jpeg; x=1')
  }
  const asked = open(declared, { transport: changing(address, change) }).Keep(kept)
  await assert.rejects(asked, /signature or decryption was invalid/)
  const answered = open(declared, { transport: changing(address, () => {}, change) }).Keep(kept)
  await assert.rejects(answered, { name: 'AnswerError', why: 'unproven' })
})
