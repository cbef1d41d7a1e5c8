/**
 * The tests of a service that is still to be written. What works by the contract alone is tried
 * through both faces; what needs a handler is a test with `todo`, which fails no run until the mark
 * is removed.
 */
import { encodeBase64 } from '../../base/base64.ts'
import type { Port, PortExchange } from '../../contract/exchange.ts'
import type { Resource } from '../../contract/resource.ts'
import { createXmlJsonCodec } from '../../contract/xml-json.ts'
import type { AnyRootElement } from '../../contract/xml-type.ts'
import { makeMessage } from '../../describe/example-message.ts'
import { writeJson } from '../../http/json.ts'
import { quoteLiteral } from '../../import/typescript-text.ts'
import { createPortMessageCodecs } from '../../soap/codecs/port-message-codec.ts'
import type { LiteralWriting } from '../../soap/codecs/values.ts'
import { writePartId } from '../../soap/mime/parts.ts'
import { soap11, soap12 } from '../../soap/version.ts'
import { createdConstantOf, parentNameOf, planCreation, writeAccess, writeDraft } from './draft-text.ts'
import type { HandledParts } from './write-handlers.ts'

/** @param isOpen no caller needs credentials: the service has no roles */
export function writeTrials(parts: HandledParts, isOpen: boolean): string {
  const caller = isOpen ? '' : `'ann'`
  const { resources, jobs, ports } = parts
  const trials = [
    ...resources.flatMap(each => writeResourceTrials(resources, each, caller)),
    ...resources.flatMap(({ name, actions }) => Object.keys(actions).map(verb => writeTodo(`${name}.${verb}`))),
    ...jobs.map(({ job }) => writeTodo(job)),
    ...ports.flatMap(writePortTrials),
  ]
  const tools = ports.length > 0 ? writePortTools(caller, trials.join('')) : ''
  const todo = trials.some(each => each.includes(', todo, '))
    ? `\n/** Remove it from a test once its handler is written. */\nconst todo = { todo: 'its handler in service.ts is still to be written' }\n`
    : ''
  const assertion = `${tools}${trials.join('')}`.includes('assert.') ? `import assert from 'node:assert/strict'\n` : ''
  return `/** What clients get by REST and by SOAP: \`npm test\`. */
${assertion}import { test } from 'node:test'
import { startTestService } from 'diglot/testing'
import { contract } from './contract.ts'
import app from './service.ts'
${todo}${tools}${trials.map(each => `\n${each}`).join('')}`
}

const writeTodo = (title: string): string => `test.todo(${quoteLiteral(`${title}, by REST and by SOAP`)})\n`

// Resources

function writeResourceTrials(all: readonly Resource[], resource: Resource, caller: string): readonly string[] {
  const plan = planCreation(all, resource)
  const isRead = (resource.given.allow['read'] ?? []).length > 0
  if (!isRead) return []
  if (!plan && resource.isSingle) return []
  if (!plan && resource.within !== undefined) return []
  if (!plan) return [writeBothFaces(`${resource.name} are listed`, false, caller, writeListing(resource))]
  const items = plan.resources.map(each => {
    const draft = writeDraft(
      each,
      name => `${createdConstantOf(all.find(({ name: of }) => of === name) ?? resource)}.id`,
    )
    return `const ${createdConstantOf(each)} = await ${writeAccess(each)}.create(${draft?.text ?? '{}'}${writeParent(all, each)})`
  })
  const item = createdConstantOf(resource)
  if (resource.isSingle) {
    const read = `assert.deepEqual(await ${writeAccess(resource)}.get(), ${item})`
    return [writeBothFaces(`${resource.name} is created and read`, plan.waits, caller, [...items, read])]
  }
  const read = `assert.equal((await ${writeAccess(resource)}.get(${item}.id${writeParent(all, resource)})).id, ${item}.id)`
  return [writeBothFaces(`one of ${resource.name} is created and read`, plan.waits, caller, [...items, read])]
}
/** A nested item is created and read within another item that the test has created. */
function writeParent(all: readonly Resource[], resource: Resource): string {
  const parent = all.find(each => each.name === parentNameOf(resource))
  return parent ? `, { within: ${createdConstantOf(parent)} }` : ''
}
const writeListing = (resource: Resource): readonly string[] => [
  `assert.deepEqual(await Array.fromAsync(${writeAccess(resource)}.list()), [])`,
]

