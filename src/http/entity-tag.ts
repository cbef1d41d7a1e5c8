/**
 * RFC 9110 §8.8.3. An entity tag is kept as written, `"v2"` or `W/"v2"`, so tags are compared as
 * texts. (The function that compares them is an argument of precondition.ts.)
 */

/** An entity tag as written: `"5"`, or weak `W/"5"` (RFC 9110 §8.8.3). */
export type EntityTag = string

/**
 * entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE; etagc = %x21 / %x23-7E / obs-text. No escapes; W is
 * upper case.
 */
const entityTagPattern = /(?:W\/)?"[\x21\x23-\x7e\x80-\uffff]*"/y

/** Whether the text is one entity tag (RFC 9110 §8.8.3). */
export function isEntityTag(text: string): boolean {
  entityTagPattern.lastIndex = 0
  return entityTagPattern.test(text) && entityTagPattern.lastIndex === text.length
}

/**
 * The value of If-Match or If-None-Match: `*`, or the tags of a list; undefined when malformed. A
 * comma inside a tag is part of the tag. Empty elements are dropped (§5.6.1.2); a list without any
 * tag is malformed.
 */
export function parseEntityTags(field: string): '*' | readonly EntityTag[] | undefined {
  if (field === '*') return '*'
  const tags: EntityTag[] = []
  for (let at = 0; at < field.length; at = elementPattern.lastIndex) {
    elementPattern.lastIndex = at
    const element = elementPattern.exec(field)
    if (!element) return undefined
    if (element[1] !== undefined) tags.push(element[1])
  }
  return tags.length > 0 ? tags : undefined
}

/** #element (§5.6.1): a tag, or nothing, with OWS around it, up to a comma or the end. */
const elementPattern = new RegExp(`[ \\t]*(?:(${entityTagPattern.source})[ \\t]*)?(?:,|$)`, 'y')

/** §8.8.3.2: equal, and neither is weak. */
export const sameStrongly = (a: EntityTag, b: EntityTag): boolean => a === b && !a.startsWith('W/')

/** §8.8.3.2: equal apart from weakness. */
export const sameWeakly = (a: EntityTag, b: EntityTag): boolean => a === b || opaqueTagOf(a) === opaqueTagOf(b)

const opaqueTagOf = (tag: EntityTag) => (tag.startsWith('W/') ? tag.slice(2) : tag)

/**
 * Strong comparison of only the version part. The service's tags are `"<version>-<h>"`, where h
 * identifies media type, language, coding and selected fields. A change concerns the resource, so
 * the tag of any representation of this version satisfies its If-Match.
 */
export function sameVersion(a: EntityTag, b: EntityTag): boolean {
  return !a.startsWith('W/') && !b.startsWith('W/') && sameVersionWeakly(a, b)
}

/** The same for If-None-Match of a change, where weak tags are compared, too. */
export const sameVersionWeakly = (a: EntityTag, b: EntityTag): boolean => readVersionPart(a) === readVersionPart(b)

/** The version part of a tag of the service: the text before its last hyphen, or all of it. */
export function readVersionPart(tag: EntityTag): string {
  const text = opaqueTagOf(tag).slice(1, -1)
  const hyphen = text.lastIndexOf('-')
  return hyphen < 0 ? text : text.slice(0, hyphen)
}
