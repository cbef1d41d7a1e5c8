/** Parses the text of a description: JSON by our own reader, anything else as YAML 1.2. */
import type { Json } from '../base/objects.ts'
import { type JsonLimits, parseJson } from '../http/json.ts'

export type ParsedDescription =
  | { readonly value: Json; readonly reason?: never }
  | { readonly reason: string; readonly value?: never }
export type DescriptionParser = (text: string) => ParsedDescription

const descriptionLimits: JsonLimits = { depth: 256, digits: 1000, names: 1_000_000 }
/** Uses of anchors in a YAML document: even a few can stand for billions of values. */
const yamlAliasesMax = 10_000

/** Decided by its beginning: anything else is JSON or YAML. */
export const isXmlDocument = (octets: Uint8Array): boolean =>
  /^\uFEFF?\s*</.test(new TextDecoder().decode(octets.subarray(0, 1000))) || isUtf16(octets)
const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe)
const isJsonText = (text: string): boolean => /^\s*[[{]/.test(text)

/** @param text the document; the library is loaded only for YAML */
export async function loadDescriptionParser(text: string): Promise<DescriptionParser> {
  return isJsonText(text) ? parseJsonText : loadAnyParser()
}
/** For JSON and YAML: for further documents whose syntax is not known yet. */
export async function loadAnyParser(): Promise<DescriptionParser> {
  const yaml = await import('yaml')
  return text => (isJsonText(text) ? parseJsonText(text) : parseYamlText(yaml, text))
}

function parseYamlText({ isScalar, parseDocument, visit }: typeof import('yaml'), text: string): ParsedDescription {
  // The core schema has the types of JSON. The library would compare each key with all before it.
  const document = parseDocument(text, { schema: 'core', uniqueKeys: false })
  const [error] = document.errors
  if (error) return { reason: `is not YAML: ${error.message.split('\n')[0]}` }
  let twice: unknown
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        if (names.has(name)) twice = name
        names.add(name)
      }
    },
    Scalar: (key, node) => {
      const { value, source = '' } = node
      const isExact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source)
      if (key !== 'key' && !isExact) node.value = BigInt(source) // as in JSON
    },
  })
  if (twice !== undefined) return { reason: `is not YAML: the key ${String(twice)} occurs twice in a map` }
  try {
    return { value: document.toJS({ maxAliasCount: yamlAliasesMax }) as Json }
  } catch (thrown) {
    if (thrown instanceof ReferenceError) return { reason: `is not YAML: ${thrown.message}` }
    throw thrown
  }
}

function parseJsonText(text: string): ParsedDescription {
  const { value, failure } = parseJson(text, descriptionLimits)
  if (failure) return { reason: `is not JSON at ${failure.pointer || 'its root'}: ${failure.reason}` }
  return { value }
}