const writeBothFaces = (title: string, waits: boolean, caller: string, lines: readonly string[]): string =>
  `for (const face of ['rest', 'soap'] as const)
  test(\`${title} by \${face}\`, ${waits ? 'todo, ' : ''}async () => {
    await using service = await startTestService(contract, app)
    const api = service[face](${caller})
${lines.map(line => `    ${line}\n`).join('')}  })
`

// Ports

/** SOAP 1.2 has the action in its media type, SOAP 1.1 in a field. */
const askSoap11 = `const askSoap = (port: string, action: string, body: string) =>
  post(\`/soap/\${port}\`, { 'content-type': 'text/xml', soapaction: \`"\${action}"\` }, writeEnvelope('http://schemas.xmlsoap.org/soap/envelope/', body))
`
const askSoap12 = `const askSoap12 = (port: string, action: string, body: string) =>
  post(\`/soap/\${port}\`, { 'content-type': \`application/soap+xml;action="\${action}"\` }, writeEnvelope('http://www.w3.org/2003/05/soap-envelope', body))
`
const askPackage11 = `const askSoapWithParts = (port: string, action: string, body: string, ...parts: readonly string[]) =>
  post(\`/soap/\${port}\`, { 'content-type': packageType('text/xml'), soapaction: \`"\${action}"\` }, packParts('text/xml', writeEnvelope('http://schemas.xmlsoap.org/soap/envelope/', body), parts))
`
const askPackage12 = `const askSoap12WithParts = (port: string, action: string, body: string, ...parts: readonly string[]) =>
  post(\`/soap/\${port}\`, { 'content-type': \`\${packageType('application/soap+xml')}; action="\${action}"\` }, packParts('application/soap+xml', writeEnvelope('http://www.w3.org/2003/05/soap-envelope', body), parts))
`
/** SOAP Messages with Attachments. */
const packageTools = `const packageType = (root: string) => \`multipart/related; type="\${root}"; start="<root>"; boundary=next-part\`
/** The parts that travel next to the envelope, in base64. */
const writeAttached = (id: string, type: string, base64: string) =>
  \`Content-ID: <\${id}>\\r\\nContent-Type: \${type}\\r\\nContent-Transfer-Encoding: base64\\r\\n\\r\\n\${base64}\`
const packParts = (type: string, envelope: string, parts: readonly string[]) =>
  [\`Content-ID: <root>\\r\\nContent-Type: \${type}; charset=utf-8\\r\\n\\r\\n\${envelope}\`, ...parts]
    .map(each => \`--next-part\\r\\n\${each}\\r\\n\`)
    .concat('--next-part--\\r\\n')
    .join('')
`
/** @param used the tests, which need some of these helpers */
const writePortTools = (caller: string, used: string): string => `
async function post(path: string, headers: Record<string, string>, body: string) {
  await using service = await startTestService(contract, app)
  const answer = await service.fetchAs(${caller})(service.address + path, { method: 'POST', headers, body })
  return { status: answer.status, text: await answer.text() }
}
const askRest = (operation: string, json: string) => post(\`/api/\${operation}\`, { 'content-type': 'application/json' }, json)
const writeEnvelope = (namespace: string, body: string) =>
  \`<e:Envelope xmlns:e="\${namespace}"><e:Body>\${body}</e:Body></e:Envelope>\`
${writeTools(used)}`
const writeTools = (used: string): string =>
  [
    used.includes(' askSoap(') ? askSoap11 : '',
    used.includes(' askSoap12(') ? askSoap12 : '',
    used.includes('WithParts(') ? packageTools : '',
    used.includes(' askSoapWithParts(') ? askPackage11 : '',
    used.includes(' askSoap12WithParts(') ? askPackage12 : '',
  ].join('')

