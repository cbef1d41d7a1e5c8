/**
 * JSON of the service → typed values, as its handlers have them: whole numbers that a double cannot
 * represent are bigint, octets are octets. Members that the contract does not know are ignored: a
 * newer service may have more.
 */
import { isJsonObject, type JsonObject } from '../../base/objects.ts'
import type { Fields } from '../../contract/field.ts'
import { readFields } from '../../contract/field-json.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import type { Values } from '../../contract/implement.ts'
import { parseExactJson } from './exact-json.ts'
import { HalLinks } from './hal-links.ts'
import { type RestReply, refuseReply } from './rest-reply.ts'

/** A representation before its members are typed. */
export interface HalDocument {
  readonly members: JsonObject
  readonly links: HalLinks
}

/** @throws AnswerError where the content is not a JSON object */
export function readDocument(operation: string, reply: RestReply): HalDocument {
  if (!/[/+]json\b/i.test(reply.fields['content-type'] ?? ''))
    refuseReply(operation, 'media-type', `the content is of type ${reply.fields['content-type']}, not JSON`, reply)
  const value = parseExactJson(reply.text)
  if (value === undefined) return refuseReply(operation, 'malformed', 'the content is not JSON', reply)
  if (!isJsonObject(value)) return refuseReply(operation, 'structure', 'the content is not an object', reply)
  reply.keep?.()
  return toDocument(value, reply)
}

export function toDocument({ _links, ...members }: JsonObject, { target }: RestReply): HalDocument {
  return { members, links: new HalLinks(_links, target) }
}

/**
 * @param isPart whether members may be absent, because only some were requested
 * @throws AnswerError if they are not valid by the contract
 */
export function readMembers(
  operation: string,
  reply: RestReply,
  fields: Fields,
  members: JsonObject,
  isPart = false,
): Values {
  const problems: FieldProblem[] = []
  const value = readFields(fields, members, problems)
  const wrong = problems.filter(
    ({ code, path }) => code !== 'unknown' && !(isPart && code === 'required' && path.length === 1),
  )
  if (wrong.length === 0) return value
  const named = wrong.map(({ path, detail }) => ({ path: path.join('.'), detail }))
  const detail = named.map(each => `${each.path} ${each.detail}`).join('; ')
  return refuseReply(operation, 'invalid', detail, reply, named)
}
