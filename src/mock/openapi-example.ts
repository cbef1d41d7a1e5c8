/**
 * Examples for the schemas of an OpenAPI document: its own, or values that its keywords allow, made
 * readable by the names of members. The same seed and place give the same value each time.
 */
import { attempt, isSyntaxError } from '../base/attempt.ts'
import { isJsonObject, type Json, jsonItems, objectEntries, objectOf, stringOf } from '../base/objects.ts'
import { matchesPattern } from '../check/ecma-pattern.ts'
import {
  createChoose,
  type ExamplePlace,
  hasRoomForOptional,
  listExampleTexts,
  placeWithin,
  placeWithRoom,
  takeRoom,
} from '../describe/example-text.ts'
import type { OpenApiDocument } from '../import/openapi/openapi-document.ts'
import { propertiesOf, readMapFacts, readSchemaFacts, requiredNamesOf } from '../import/openapi/schema-facts.ts'

/** From this depth on optional members are left out, since a schema may contain itself. */
const depthOfOptional = 4
const depthMax = 12
const itemsOfArray = 2

/** An example of a response or a request: its media type's own, or one made from the schema. */
export function makeContentExample(document: OpenApiDocument, media: Json | undefined, place: ExamplePlace): Json {
  const { example, examples, schema, itemSchema } = objectOf(media)
  if (example !== undefined) return example
  const [named] = objectEntries(examples).map(([, each]) => document.resolve(each).value)
  const given = named?.['value'] ?? named?.['dataValue']
  return given ?? makeSchemaExample(document, schema ?? itemSchema, place)
}

/** @throws NoExample for a text that has to be given with `--example` */
export function makeSchemaExample(
  document: OpenApiDocument,
  given: Json | undefined,
  within: ExamplePlace,
  depth = 0,
): Json {
  const place = placeWithRoom(within)
  const facts = readSchemaFacts(document, given)
  const { schema, type, options } = facts
  const own = place.given[place.name]
  if (own !== undefined) return type === 'string' || type === '' ? own : (parseGivenText(own) ?? own)
  if (schema['const'] !== undefined) return schema['const']
  const known = [schema['example'], jsonItems(schema['examples'])[0], schema['default']]
  const declared = known.find(each => each !== undefined)
  if (declared !== undefined && place.item === 1) return declared
  const listed = jsonItems(schema['enum'])
  if (listed.length > 0) return listed[createChoose(place)(listed.length)] ?? null
  if (options.length > 0 && depth > depthMax) return null // it is its own option
  if (options.length > 0)
    return nameOption(document, schema, options[0], makeSchemaExample(document, options[0], place, depth + 1))
  const [first = ''] = type.split(' ')
  const make = makers[first || 'object']
  return make ? make({ document, schema, place, depth }) : null
}

/** OpenAPI §4.8.25: a discriminator names the option, by its mapping or its name. */
function nameOption(
  document: OpenApiDocument,
  schema: ExampleSchema['schema'],
  option: Json | undefined,
  example: Json,
): Json {
  const { propertyName, mapping } = objectOf(schema['discriminator'])
  const member = stringOf(propertyName)
  const { schema: own, name } = readSchemaFacts(document, option)
  const property = readSchemaFacts(document, objectOf(own['properties'])[member]).schema
  if (member === '' || !isJsonObject(example) || property['const'] !== undefined || property['enum'] !== undefined)
    return example
  const isOption = (to: string): boolean => to === name || to.endsWith(`/${name}`)
  const [mapped] = Object.entries(objectOf(mapping)).find(([, to]) => isOption(stringOf(to))) ?? []
  return { ...example, [member]: mapped ?? name }
}

const parseGivenText = (text: string): Json | undefined => attempt((): Json => JSON.parse(text), isSyntaxError)

interface ExampleSchema {
  readonly document: OpenApiDocument
  readonly schema: Readonly<Record<string, Json>>
  readonly place: ExamplePlace
  readonly depth: number
}

const makers: Readonly<Record<string, (example: ExampleSchema) => Json>> = {
  __proto__: null as never,
  object: makeObject,
  array: ({ document, schema, place, depth }) => {
    const least = Number(schema['minItems'] ?? 0)
    const count =
      depth >= depthOfOptional ? least : Math.min(Math.max(least, itemsOfArray), readBound(schema['maxItems']))
    takeRoom(place, count)
    return Array.from({ length: depth > depthMax ? 0 : count }, (_, at) =>
      makeSchemaExample(document, schema['items'], { ...place, item: place.item + at }, depth + 1),
    )
  },
  string: ({ schema, place }) => makeFormatted(schema, place),
  integer: ({ schema, place }) => makeNumber(schema, place, 1),
  number: ({ schema, place }) => makeNumber(schema, place, 0.5),
  boolean: ({ place }) => createChoose(place)(2) === 1,
  null: () => null,
}

