/** The SOAP endpoints that WSDL documents describe, each with a safe operation. */
import { type ClarkName, parseClarkName } from '../base/clark-name.ts'
import { type Find, readWsdl11, type WsdlMessage, type WsdlOperation } from '../describe/index.ts'
import { escapeText, Malformed } from '../xml/index.ts'
import type { Bench } from './bench.ts'
import type { CheckCaller, SoapEndpointTarget, SoapTarget } from './discovered-service.ts'
import { asRecord, type Json } from './probe-content.ts'
import { ProbeExchange } from './probe-message.ts'
import { readAsFirstAllowed, toPath } from './reading.ts'
import {
  type MessageParts,
  readSoapMessage,
  soapFields,
  soapWords,
  writeProbeElement,
  writeSoapMessage,
} from './soap-message.ts'
import { NotObservable } from './verdict.ts'
import { SchemaSampler } from './xsd-sample.ts'

export async function discoverSoap(bench: Bench, locations: readonly string[]): Promise<readonly SoapTarget[]> {
  const targets: SoapTarget[] = []
  for (const location of locations) {
    const path = toPath(bench, location)
    if (path === undefined)
      bench.remarks.push(`${location} is not an address of ${bench.transport.origin}: it was not read`)
    else targets.push(await readTargetWithImports(bench, path, await readAsFirstAllowed(bench, path)))
  }
  for (const [file, octets] of Object.entries(bench.options.wsdlFiles ?? {}))
    targets.push(readTarget(bench, file, asExchange(file, octets)))
  for (const target of targets) noteForeignPorts(bench, target)
  return targets
}

/** A document that was not requested: its evidence is the document itself. */
const asExchange = (file: string, content: Uint8Array): ProbeExchange =>
  new ProbeExchange(
    { method: 'FILE', target: file, fields: {} },
    { status: 200, lines: [['content-type', 'text/xml']], content, isWhole: true, tookMs: 0 },
  )

/** Reads a document and, recursively, the documents of this origin that it imports. */
async function readTargetWithImports(bench: Bench, path: string, described: ProbeExchange): Promise<SoapTarget> {
  const known = new Map<string, Uint8Array | undefined>()
  const address = bench.transport.origin + path
  for (;;) {
    const missing = new Set<string>()
    const find: Find = (written, base) => {
      const location = URL.parse(written, base === path ? address : base)?.href
      if (location === undefined) return undefined
      const bytes = known.get(location)
      if (!known.has(location)) missing.add(location)
      return bytes && { location, bytes }
    }
    const target = readTarget(bench, path, described, find)
    if (missing.size === 0) return target
    for (const each of missing) known.set(each, await readImport(bench, each))
  }
}

async function readImport(bench: Bench, location: string): Promise<Uint8Array | undefined> {
  const path = toPath(bench, location)
  const read = path === undefined ? undefined : await readAsFirstAllowed(bench, path)
  return read?.isSuccess ? read.reply.content : undefined
}

function readTarget(
  bench: Bench,
  location: string,
  described: ProbeExchange,
  find: Find = () => undefined,
): SoapTarget {
  const read = readWsdl11(described.reply.content, location, find)
  const document = read instanceof Malformed ? undefined : read
  const ports = document?.services.flatMap(each => each.ports) ?? []
  const endpoints = ports.flatMap(port => {
    const path = port.address === undefined ? undefined : toPath(bench, port.address)
    return document && port.soap && path !== undefined ? [{ path, words: soapWords[port.soap], port, document }] : []
  })
  return { location, described, find, document, endpoints }
}

/** Requests stay at the address given to the run: other ports are only named. */
function noteForeignPorts(bench: Bench, { location, document }: SoapTarget): void {
  const { origin } = bench.transport
  for (const { name, soap, address } of document?.services.flatMap(({ ports }) => ports) ?? [])
    if (soap && (address === undefined || toPath(bench, address) === undefined))
      bench.remarks.push(
        `the port ${name} of ${location} is at ${address ?? 'no address'}, not at ${origin}: it was not checked; check that address, or let the WSDL name this one`,
      )
}

/** An operation with content that its schema accepts. */
export interface ProbeOperation {
  readonly endpoint: SoapEndpointTarget
  readonly operation: WsdlOperation
  readonly as: CheckCaller | undefined
  /** The content of the Body as XML. */
  readonly body: string
  readonly answered: ProbeExchange
}

/** Safe operations that succeed, the anonymous caller first. */
export const findSafeOperations = (bench: Bench, endpoint: SoapEndpointTarget): Promise<readonly ProbeOperation[]> =>
  bench.once(`safe ${endpoint.words.number} ${endpoint.path}`, async () => {
    const found: ProbeOperation[] = []
    for (const operation of endpoint.port.operations.filter(each => each.output && isSafe(bench, each.name))) {
      const body = writeOperationBody(bench, endpoint, operation)
      const usable =
        (await trySafeOperation(bench, endpoint, operation, body)) ??
        (operation.style === 'rpc' && bench.profile.messages?.[operation.name] === undefined
          ? await trySafeOperation(bench, endpoint, operation, writeSampleBody(endpoint, operation, true))
          : undefined)
      if (usable) found.push(usable)
      if (found.length === 2) break
    }
    return found
  })

export const isSafe = ({ profile }: Bench, name: string): boolean =>
  profile.safeOperations?.includes(name) ?? /^(?:[Gg]et|[Ll]ist|[Ff]ind|[Rr]ead|[Qq]uery)(?![a-z])/.test(name)

