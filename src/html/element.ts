/**
 * Elements of pages. What it guards: every text and every attribute value is escaped here, whatever
 * it is; content passed in is already markup.
 */
import { escapeMarkup } from '../base/markup.ts'
import type { AnyField } from '../contract/field.ts'

/** Markup, safe inside a page. */
export type PageMarkup = string

/** `true` is an attribute without a value; false and undefined omit it. */
export type PageAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Elements that have no content and no end tag (HTML §13.1.2). */
const voidElements: ReadonlySet<string> = new Set(['input', 'meta', 'link', 'br', 'img'])

export function buildElement(name: string, attributes: PageAttributes, ...content: readonly PageMarkup[]): PageMarkup {
  let start = `<${name}`
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    start += value === true ? ` ${key}` : ` ${key}="${escapeMarkup(String(value))}"`
  }
  return voidElements.has(name) ? `${start}>` : `${start}>${content.join('')}</${name}>`
}

export const writeAnchor = (href: string, text: string, more: PageAttributes = {}): PageMarkup =>
  buildElement('a', { href, ...more }, escapeMarkup(text))

/** A section with its heading; '' without content. */
export const writeSection = (heading: string, more: PageAttributes, ...content: readonly PageMarkup[]): PageMarkup =>
  content.join('') === ''
    ? ''
    : buildElement('section', more, buildElement('h2', {}, escapeMarkup(heading)), ...content)

/** A contract's name as a label: trackingNumber → Tracking number. */
export function labelOf(name: string): string {
  const words = name.replace(
    /([a-z0-9])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  )
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The title of a field for people. */
export const titleOf = (name: string, { texts }: AnyField): string => texts?.title ?? labelOf(name)

/** A text of the contract; '' without one. */
export const writeParagraph = (text: string | undefined, more: PageAttributes = {}): PageMarkup =>
  text === undefined ? '' : buildElement('p', more, escapeMarkup(text))

/** What is wrong, shown before anything else. */
export const writeNotice = (text: string): PageMarkup =>
  buildElement('div', { class: 'alert', role: 'alert' }, buildElement('p', {}, escapeMarkup(text)))
