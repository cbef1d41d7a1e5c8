/**
 * Documents as plain pages: the members, the links, and a form for each thing that can be done by
 * POST. Guards the reader:
 *  (1) Every text is escaped, whatever it is; addresses are our own paths.
 *  (2) There is no script, and the policy that goes with a page allows none.
 *  (3) No page is a dead end: each leads to the entry, references lead to what they name.
 */

import { escapeMarkup } from '../../base/markup.ts'
import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields, Shape } from '../../contract/field.ts'
import { valueWriter } from '../../contract/field-json.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import { foldScalar, foldShape, isScalar, type ScalarCases, type ShapeCases } from '../../contract/shape.ts'
import type { WorkSteps } from '../../service/turns.ts'
import type { DocumentContext, DocumentForm, DocumentLink, RepresentationDocument } from './document.ts'

export function writeHtmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeMarkup(title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}th,td{text-align:start;padding:.2rem .8rem .2rem 0;vertical-align:top}label{display:block}</style></head>
<body><h1>${escapeMarkup(title)}</h1>
${body}
</body></html>
`
}

export function* writeHtml(document: RepresentationDocument, context: DocumentContext): WorkSteps<string> {
  const { base, only } = context
  const parts = [
    `<nav>${writeAnchor(base, 'Start')}</nav>`, // (3)
    document.items ? yield* writeItems(document, context) : '',
    writeDefinition(document.fields, document.value, base, document.items ? undefined : only),
    linksHtml(document.links),
    ...document.links.map(formHtml),
  ]
  return writeHtmlPage(document.title, parts.filter(part => part !== '').join('\n'))
}

function writeDefinition(
  fields: Fields,
  value: RepresentationDocument['value'],
  base: string,
  only: ReadonlySet<string> | undefined,
): string {
  const rows = visibleFields(fields, only).flatMap(([name, field]) =>
    ownMember(value, name) === undefined
      ? []
      : [`<tr><th scope="row">${escapeMarkup(name)}</th><td>${writeCell(field, value[name], base)}</td></tr>`],
  )
  return rows.length === 0 ? '' : `<table>${rows.join('')}</table>`
}

const visibleFields = (fields: Fields, only: ReadonlySet<string> | undefined) =>
  Object.entries(fields).filter(([name, field]) => !field.isInternal && (!only || only.has(name)))

/** The items as a table; the first column leads to the item. */
function* writeItems(document: RepresentationDocument, { base, only }: DocumentContext): WorkSteps<string> {
  const columns = visibleFields(document.columns ?? {}, only).filter(([, field]) => isScalar(field.shape))
  const heads = columns.map(([name]) => `<th scope="col">${escapeMarkup(name)}</th>`).join('')
  let rows = ''
  for (const item of document.items ?? []) {
    const self = item.links.find(link => link.rel === 'self')
    const cells = columns.map(([name, field], i) => {
      const value = ownMember(item.value, name)
      return `<td>${i === 0 && self ? writeAnchor(self.href, writeText(field, value)) : writeCell(field, value, base)}</td>`
    })
    rows += `<tr>${cells.join('')}</tr>`
    yield
  }
  return `<table><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table>`
}

function writeCell(field: AnyField, value: unknown, base: string): string {
  const text = writeText(field, value)
  const { shape } = field
  return shape.kind === 'ref' && text !== ''
    ? writeAnchor(`${base}/${shape.resource}/${text}`, text)
    : escapeMarkup(text)
}

function writeText(field: AnyField, value: unknown): string {
  if (value === undefined || value === null) return ''
  return isScalar(field.shape) ? writeScalar(field.shape, value) : valueWriter(field)(value)
}

const writeAnchor = (href: string, text: string): string => `<a href="${escapeMarkup(href)}">${escapeMarkup(text)}</a>`

function linksHtml(links: readonly DocumentLink[]): string {
  const items = links
    .filter(link => !link.templated && (!link.form || link.form.method === 'GET'))
    .map(
      link =>
        `<li><a rel="${escapeMarkup(link.rel)}" href="${escapeMarkup(link.href)}">${escapeMarkup(link.rel)}</a></li>`,
    )
  return items.length === 0 ? '' : `<nav><ul>${items.join('')}</ul></nav>`
}

/** Browsers send GET and POST alone (HTML §4.10.18.6): what takes another method has no form. */
function formHtml({ href, form }: DocumentLink): string {
  if (form?.method !== 'POST') return ''
  return `<form method="post" action="${escapeMarkup(href)}"><fieldset><legend>${escapeMarkup(form.title)}</legend>${writeInputs(form)}<button>${escapeMarkup(form.title)}</button></fieldset></form>`
}

const writeInputs = ({ fields }: DocumentForm): string =>
  Object.entries(fields)
    .map(([name, field]) => writeInput(name, field))
    .join('')

const writeInput = (name: string, field: AnyField): string =>
  field.isReadOnly ? '' : foldShape(field.shape, shapeInputs, name, field)
const shapeInputs: ShapeCases<string, [name: string, field: AnyField]> = {
  scalar: (shape, name, field) => foldScalar(shape, scalarInputs, name, field),
  list: ({ item }, name) => writeInput(`${name}[0]`, item),
  object: ({ fields }, name) =>
    `<fieldset><legend>${escapeMarkup(name)}</legend>${Object.entries(fields)
      .map(([inner, each]) => writeInput(`${name}[${inner}]`, each))
      .join('')}</fieldset>`,
  union: inputWriter('text'),
}

const writeLabelled = (name: string, control: string): string => `<label>${escapeMarkup(name)} ${control}</label>`
const nameAttribute = (name: string): string => `name="${escapeMarkup(name)}"`
const requiredAttribute = ({ isOptional }: AnyField): string => (isOptional ? '' : ' required')
function inputWriter(type: 'text' | 'number' | 'date') {
  return (_shape: Shape, name: string, field: AnyField): string =>
    writeLabelled(name, `<input ${nameAttribute(name)} type="${type}"${requiredAttribute(field)}>`)
}
const scalarInputs: ScalarCases<string, [name: string, field: AnyField]> = {
  string: inputWriter('text'),
  boolean: inputWriter('text'),
  int: inputWriter('number'),
  long: inputWriter('number'),
  decimal: inputWriter('text'),
  double: inputWriter('text'),
  date: inputWriter('date'),
  time: inputWriter('text'),
  dateTime: inputWriter('text'),
  duration: inputWriter('text'),
  bytes: inputWriter('text'),
  enum: ({ values }, name, field) => {
    const options = values.map(value => `<option>${escapeMarkup(value)}</option>`).join('')
    const none = field.isOptional ? '<option></option>' : ''
    return writeLabelled(name, `<select ${nameAttribute(name)}${requiredAttribute(field)}>${none}${options}</select>`)
  },
  id: inputWriter('text'),
  ref: inputWriter('text'),
}
