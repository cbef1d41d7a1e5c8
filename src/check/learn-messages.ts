/** Finds, by trying, content with which safe SOAP operations succeed. */
import type { WsdlOperation } from '../describe/index.ts'
import { percentDecode } from '../http/uri.ts'
import { type Element, Malformed, parseXml } from '../xml/index.ts'
import type { Bench } from './bench.ts'
import { lastSegmentOf, type SoapEndpointTarget } from './discovered-service.ts'
import { asRecord, asText, type Json, memberAt } from './probe-content.ts'
import { isSafe, trySafeOperation, writeOperationBody } from './soap-discovery.ts'

export interface LearnedMessages {
  readonly messages: Readonly<Record<string, Json>>
  /** Names of operations for which nothing succeeded. */
  readonly unknown: readonly string[]
}

/** Tries each safe operation once, with identifiers of items seen through the REST face. */
export async function learnMessages(bench: Bench): Promise<LearnedMessages> {
  const messages = new Map<string, Json>()
  const unknown = new Set<string>()
  for (const endpoint of bench.service.soap.flatMap(({ endpoints }) => endpoints))
    for (const operation of endpoint.port.operations.filter(each => each.output && isSafe(bench, each.name))) {
      const { name } = operation
      if (messages.has(name) && !unknown.has(name)) continue
      const first = readMessageContent(writeOperationBody(bench, endpoint, operation))
      const found = await findMessageContent(bench, endpoint, operation, first)
      if (found === undefined) unknown.add(name)
      else unknown.delete(name)
      const exchange = found ?? first
      if (typeof exchange !== 'object' || Object.keys(asRecord(exchange)).length > 0) messages.set(name, exchange)
    }
  return { messages: Object.fromEntries(messages), unknown: [...unknown] }
}

async function findMessageContent(
  bench: Bench,
  endpoint: SoapEndpointTarget,
  operation: WsdlOperation,
  first: Json,
): Promise<Json | undefined> {
  const places = listProbeTexts(first)
  const identifiers = places.length > 0 ? listIdentifiers(bench, operation.name) : []
  const candidates = [first, ...identifiers.map(id => replaceProbeTexts(first, id))]
  for (const content of candidates) {
    const body = writeOperationBody(bench, endpoint, operation, content)
    if (await trySafeOperation(bench, endpoint, operation, body)) return content
  }
  return undefined
}

const identifiersMax = 4
const probeText = 'probe'

/**
 * Identifiers from the collection after which the operation is named come first: products for
 * GetProduct.
 */
function listIdentifiers({ service }: Bench, operation: string): readonly string[] {
  const noun = operation.replace(/^[A-Z]?[a-z]+/, '').toLowerCase()
  const isNamed = (path: string): boolean => {
    const collection = lastSegmentOf(path).toLowerCase()
    return noun !== '' && collection.startsWith(noun.replace(/y$/, ''))
  }
  const sorted = [...service.collections].sort((a, b) => Number(isNamed(b.path)) - Number(isNamed(a.path)))
  const found = sorted.flatMap(({ items }) =>
    items.slice(0, 1).map(({ path, value }) => asText(memberAt(value, 'id')) ?? identifierIn(path)),
  )
  return [...new Set(found)].slice(0, identifiersMax)
}
const identifierIn = (path: string): string => percentDecode(lastSegmentOf(path)) ?? lastSegmentOf(path)

/** The content of an element as in a profile's `messages`: an object of texts and objects. */
export function readMessageContent(xml: string): Json {
  const document = parseXml(new TextEncoder().encode(xml))
  return document instanceof Malformed ? {} : contentOfElement(document.root)
}

function contentOfElement(element: Element): Json {
  const children = element.elements()
  if (children.length === 0) return element.text === '' && element.parent === undefined ? {} : element.text
  const names = new Set(children.map(({ name }) => name.local))
  return Object.fromEntries(
    Array.from(names, local => {
      const values = children.filter(({ name }) => name.local === local).map(contentOfElement)
      return [local, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

const listProbeTexts = (value: Json): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(each => listProbeTexts(each as Json))
    : value === probeText
      ? [probeText]
      : []

function replaceProbeTexts(value: Json, id: string): Json {
  if (Array.isArray(value)) return value.map(each => replaceProbeTexts(each as Json, id))
  if (typeof value !== 'object' || value === null) return value === probeText ? id : value
  return Object.fromEntries(Object.entries(asRecord(value)).map(([name, each]) => [name, replaceProbeTexts(each, id)]))
}
