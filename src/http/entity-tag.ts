/**
 * RFC 9110 §8.8.3. An entity tag is kept as it is written, `"v2"` or `W/"v2"`, so that comparing two is comparing texts.
 * (The function by which tags are compared is an argument of precondition.ts.)
 */
import { cursorOver, isAtEnd, skipCharacter, skipSpace, type TextCursor } from './grammar.ts'

export type EntityTag = string

/** entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE; etagc = %x21 / %x23-7E / obs-text. No escapes; W is upper case. */
const entityTag = /(?:W\/)?"[\x21\x23-\x7e\x80-\uffff]*"/y

export function isEntityTag(text: string): boolean {
  entityTag.lastIndex = 0
  return entityTag.test(text) && entityTag.lastIndex === text.length
}

/**
 * The value of If-Match or If-None-Match: `*`, or the tags of a list; undefined when malformed.
 * A comma inside a tag is part of the tag. Empty elements are dropped (§5.6.1.2); a list without any tag is malformed.
 */
export function parseEntityTags(field: string): '*' | readonly EntityTag[] | undefined {
  if (field === '*') return '*'
  const tags: EntityTag[] = []
  const cursor = cursorOver(field)
  for (;;) {
    skipSpace(cursor)
    if (isAtEnd(cursor)) return tags.length > 0 ? tags : undefined
    if (skipCharacter(cursor, ',')) continue
    const tag = entityTagAt(cursor)
    if (tag === undefined) return undefined
    tags.push(tag)
    skipSpace(cursor)
    if (!isAtEnd(cursor) && !skipCharacter(cursor, ',')) return undefined
  }
}

function entityTagAt(cursor: TextCursor): EntityTag | undefined {
  entityTag.lastIndex = cursor.at
  if (!entityTag.test(cursor.text)) return undefined
  const tag = cursor.text.slice(cursor.at, entityTag.lastIndex)
  cursor.at = entityTag.lastIndex
  return tag
}

/** §8.8.3.2: equal, and neither is weak. */
export const sameStrongly = (a: EntityTag, b: EntityTag): boolean => a === b && !a.startsWith('W/')

/** §8.8.3.2: equal but for their weakness. */
export const sameWeakly = (a: EntityTag, b: EntityTag): boolean => opaque(a) === opaque(b)

const opaque = (tag: EntityTag) => (tag.startsWith('W/') ? tag.slice(2) : tag)

/**
 * Strong comparison of the version part alone. Our tags are `"<version>-<h>"`, where h tells media type, language,
 * coding and selected fields apart; a change concerns the resource, so the tag of any representation of this version
 * serves its If-Match.
 */
export function sameVersion(a: EntityTag, b: EntityTag): boolean {
  return !a.startsWith('W/') && !b.startsWith('W/') && readVersionPart(a) === readVersionPart(b)
}

/** The version part of one of our tags: what is before its last hyphen, or all of it. */
export function readVersionPart(tag: EntityTag): string {
  const text = opaque(tag).slice(1, -1)
  const hyphen = text.lastIndexOf('-')
  return hyphen < 0 ? text : text.slice(0, hyphen)
}
