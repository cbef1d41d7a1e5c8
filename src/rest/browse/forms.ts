/** Forms of a page, made from the contract: one for each operation that the caller may perform. */
import { escapeMarkup } from '../../base/markup.ts'
import { type AnyField, Field, type Fields } from '../../contract/field.ts'
import type { PublicTexts } from '../../contract/texts.ts'
import { changeRows, type FormState, type Redraw, writeControls } from '../../html/controls.ts'
import { buildElement, labelOf, type PageMarkup, writeParagraph } from '../../html/element.ts'
import type { TextTree } from '../../html/text-tree.ts'
import type { ItemAddress } from '../../html/value-views.ts'
import type { Exchange } from '../exchange.ts'
import { writeFormAddress } from './page-form.ts'

export interface FormSpec {
  readonly rel: string
  readonly title: string
  readonly href: string
  readonly method: string
  readonly fields: Fields
  /** The tag that the change expects. */
  readonly match?: string | undefined
  /** The values in its controls. */
  readonly tree?: TextTree | undefined
  readonly problems?: ReadonlyMap<string, readonly string[]>
  /** Where the items of a resource are listed. */
  readonly choices: FormState['choices']
  readonly isDanger?: boolean
  /** The title and description in the contract. */
  readonly texts?: PublicTexts | undefined
}

export function writeForm(spec: FormSpec, ...parts: readonly PageMarkup[]): PageMarkup {
  const { rel, href, method, fields, match, tree, isDanger, texts } = spec
  const title = texts?.title ?? spec.title
  const id = formId(spec)
  return buildElement(
    'form',
    { id, method: 'post', action: writeFormAddress(href, { method, match }), 'aria-labelledby': `${id}-title` },
    buildElement('h3', { id: `${id}-title` }, escapeMarkup(title)),
    writeParagraph(texts?.description),
    ...parts,
    writeControls(fields, tree, formState(spec)),
    buildElement(
      'div',
      { class: 'buttons' },
      buildElement('button', { class: isDanger && 'danger', 'data-rel': rel }, escapeMarkup(title)),
    ),
  )
}

const formId = ({ rel, method }: FormSpec): string => `${rel}-${method.toLowerCase()}`.replace(/[^\w-]+/g, '-')

/** The identifier of the control at a path, for a link to it. */
export const controlId = (spec: FormSpec, name: string): string => `${formId(spec)}-${name.replace(/[^\w-]+/g, '-')}`

function formState(spec: FormSpec): FormState {
  const { href, method, match, problems = new Map(), choices } = spec
  return {
    form: formId(spec),
    problems,
    redraw: (change, name) => writeFormAddress(href, { method, match }, { change, name }),
    choices,
  }
}

/** The same form with one row more or less. */
export const redrawForm = (spec: FormSpec, { change, name }: Redraw): FormSpec => ({
  ...spec,
  tree: changeRows(spec.tree ?? {}, change, name),
})

/** For a change of some fields: empty ones stay unchanged. */
export const makeAllOptional = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => !field.isReadOnly)
      .map(([name, field]: [string, AnyField]) => [name, new Field(field.shape, field).optional()]),
  )

/** A form in a section that can be opened; open if it has something to show. */
export const writeFolded = (title: string, isOpen: boolean, content: PageMarkup): PageMarkup =>
  content === ''
    ? ''
    : buildElement('details', { open: isOpen }, buildElement('summary', {}, escapeMarkup(title)), content)

/** A form for the octets of a file: a button for each type that it may have. */
export function writeFileForm(href: string, part: string, mediaTypes: readonly string[]): PageMarkup {
  const id = `file-${part}`.replace(/[^\w-]+/g, '-')
  const buttons = mediaTypes.map(type =>
    buildElement(
      'button',
      { class: 'minor', formaction: writeFormAddress(href, { method: 'PUT', type }) },
      escapeMarkup(`Send as ${type}`),
    ),
  )
  return buildElement(
    'form',
    { id: `${id}-put`, method: 'post', enctype: 'multipart/form-data', action: href },
    buildElement('h3', {}, escapeMarkup(labelOf(part))),
    buildElement(
      'div',
      { class: 'field' },
      buildElement('label', { for: id }, 'File'),
      buildElement('input', { id, name: 'file', type: 'file', accept: mediaTypes.join(','), required: true }),
    ),
    buildElement('div', { class: 'buttons' }, ...buttons),
  )
}

/** An item with a parent has a known address if the parent is that of the page. */
export function itemAddresses({ base, place, parents, edition }: Exchange): ItemAddress {
  const parent = parents.at(-1)
  return (resource, id) => {
    if (!isNested(edition, resource)) return `${base}/${resource}/${encodeURIComponent(id)}`
    return id === parent && place.endsWith(`/${resource}/${id}`) ? place : undefined
  }
}

/**
 * The list in which a form finds the items that a reference may name; none if no single list has
 * them.
 */
export const listAddresses =
  ({ base, edition }: Exchange): FormState['choices'] =>
  resource =>
    isNested(edition, resource) ? undefined : `${base}/${resource}`

const isNested = ({ service }: Exchange['edition'], resource: string): boolean =>
  service.resources.some(({ name, within }) => name === resource && within !== undefined)