/** Sent as the first caller that is admitted; undefined if it is refused all the same. */
export async function trySafeOperation(
  bench: Bench,
  endpoint: SoapEndpointTarget,
  operation: WsdlOperation,
  body: string,
): Promise<ProbeOperation | undefined> {
  const { as, answered } = await sendAsFirstAccepted(bench, endpoint, operation, { body })
  const message = readSoapMessage(answered)
  // B9.1 judges a Fault of another SOAP version.
  const isUsable = message !== undefined && message.child?.name.local !== 'Fault'
  return isUsable ? { endpoint, operation, as, body, answered } : undefined
}

/** Sent without credentials, otherwise as the first caller that does not get 401. */
export async function sendAsFirstAccepted(
  bench: Bench,
  endpoint: SoapEndpointTarget,
  { action }: WsdlOperation,
  parts: MessageParts,
): Promise<{ readonly as: CheckCaller | undefined; readonly answered: ProbeExchange }> {
  let as: CheckCaller | undefined
  let answered = await sendMessage(bench, endpoint, parts, { as, action })
  for (const caller of bench.callers) {
    if (answered.status !== 401) break
    as = caller
    answered = await sendMessage(bench, endpoint, parts, { as, action })
  }
  return { as, answered }
}

/**
 * The element or RPC wrapper of an operation's input, with the minimum that its schema requires.
 *
 * @param given its content instead. Default: the profile's content for the operation
 */
export function writeOperationBody(
  bench: Bench,
  endpoint: SoapEndpointTarget,
  operation: WsdlOperation,
  given: Json | undefined = bench.profile.messages?.[operation.name],
): string {
  if (given === undefined) return writeSampleBody(endpoint, operation)
  const { name, style, input } = operation
  if (style === 'rpc') return writeProbeElement(input?.namespace ?? '', name, writeMembers(given, ''))
  const { uri, local } = elementOf(operation)
  const isQualified = new SchemaSampler(endpoint.document.schemas).qualifiesLocals(uri)
  return writeProbeElement(uri, local, writeMembers(given, isQualified ? uri : ''))
}

/** The same with the minimum that its schema requires, whatever the profile has. */
export function writeSampleBody({ document }: SoapEndpointTarget, operation: WsdlOperation, isFull = false): string {
  const sampler = new SchemaSampler(document.schemas)
  const { name, style, input } = operation
  if (style === 'rpc') return writeProbeElement(input?.namespace ?? '', name, writeRpcParts(sampler, input, isFull))
  const parts = operation.input?.parts.flatMap(({ element }) => parseClarkName(element ?? '') ?? []) ?? []
  return (parts.length > 0 ? parts : [elementOf(operation)])
    .map(({ uri, local }) => {
      const declaration = sampler.find('element', uri, local)
      return writeProbeElement(uri, local, declaration ? sampler.writeContent(declaration) : '')
    })
    .join('')
}

/** The element in the Body of a document-style input. */
function elementOf({ name, input }: WsdlOperation): ClarkName {
  return parseClarkName(input?.parts[0]?.element ?? '') ?? { uri: '', local: name }
}

/** Each member as an element: in a document as its schema qualifies them, in RPC unqualified. */
function writeMembers(value: Json, uri: string): string {
  if (typeof value !== 'object' || value === null) return escapeText(String(value ?? ''))
  return Object.entries(asRecord(value))
    .flatMap(([name, each]) =>
      (Array.isArray(each) ? (each as readonly Json[]) : [each]).map(item => [name, item] as const),
    )
    .map(([name, each]) => {
      const content = writeMembers(each, uri)
      return uri === '' ? `<${name}>${content}</${name}>` : writeProbeElement(uri, name, content)
    })
    .join('')
}

/**
 * In no namespace, also where the envelope has a default one. A part without content means that it
 * is not given, since its type cannot say that it may be left out.
 *
 * @param isFull gives those of built-in types, too
 */
function writeRpcParts(sampler: SchemaSampler, input: WsdlMessage | undefined, isFull: boolean): string {
  return (input?.parts ?? [])
    .map(({ name, type }) => {
      const of = parseClarkName(type ?? '')
      const isGiven = of && (isFull || sampler.find('type', of.uri, of.local) !== undefined)
      return `<${name} xmlns="">${(isGiven && sampler.writePart(of)) || ''}</${name}>`
    })
    .join('')
}

export interface MessageSending {
  readonly as?: CheckCaller | undefined
  readonly action?: string
  readonly fields?: Readonly<Record<string, string>>
  /** Replaces the written message. */
  readonly text?: string | Uint8Array
}

/** A POST with a message that changes nothing. */
export function sendMessage(
  bench: Bench,
  { path, words }: Pick<SoapEndpointTarget, 'path' | 'words'>,
  parts: MessageParts,
  { as, action = '', fields, text }: MessageSending = {},
): Promise<ProbeExchange> {
  return bench.send('POST', path, {
    as,
    isSafe: true,
    fields: { ...soapFields(words, action), ...fields },
    content: text ?? writeSoapMessage(words, parts),
  })
}

/** A usable operation for each version, of an endpoint with document style if there is one. */
export async function listProbeOperations(bench: Bench): Promise<readonly ProbeOperation[]> {
  const found: ProbeOperation[] = []
  const others: ProbeOperation[] = []
  for (const { endpoints } of bench.service.soap)
    for (const endpoint of endpoints) {
      if (found.some(each => each.endpoint.words === endpoint.words)) continue
      const [operation] = await findSafeOperations(bench, endpoint)
      if (operation?.operation.style === 'document') found.push(operation)
      else if (operation) others.push(operation)
    }
  for (const each of others) if (!found.some(({ endpoint }) => endpoint.words === each.endpoint.words)) found.push(each)
  if (bench.service.soap.length === 0) throw new NotObservable('a WSDL document: --wsdl')
  if (found.length === 0)
    throw new NotObservable(
      'an operation that changes nothing and succeeds: --caller, or `messages` and `safeOperations` of the profile',
    )
  return found
}