function writePortTrials(port: Port): readonly string[] {
  const exchanges = Object.entries(port.exchanges)
  return [
    `test(${quoteLiteral(`${port.port} is described`)}, async () => {
  await using service = await startTestService(contract, app)
  const wsdl = await service.fetchAs()(\`\${service.address}/soap/${port.port}?wsdl\`)
  assert.match(await wsdl.text(), /:definitions|<definitions/)
})
`,
    ...exchanges.flatMap(([name, exchange]) => writeExchangeTrials(port, name, exchange)),
  ]
}

function writeExchangeTrials(port: Port, name: string, exchange: PortExchange): readonly string[] {
  const place = `${port.port}.${name}`
  const example = makeSampleMessage(place, exchange, port.soap)
  if (!example) return [writeTodo(place)]
  const operation = quoteLiteral(`${port.port}/${name}`)
  const [whole, accepted] = typeof exchange.output === 'object' ? [200, 200] : [204, exchange.output ? 200 : 202]
  const action = quoteLiteral(exchange.action)
  const ask = `${port.soap === '1.2' ? 'askSoap12' : 'askSoap'}${example.parts.length > 0 ? 'WithParts' : ''}`
  const argumentTexts = [
    quoteLiteral(port.port),
    action,
    quoteSample(example.xml),
    ...example.parts.map(writeSamplePart),
  ]
  return [
    writeExchangeTrial(`${place} by REST`, `askRest(${operation}, ${quoteSample(spreadJson(example.json))})`, whole),
    writeExchangeTrial(`${place} by SOAP`, `${ask}(${argumentTexts.join(', ')})`, accepted),
  ]
}
/** On several lines, if it has members and this changes nothing. */
function spreadJson(json: string): string {
  if (json.length < 60) return json
  const value: unknown = JSON.parse(json)
  return JSON.stringify(value) === json ? JSON.stringify(value, undefined, 2) : json
}
const writeExchangeTrial = (title: string, call: string, status: number): string =>
  `test(${quoteLiteral(title)}, todo, async () => {
  const { status, text } = await ${call}
  assert.equal(status, ${status}, text)
})
`

interface SampleMessage {
  readonly json: string
  /** The content of the Body. */
  readonly xml: string
  /** The parts that travel next to the envelope. */
  readonly parts: readonly SamplePart[]
}
interface SamplePart {
  /** Its Content-ID. */
  readonly id: string
  readonly mediaType: string
  readonly bytes: Uint8Array
}
const writeSamplePart = ({ id, mediaType, bytes }: SamplePart): string =>
  `writeAttached(${[id, mediaType, encodeBase64(bytes)].map(quoteLiteral).join(', ')})`
const placeOfSample = (name: string) => ({ seed: 1, name, item: 1, idOf: () => undefined, given: {} })

/** Undefined if no value of a type can be made up, such as a text with a rare pattern. */
export function makeSampleMessage(
  name: string,
  { input, style }: PortExchange,
  soap: Port['soap'],
): SampleMessage | undefined {
  if (input === 'empty') return { json: '', xml: '', parts: [] }
  try {
    const value = makeMessage(input, placeOfSample(name))
    const json = writeJson(createXmlJsonCodec(input, () => undefined).write(value))
    return { json, ...writeSampleContent(input, style, soap, value) }
  } catch (thrown) {
    if (thrown instanceof Error) return undefined // no example, or none that the codecs write
    throw thrown
  }
}
function writeSampleContent(
  input: AnyRootElement,
  style: PortExchange['style'],
  soap: Port['soap'],
  value: unknown,
): Omit<SampleMessage, 'json'> {
  const parts: SamplePart[] = []
  const add = (id: string, mediaType: string, bytes: Uint8Array): string => {
    parts.push({ id, mediaType, bytes })
    return id
  }
  const writing: LiteralWriting = {
    attach: undefined,
    refer: bytes => `cid:${add(`part-${parts.length + 1}@example`, 'application/octet-stream', bytes)}`,
    attachPart: (name, mediaType, bytes) => add(writePartId(name, String(parts.length + 1)), mediaType, bytes),
  }
  const xml = createPortMessageCodecs()(input, style).write(value, writing, soap === '1.2' ? soap12 : soap11)
  return { xml, parts }
}

/** In the quotes that need the fewest escapes. */
const quoteSample = (text: string): string =>
  text.includes("'") || text.includes('\n') ? `\`${text.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\`` : quoteLiteral(text)
