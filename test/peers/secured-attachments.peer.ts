/**
 * Attachments that are signed and encrypted (SwA Profile 1.1), with Apache CXF and WSS4J, by the
 * policies of our WSDL alone: CXF as our client, and as the server of our client.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { openPort } from '../../src/bridge/bridged-service.ts'
import { createPortClient } from '../../src/client/port-client.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { startService } from '../../src/host/serve.ts'
import { readWsdl } from '../../src/import/index.ts'
import { partnerRoot } from '../host/partner-keys.ts'
import { changePackage, type PackagePart } from '../support/package-parts.ts'
import { standBetween } from './attacker.ts'
import { atEnd, folder, missing, run } from './peer.ts'
import {
  clientEntries,
  people,
  serverEntries,
  serviceFiles,
  service as shop,
  writeKeyStores,
  writeTemporary,
} from './secured-orders.ts'

const here = import.meta.dirname
const original = join(here, 'parts', 'album.wsdl')
const jars = join(here, 'cxf', 'lib')
const skip = missing('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${jars}/cxf-tools-wsdlto-core-*.jar`,
])

const rules = {
  signed: { callers: ['x509'], answers: 'signed' },
  encrypted: { callers: ['x509'], encrypted: true, answers: 'encrypted' },
  shared: { callers: ['x509'], symmetric: 'direct', encrypted: true, answers: 'encrypted' },
  derived: { callers: ['x509'], symmetric: 'derived', encrypted: true, answers: 'encrypted' },
  complete: { callers: ['x509'], attachments: 'complete', answers: 'signed' },
  'complete-encrypted': { callers: ['x509'], attachments: 'complete', encrypted: true, answers: 'encrypted' },
} as const satisfies Record<string, SecurityRule>
type Rule = keyof typeof rules
const names = Object.keys(rules) as Rule[]
/** CXF signs the fields of a cipher text as if it had none, and sends it with those that it has. */
const read = names.filter(each => each !== 'complete-encrypted')
const attacked = ['signed', 'encrypted', 'derived', 'complete'] as const

/** All octets, some of them often, and text with every line end. */
const picture = Uint8Array.from([...Array(256).keys(), 13, 10, 45, 45, ...Array(100_000).fill(7)])
const notes = 'blue\r\none\ntwo\rthree ✓'

/** [what was done to a message, how] */
const attacks: readonly (readonly [string, (parts: PackagePart[]) => void])[] = [
  ['an attachment is changed', ([, part]) => void (part!.content = flip(part!.content))],
  ['an attachment is dropped', parts => void parts.splice(1, 1)],
  ['an attachment is added', parts => void parts.push({ head: 'Content-Type: image/jpeg\r\nContent-ID: <more=1@x>', content: 'x' })],
  ['an attachment has another name', ([, part]) => void (part!.head = part!.head.replace(/(Content-ID: <[^=]*)=[^>]*/i, '$1=1@x'))],
] // biome-ignore format: a table
const flip = (text: string): string => text.slice(0, 70) + String.fromCharCode(text.charCodeAt(70) ^ 1) + text.slice(71)
const changeText = (text: string, change: (parts: PackagePart[]) => void): string =>
  changePackage(Buffer.from(text, 'latin1'), change).toString('latin1')

interface Kept {
  readonly title: string
  readonly picture: Uint8Array
  readonly notes: string
}

/** Our service by a rule, and its WSDL. */
async function serveAlbum(rule: Rule) {
  const [imported] = (await readWsdl(original)).ports
  const declared = openPort({ ...imported!, security: rules[rule] }, [anyone])
  const contract = service('album', { namespace: 'urn:album', resources: [], ports: [declared] })
  const seen: Kept[] = []
  const keep = (asked: Kept) => {
    seen.push(asked)
    return { kept: { number: asked.picture.length }, copy: asked.picture }
  }
  const seed = () => ({ people: [{ subject: 'maria', password: 'maria-secret', roles: [] }] })
  const app = implement(contract as never, { [declared.port]: { Keep: keep } } as never, { seed } as never)
  const messageSecurity = { authorities: partnerRoot, keyFiles: [serviceFiles] }
  const warn = (...said: unknown[]) => console.error(...said)
  const logger = { info() {}, warn, error: warn }
  const server = await startService(app, { port: 0, data: ':memory:', messageSecurity, logger })
  atEnd(() => server.close(0))
  const address = `${server.url}/soap/${declared.port}`
  return { address, seen, wsdl: writeTemporary(`${rule}.wsdl`, await (await fetch(`${address}?wsdl`)).text()) }
}
let served: Record<Rule, Awaited<ReturnType<typeof serveAlbum>>>

let path: string
let stores: string[]
async function prepare(): Promise<void> {
  const place = folder()
  served = Object.fromEntries(
    await Promise.all(names.map(async each => [each, await serveAlbum(each)])),
  ) as typeof served
  path = run(join(here, 'cxf', 'build-original'), [place, original]).trim()
  const sources = [join(here, 'cxf', 'Keys.java'), join(here, 'parts', 'SecuredAlbum.java')]
  run('javac', ['-nowarn', '-proc:none', '-encoding', 'UTF-8', '-cp', path, '-d', place, ...sources])
  stores = writeKeyStores({ 'album-client.p12': clientEntries(), 'album-server.p12': serverEntries() })
}