const readBound = (given: Json | undefined, otherwise = Number.POSITIVE_INFINITY): number =>
  given === undefined ? otherwise : Number(given)

function makeObject({ document, schema, place, depth }: ExampleSchema): Json {
  const required = requiredNamesOf(schema)
  const isLeftOut = (name: string, given: Json): boolean =>
    objectOf(document.resolve(given).value)['writeOnly'] === true ||
    (!required.has(name) && (depth >= depthOfOptional || !hasRoomForOptional(place)))
  const members = propertiesOf(schema)
    .filter(([name, given]) => depth < depthMax && !isLeftOut(name, given))
    .map(([name, given]) => {
      const within = placeWithin(place, name)
      takeRoom(within, 1)
      return [name, makeSchemaExample(document, given, within, depth + 1)] as const
    })
  const map = members.length === 0 && depth < depthOfOptional ? readMapFacts(document, schema) : undefined
  const within = placeWithin(place, 'example')
  const entries = map
    ? [[makeMapName(document, schema, within), makeSchemaExample(document, map.value, within, depth + 1)]]
    : []
  return Object.fromEntries([...members, ...entries])
}

/** A name that the map's schema allows, if it restricts names. */
function makeMapName(document: OpenApiDocument, schema: ExampleSchema['schema'], place: ExamplePlace): string {
  if (schema['propertyNames'] === undefined) return 'example'
  const names = objectOf(document.resolve(schema['propertyNames']).value)
  return String(makeSchemaExample(document, { type: 'string', ...names }, place))
}

/** A multiple of what is required: near zero, or the bound that is nearest to it. */
function makeNumber(schema: ExampleSchema['schema'], place: ExamplePlace, part: number): number {
  const step = readBound(schema['multipleOf'], part === 1 ? 1 : 0.01)
  const above = schema['exclusiveMinimum']
  const minimum = readBound(schema['minimum'], Number.NEGATIVE_INFINITY)
  const least = typeof above === 'number' ? above + step : minimum + (above === true ? step : 0)
  const below = schema['exclusiveMaximum']
  const most = typeof below === 'number' ? below - step : readBound(schema['maximum']) - (below === true ? step : 0)
  const distance = (createChoose(place)(20) + place.item) * Math.max(step, part)
  const start = most < 0 ? Math.floor(most / step) * step : Math.ceil(Math.max(least, 0) / step) * step
  const wish = most < 0 ? start - distance : start + distance
  return roundTo(least <= wish && wish <= most ? wish : start)
}
const roundTo = (value: number): number => Number(value.toFixed(6))

/** Formats of JSON Schema §7.3: RFC 3339, RFC 5321, RFC 3986, RFC 9562 and others. */
const textsOfFormats: Readonly<Record<string, (number: number) => string>> = {
  __proto__: null as never,
  date: number => `2026-01-${String(1 + (number % 28)).padStart(2, '0')}`,
  'date-time': number => `2026-01-${String(1 + (number % 28)).padStart(2, '0')}T09:30:00Z`,
  time: () => '09:30:00Z',
  duration: number => `PT${1 + (number % 9)}H`,
  email: number => `ada${number}@example.org`,
  hostname: number => `host-${number}.example.org`,
  ipv4: number => `192.0.2.${1 + (number % 250)}`,
  ipv6: number => `2001:db8::${(1 + number).toString(16)}`,
  uri: number => `https://example.org/${number}`,
  iri: number => `https://example.org/${number}`,
  url: number => `https://example.org/${number}`,
  'uri-reference': number => `/example/${number}`,
  'iri-reference': number => `/example/${number}`,
  'uri-template': number => `/example/${number}`,
  uuid: number => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  byte: () => 'ZXhhbXBsZQ==',
  binary: () => 'example',
  decimal: number => `${number}.50`,
}

function makeFormatted(schema: ExampleSchema['schema'], place: ExamplePlace): string {
  const form = textsOfFormats[stringOf(schema['format'])]
  const number = (createChoose(place)(90) + place.item) % 100
  const pattern = stringOf(schema['pattern'])
  const expression = pattern === '' ? undefined : attempt(() => new RegExp(pattern, 'u'), isSyntaxError)
  if (form) return form(number)
  const max = schema['maxLength'] === undefined ? undefined : Number(schema['maxLength'])
  const texts = listExampleTexts(place, {
    min: Number(schema['minLength'] ?? 0),
    max,
    expressions: expression ? [expression] : [],
  })
  const fits = (text: string): boolean => pattern === '' || matchesPattern(pattern, text) !== false
  return texts.find(text => fits(text) && (max === undefined || text.length <= max)) ?? ''
}
