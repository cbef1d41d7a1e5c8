/**
 * Strings (XML Schema Part 2 §3.2.1, §3.3.1–§3.3.12, §3.2.10–§3.2.18): white space, forms and
 * facets.
 */
import type { StringType } from '../field.ts'
import type { ScalarOf } from '../shape.ts'
import { boundFlaw, describeLeast, Flaw, typeFlaw } from './flaw.ts'

/** UTF-16 units. */
export const zeroCode = 48
export const minusCode = 45
export const pointCode = 46

export const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/**
 * Without XML's white space at both ends. Written by hand, since a regular expression for the end
 * would try each run of it.
 */
export function trimXmlSpace(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}
const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13
/** Part 2 §3.2.2: the truth value that is true, as an attribute of XML has it. */
export const isTrueText = (text: string | undefined): boolean =>
  text !== undefined && /^(?:true|1)$/.test(trimXmlSpace(text))

/**
 * White space by the XSD type (Part 2 §4.3.6): normalizedString replaces it, the others collapse
 * it.
 */
export function normalizeXmlSpace(xsd: StringType, text: string): string {
  const replaced = text.replace(/[\t\r\n]/g, ' ')
  return xsd === 'normalizedString' ? replaced : replaced.replace(/ +/g, ' ').replace(/^ | $/g, '')
}

/** RFC 3986 §2.3: unreserved characters, which need no escape in a path; never a dot segment. */
export const pathSegmentPattern = '[A-Za-z0-9_~-][A-Za-z0-9._~-]*'
/** An identifier: such a segment of at most 64 characters. */
export const identifierPattern = pathSegmentPattern.replace('*', '{0,63}')
const identifierText = new RegExp(`^${identifierPattern}$`)
export const isIdentifier = (text: string): boolean => identifierText.test(text)

const nameStart =
  'A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}'
const nameChar = `${nameStart}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F\\u2040`
const ncName = new RegExp(`^[${nameStart}][${nameChar}]*$`, 'u')
/** Namespaces in XML §3 [4]. */
export const matchesNcName = (text: string): boolean => ncName.test(text)
export const zonePattern = '(Z|[+-](0\\d|1[0-3]):[0-5]\\d|[+-]14:00)?'
/** Lexical spaces (§3.2, §3.3). */
const formOfType: Readonly<Record<StringType, RegExp>> = {
  normalizedString: /^[^\t\r\n]*$/,
  token: /^(?! )(?!.* {2})(?!.* $)[^\t\r\n]*$/s, // a line separator is a character like any other
  language: /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/,
  Name: new RegExp(`^[:${nameStart}][:${nameChar}]*$`, 'u'),
  NCName: ncName,
  NMTOKEN: new RegExp(`^[:${nameChar}]+$`, 'u'),
  anyURI: /^[^\p{Cc} <>{}|\\^`"]*$/u,
  QName: new RegExp(`^([${nameStart}][${nameChar}]*:)?[${nameStart}][${nameChar}]*$`, 'u'),
  gYear: new RegExp(`^-?([1-9]\\d{3,}|0\\d{3})${zonePattern}$`),
  gYearMonth: new RegExp(`^-?([1-9]\\d{3,}|0\\d{3})-(0[1-9]|1[0-2])${zonePattern}$`),
  gMonth: new RegExp(`^--(0[1-9]|1[0-2])${zonePattern}$`),
  gMonthDay: new RegExp(`^--(?!02-3|(0[469]|11)-31)(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])${zonePattern}$`),
  gDay: new RegExp(`^---(0[1-9]|[12]\\d|3[01])${zonePattern}$`),
}

/** A pattern of the contract, anchored at both ends as patterns of XSD are. */
export const compilePattern = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u')

export function compileStringCheck(shape: ScalarOf<'string'>): (value: unknown) => string | Flaw {
  const { xsd, min = 0, max = Infinity } = shape
  const form = xsd && formOfType[xsd]
  const pattern = shape.pattern === undefined ? undefined : compilePattern(shape.pattern)
  return value => {
    if (typeof value !== 'string') return typeFlaw('a string')
    if (!oneUnitText.test(value) && unsendableText.test(value))
      return new Flaw('character', 'contains a character that XML cannot carry')
    // A character has one or two UTF-16 units: characters are only counted if that can matter.
    if (value.length < min * 2 && countCharacters(value) < min)
      return boundFlaw('minLength', describeLeast(min, 'characters'))
    if (value.length > max && countCharacters(value) > max)
      return boundFlaw('maxLength', `must have at most ${max} characters`)
    if (form && !form.test(value)) return typeFlaw(`of type ${xsd}`)
    if (pattern && !pattern.test(value)) return boundFlaw('pattern', `must match ${shape.pattern}`)
    return value
  }
}

/** Characters of one UTF-16 unit, which nearly every text consists of; all of them are sendable. */
const oneUnitText = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/
/**
 * Characters that are not a Char of XML 1.0 §2.2: both faces refuse a value that one could not
 * carry.
 */
const unsendableText = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** Characters, not UTF-16 units. */
export function countCharacters(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--
  return length
}