function start(...words: string[]) {
  const child = spawn('java', ['-XX:TieredStopAtLevel=1', '-cp', path, 'SecuredAlbum', ...words], {
    stdio: ['pipe', 'pipe', process.env['PEER_LOUD'] ? 'inherit' : 'ignore'],
  })
  atEnd(() => child.kill())
  const lines = createInterface(child.stdout)
  return { child, line: async () => String((await once(lines, 'line'))[0]) }
}

describe('Apache CXF', { skip, concurrency: 1 }, () => {
  before(prepare)

  describe('as a client', { concurrency: 1 }, () => {
    let caller: ReturnType<typeof start>
    before(() => {
      caller = start('call', stores[0]!)
    })
    after(() => caller.child.kill())
    const call = async (rule: Rule, address = served[rule].address, wsdl = served[rule].wsdl) => {
      const [text, octets] = [notes, picture].map(each => Buffer.from(each as string).toString('base64'))
      const told = caller.line()
      caller.child.stdin.write(`file:${wsdl} ${address} ${text} ${octets}\n`)
      return await told
    }
    for (const rule of read)
      it(`sends attachments and reads ours: ${rule}`, async () => {
        const told = await call(rule)
        assert.equal(told, `answer ${picture.length} ${Buffer.from(picture).toString('base64')}`)
        const [seen] = served[rule].seen
        assert.deepEqual(
          [seen?.title, Buffer.from(seen?.picture ?? []), seen?.notes],
          ['sea', Buffer.from(picture), notes],
        )
      })

    it('signs attachments with their fields where the policy has no other word', async () => {
      const { wsdl, address } = served.complete
      const bare = readFileSync(wsdl, 'utf8').replaceAll(/<sp13:AttachmentCompleteSignatureTransform[^>]*\/>/g, '')
      let asked = ''
      const between = await standBetween(new URL(address).origin, { request: text => (asked = text) })
      const told = await call('complete', between + new URL(address).pathname, writeTemporary('bare.wsdl', bare))
      assert.match(asked, /Attachment-Complete-Signature-Transform/)
      assert.match(told, /^answer /)
    })

    for (const rule of attacked)
      for (const [what, change] of attacks)
        it(`attack: of our answer, ${rule}, ${what}: it is refused`, async () => {
          const { address } = served[rule]
          const origin = await standBetween(new URL(address).origin, { response: text => changeText(text, change) })
          const told = await call(rule, origin + new URL(address).pathname)
          assert.match(told, /^failure .*(?:signature|decrypt|[Aa]ttachment|security)/)
        })
    for (const rule of attacked)
      for (const [what, change] of attacks)
        it(`attack: of its request, ${rule}, ${what}: it is refused`, async () => {
          const { address, seen } = served[rule]
          const before = seen.length
          const origin = await standBetween(new URL(address).origin, { request: text => changeText(text, change) })
          const told = await call(rule, origin + new URL(address).pathname)
          assert.match(told, /^failure /)
          assert.equal(seen.length, before)
        })
  })

  describe('as a server', { concurrency: 1 }, () => {
    let addresses: Record<Rule, string>
    let server: ReturnType<typeof start>
    before(async () => {
      server = start('serve', stores[1]!, ...names.map(each => served[each].wsdl))
      const said = (await server.line()).split(' ')
      addresses = Object.fromEntries(names.map((each, at) => [each, said[at]])) as typeof addresses
    })
    after(() => server.child.kill())
    const keys = { ...people['maria'], service: { certificates: shop.certificate } }
    const open = async (rule: Rule, address = addresses[rule]) =>
      createPortClient(await readWsdl(served[rule].wsdl), { address, keys })
    it('signs other fields than it sends, where it encrypts them: we refuse its answer', async () => {
      using client = await open('complete-encrypted')
      const call = client['Keep']?.({ title: 'sea', picture, notes })
      await assert.rejects(async () => call, /a digest is wrong/)
    })
    for (const rule of read)
      it(`reads our attachments and sends its own: ${rule}`, async () => {
        using client = await open(rule)
        const answer = await client['Keep']?.({ title: 'sea', picture, notes })
        assert.deepEqual(answer, { kept: { number: 3 + picture.length + notes.length }, copy: picture })
      })
    for (const rule of attacked)
      for (const [what, change] of attacks) {
        it(`attack: of its answer, ${rule}, ${what}: it is refused`, async () => {
          const { origin, pathname } = new URL(addresses[rule])
          const between = await standBetween(origin, { response: text => changeText(text, change) })
          using client = await open(rule, between + pathname)
          const call = client['Keep']?.({ title: 'sea', picture, notes })
          await assert.rejects(async () => call, { name: 'AnswerError', why: 'unproven' })
        })
        it(`attack: of our request, ${rule}, ${what}: it is refused`, async () => {
          const { origin, pathname } = new URL(addresses[rule])
          const between = await standBetween(origin, { request: text => changeText(text, change) })
          using client = await open(rule, between + pathname)
          await assert.rejects(async () => client['Keep']?.({ title: 'sea', picture, notes }))
        })
      }
  })
})
