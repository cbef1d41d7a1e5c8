/**
 * Documents as HAL JSON (draft-kelly-json-hal), also served as application/json; and as HAL-FORMS
 * with the transitions' templates.
 */

import { memoizeByObject, memoizeByText } from '../../base/memo.ts'
import { type Json, omitUndefined } from '../../base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut } from '../../contract/field.ts'
import { membersWriter, quoteJson } from '../../contract/field-json.ts'
import { foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../../contract/shape.ts'
import { writeJson } from '../../http/json.ts'
import type { DocumentContext, DocumentForm, DocumentLink, DocumentWriter, RepresentationDocument } from './document.ts'

const writerOfAll = memoizeByObject((fields: Fields) => membersWriter(fields, undefined))
const writersOfSelection = memoizeByObject((only: ReadonlySet<string>) =>
  memoizeByObject((fields: Fields) => membersWriter(fields, only)),
)

/** Only the members, without `_links`: a patch is applied to these. */
export const writePlainJson = (document: Pick<RepresentationDocument, 'fields' | 'value'>): string =>
  `{${writerOfAll(document.fields)(document.value)}}`

const writeItem = (item: RepresentationDocument, { only }: DocumentContext): string => `{${writeMembers(item, only)}}`

export const halWriter = {
  write: (document: RepresentationDocument, { only }: DocumentContext, items: readonly string[]): string =>
    `{${writeMembers(document, only, items)}}`,
  writeItem,
} satisfies DocumentWriter

/** HAL-FORMS 2.01: the input of each link that is not for GET. */
export const halFormsWriter: DocumentWriter = {
  write: (document, { only }, items) => `{${writeMembers(document, only, items)}${writeTemplates(document.links)}}`,
  writeItem,
}

/**
 * Members next to the items of a collection follow them, and are not affected by the requested
 * fields.
 */
function writeMembers(
  { fields, value, links, items }: RepresentationDocument,
  only: ReadonlySet<string> | undefined,
  written: readonly string[] = [],
): string {
  const start = items ? `"items":[${written.join()}],` : ''
  const writerOf = only && !items ? writersOfSelection(only) : writerOfAll
  const members = writerOf(fields)(value)
  return `${start}${members}${members === '' ? '' : ','}"_links":{${linksJson(links)}}`
}

function linksJson(links: readonly DocumentLink[]): string {
  let text = ''
  for (const { rel, href, templated, type } of links) {
    text += `${text === '' ? '' : ','}${leadOfLink(rel)}${quoteJson(href)}`
    if (templated) text += ',"templated":true'
    if (type !== undefined) text += `,"type":${quoteJson(type)}`
    text += '}'
  }
  return text
}
/** A contract has few relations, and each link of an item has one. */
const leadOfLink = memoizeByText((rel: string) => `${quoteJson(rel)}:{"href":`)

function writeTemplates(links: readonly DocumentLink[]): string {
  const forms = links.flatMap(link => (link.form ? [[link.rel, templateOf(link.href, link.form)] as const] : []))
  return `,"_templates":${writeJson(Object.fromEntries(forms))}`
}

const templateOf = (target: string, { method, title, fields }: DocumentForm) => ({
  title,
  method,
  target,
  contentType: 'application/json',
  properties: Object.entries(fields).flatMap(([name, field]) => (field.isReadOnly ? [] : [propertyOf(name, field)])),
})

const propertyOf = (name: string, field: AnyField) => ({
  name,
  required: !mayBeLeftOut(field),
  ...foldShape(field.shape, shapeHints),
})

/** What HAL-FORMS can say about a value besides that it is text. */
type InputHints = Readonly<Record<string, Json>>
const noHints = (): InputHints => ({})
const shapeHints: ShapeCases<InputHints> = {
  scalar: shape => foldScalar(shape, scalarHints),
  list: noHints,
  map: noHints,
  object: noHints,
  union: noHints,
}
const scalarHints: ScalarCases<InputHints> = {
  string: ({ min, max, pattern }) =>
    omitUndefined({
      minLength: min,
      maxLength: max,
      regex: pattern === undefined ? undefined : `^(?:${pattern})$`,
    }),
  boolean: noHints,
  int: ({ min }) => omitUndefined({ type: 'number', min }),
  long: noHints,
  decimal: noHints,
  double: noHints,
  date: ({ zone }) => (zone === 'prohibited' ? { type: 'date' } : {}),
  time: noHints,
  dateTime: noHints,
  duration: noHints,
  bytes: noHints,
  enum: ({ values }) => ({ options: { inline: [...values] } }),
  id: noHints,
  ref: noHints,
}
