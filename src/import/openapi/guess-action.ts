/** Turns paths below an item into its actions: POST does something, GET shows something. */

import { type Json, objectOf } from '../../base/objects.ts'
import type { Fields } from '../../contract/field.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { isReservedAction } from '../../contract/reserved-names.ts'
import type { AnyAction } from '../../contract/resource.ts'
import { type Collection, toSegmentName, toSingularField } from './collections.ts'
import { answerSchema, findItemSchema, type GuessRoom, listLinks, requestObject } from './guess-room.ts'
import type { RestOperation } from './operations.ts'
import { contentSchema, readSchemaFacts } from './schema-facts.ts'

interface ActionPart {
  readonly collection: Collection
  /** The last word of the path. */
  readonly word: string
  readonly operations: ReadonlyMap<string, RestOperation>
  readonly taken: Readonly<Record<string, AnyAction>>
}

export function guessAction(
  room: GuessRoom,
  part: ActionPart,
): { readonly verb: string; readonly action: AnyAction } | undefined {
  const { collection, word, operations } = part
  const [get, post] = [operations.get('GET'), operations.get('POST')]
  const operation = post ?? get
  if (!operation || (post && !isObjectRequest(room, post))) return undefined
  const output = guessOutput(room, collection, word, operation)
  if (!post && output === undefined) return undefined
  const rel = toSegmentName(word)
  if (rel !== word) room.losses.add(operation.place, `is at …/${rel}`)
  const isKept = post !== undefined && get !== undefined && output !== undefined && sameSchema(room, post, get)
  room.claimed.add(operation)
  if (isKept) room.claimed.add(get)
  for (const parameter of operation.query)
    if (!isAboutFields(parameter['name']))
      room.losses.add(operation.place, `the query parameter ${String(parameter['name'])} is left out`)
  const verb = chooseVerb(part, rel, operation)
  const links = listLinks(room.document, collection)
  const action: AnyAction = {
    from: [],
    to: undefined,
    effect: post ? 'transition' : 'read',
    rel,
    link: !links.has(rel) && links.has(verb) ? verb : rel,
    input: post
      ? room.fields.fields(contentSchema(room.document, post.request), `${collection.name}.${rel} input`)
      : {},
    output,
    faults: post ? room.faults.of(post) : [],
    kept: isKept,
    oneWay: undefined,
  }
  // A summary of three words only repeats the name.
  if (operation.comment.split(/\s+/).length > 3) room.fields.comments.set(action.input, operation.comment)
  return { verb, action }
}
const isAboutFields = (name: Json | undefined): boolean => name === 'fields'

/** No content, or a JSON object. */
const isObjectRequest = ({ document }: GuessRoom, post: RestOperation): boolean =>
  Object.keys(objectOf(document.resolve(post.request).value['content'])).length === 0 ||
  requestObject(document, post) !== undefined ||
  readSchemaFacts(document, contentSchema(document, post.request)).type === 'object'

/** The members of its response; undefined: it returns the item, or nothing. */
function guessOutput(
  room: GuessRoom,
  collection: Collection,
  word: string,
  operation: RestOperation,
): Fields | undefined {
  const { document, fields } = room
  const schema = answerSchema(document, operation)
  const facts = readSchemaFacts(document, schema)
  const item = findItemSchema(document, collection)
  const isItem = item !== undefined && readSchemaFacts(document, item).key === facts.key
  if (facts.type !== 'object' || facts.options.length > 0) return undefined
  if (isItem && operation.method !== 'GET') return undefined
  const output = fields.fields(schema, `${collection.name}.${word} output`, new Set(['_links']))
  return Object.keys(output).length === 0 ? undefined : output
}
const sameSchema = ({ document }: GuessRoom, one: RestOperation, other: RestOperation): boolean =>
  readSchemaFacts(document, answerSchema(document, one)).key ===
  readSchemaFacts(document, answerSchema(document, other)).key

/** Words that say no more than the method, and those that mean rules of a resource. */
const plainVerbs = new Set(
  'get list fetch read retrieve find show view create add post make new put set update patch change replace delete remove bulk run do perform submit'.split(
    ' ',
  ),
)

/** `v2_PayOrder` → `pay`; another verb if the operationId has none. */
function chooseVerb({ collection, taken }: ActionPart, rel: string, { id, method }: RestOperation): string {
  const resourceNames = new Set([toSingularField(collection.name), collection.name].map(each => each.toLowerCase()))
  const words = id
    .replace(/^v\d+[._-]?/i, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map(each => each.toLowerCase())
    .filter(each => each !== '' && !resourceNames.has(each))
  const [first = ''] = words
  const isFree = (verb: string): boolean => /^[a-z][a-z0-9]*$/.test(verb) && verb !== rel && !Object.hasOwn(taken, verb)
  if (isFree(first) && !plainVerbs.has(first) && !isReservedAction(first)) return first
  const noun = capitalize(rel.replace(/-+(.)?/g, (_, next: string = '') => next.toUpperCase()))
  const wish = `${method === 'GET' ? 'show' : 'do'}${noun}`
  return Object.hasOwn(taken, wish) ? `${wish}${Object.keys(taken).length}` : wish
}
