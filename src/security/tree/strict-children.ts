/**
 * Reads the parts of a Security block strictly: anything outside its standard place is refused, so
 * nothing hides where another reader would look first. Comments never cut a text short.
 */
import { decodeBase64 } from '../../base/base64.ts'
import { clarkNotation, type Element, type Name } from '../../xml/index.ts'
import { failSecurity, type SecurityFault } from '../security-fault.ts'

/** The one child with this name, if there is one. A second one is refused. */
export function optionalChild(
  element: Element,
  name: Name,
  fault: SecurityFault = 'InvalidSecurity',
): Element | undefined {
  let found: Element | undefined
  for (const child of element.children) {
    if (child.kind !== 'element' || child.name !== name) continue
    if (found) return failSecurity(fault, `two ${clarkNotation(name)} where one is allowed`)
    found = child
  }
  return found
}

/** The one child with this name. */
export function requiredChild(element: Element, name: Name, fault: SecurityFault = 'InvalidSecurity'): Element {
  return optionalChild(element, name, fault) ?? failSecurity(fault, `${clarkNotation(name)} is missing`)
}

/** The only child element, which must have this name. */
export function onlyChildNamed(element: Element, name: Name): Element {
  const [child, another] = element.elements()
  if (!child || another || child.name !== name)
    return failSecurity('InvalidSecurity', `something other than one ${clarkNotation(name)}`)
  return child
}

/** The text of an element without child elements. */
export function textOnly(element: Element, fault: SecurityFault = 'InvalidSecurity'): string {
  if (element.elements().length > 0) return failSecurity(fault, `an element inside ${clarkNotation(element.name)}`)
  return element.text
}

/** The same text without surrounding white space. */
export const trimmedText = (element: Element, fault?: SecurityFault): string => textOnly(element, fault).trim()

/** A required attribute. */
export function requiredAttribute(element: Element, name: Name, fault: SecurityFault = 'InvalidSecurity'): string {
  return element.attribute(name) ?? failSecurity(fault, `${clarkNotation(element.name)} without ${name.local}`)
}

/** XML Schema Part 2 §3.2.16 base64Binary, strictly. */
export function readBase64(element: Element, fault: SecurityFault = 'InvalidSecurity'): Buffer {
  const octets =
    decodeBase64(textOnly(element, fault)) ??
    failSecurity(fault, `${clarkNotation(element.name)} does not contain base64`)
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
}

/**
 * Milliseconds since 1970 of an xs:dateTime with a zone (WSS §10: UTC); undefined for other text.
 */
export function readInstant(text: string): number | undefined {
  if (!dateTimePattern.test(text)) return undefined
  const time = Date.parse(text)
  const day = Number(text.slice(8, 10))
  if (day <= daysOfAnyMonth) return Number.isNaN(time) ? undefined : time
  // Date moves a day that its month does not have into the next month.
  const local = text.endsWith('Z') ? time : Date.parse(`${text.slice(0, 19)}Z`)
  return new Date(local).getUTCDate() === day ? time : undefined
}

/** No month has fewer days. */
const daysOfAnyMonth = 28

const dateTimePattern = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/
