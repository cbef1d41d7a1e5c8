import { Flaw, type Of, wrong } from './flaw.ts'

export const zero = 48
export const minus = 45
export const point = 46

/** XML's white space off both ends. By hand: an expression that looks for blanks at the end tries at each run of them. */
export function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}
const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13

/** White space as the XSD type says (Part 2 §4.3.6): normalizedString replaces, the others collapse. */
export function spaced(xsd: NonNullable<Of<'string'>['xsd']>, text: string): string {
  const replaced = text.replace(/[\t\r\n]/g, ' ')
  return xsd === 'normalizedString' ? replaced : replaced.replace(/ +/g, ' ').replace(/^ | $/g, '')
}

const nameStart =
  'A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}'
const nameChar = `${nameStart}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F\\u2040`
const ncName = new RegExp(`^[${nameStart}][${nameChar}]*$`, 'u')
export const zone = '(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?'
/** XML Schema Part 2 §3.2, §3.3. */
const stringForm: Readonly<Record<NonNullable<Of<'string'>['xsd']>, RegExp>> = {
  normalizedString: /^[^\t\r\n]*$/,
  token: /^(?! )(?!.* {2})(?!.* $)[^\t\r\n]*$/s, // a line separator is a character like any other
  language: /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/,
  Name: new RegExp(`^[:${nameStart}][:${nameChar}]*$`, 'u'),
  NCName: ncName,
  NMTOKEN: new RegExp(`^[:${nameChar}]+$`, 'u'),
  anyURI: /^[^\p{Cc} <>{}|\\^`"]*$/u,
  QName: new RegExp(`^([${nameStart}][${nameChar}]*:)?[${nameStart}][${nameChar}]*$`, 'u'),
  gYear: new RegExp(`^-?([1-9][0-9]{3,}|0[0-9]{3})${zone}$`),
  gYearMonth: new RegExp(`^-?([1-9][0-9]{3,}|0[0-9]{3})-(0[1-9]|1[0-2])${zone}$`),
  gMonth: new RegExp(`^--(0[1-9]|1[0-2])${zone}$`),
  gMonthDay: new RegExp(`^--(?!02-3|(0[469]|11)-31)(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])${zone}$`),
  gDay: new RegExp(`^---(0[1-9]|[12][0-9]|3[01])${zone}$`),
}

const patterns = new Map<string, RegExp>()
/** A pattern of the contract, anchored at both ends as XSD's are. Contracts are few and trusted: the map stays small. */
export function compilePattern(pattern: string): RegExp {
  let known = patterns.get(pattern)
  if (!known) patterns.set(pattern, (known = new RegExp(`^(?:${pattern})$`, 'u')))
  return known
}

export function checkString(shape: Of<'string'>, value: string): string | Flaw {
  if (!plain.test(value) && unsendable.test(value))
    return new Flaw('character', 'has a character that XML cannot carry')
  // A character is one UTF-16 unit or two: they are counted where that makes a difference.
  if (shape.min !== undefined && value.length < shape.min * 2 && lengthOf(value) < shape.min)
    return new Flaw('minLength', `must have at least ${shape.min} characters`)
  if (shape.max !== undefined && value.length > shape.max && lengthOf(value) > shape.max)
    return new Flaw('maxLength', `must have at most ${shape.max} characters`)
  if (shape.xsd !== undefined && !stringForm[shape.xsd].test(value)) return wrong(`of type ${shape.xsd}`)
  if (shape.pattern !== undefined && !compilePattern(shape.pattern).test(value))
    return new Flaw('pattern', `must match ${shape.pattern}`)
  return value
}

/** Characters of one unit each, which nearly every text has alone: none of them is unsendable. */
const plain = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/
/** What XML 1.0 §2.2 has no Char for: a value that one face could not say is refused by both. */
const unsendable =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--
  return length
}
