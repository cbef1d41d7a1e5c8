/** How a document writes a parameter, or a member of a form. */
import { type JsonObject, stringOf } from '../../base/objects.ts'

/** OpenAPI §4.8.12.3; `cookie` is new in 3.2. */
const styleNames = [
  'matrix',
  'label',
  'simple',
  'form',
  'spaceDelimited',
  'pipeDelimited',
  'deepObject',
  'cookie',
] as const

export interface ParameterStyle {
  readonly style: (typeof styleNames)[number]
  /** Each item of a list, or member of an object, is separate. */
  readonly isExploded: boolean
  /** Characters reserved in addresses stay unencoded. */
  readonly allowsReserved: boolean
  /** The value is JSON, with its own media type. */
  readonly isJson: boolean
}

/** OpenAPI §4.8.12.2.1: the defaults depend on the place. */
export function readParameterStyle({ style, explode, allowReserved, content, in: place }: JsonObject): ParameterStyle {
  const usual = place === 'path' || place === 'header' ? 'simple' : 'form'
  const chosen = styleNames.find(each => each === stringOf(style)) ?? usual
  return {
    style: chosen,
    isExploded: typeof explode === 'boolean' ? explode : chosen === 'form' || chosen === 'cookie',
    allowsReserved: allowReserved === true,
    isJson: content !== undefined,
  }
}

/** What precedes and separates the values of a style (RFC 6570 §3.2.1). */
interface Expansion {
  readonly first: string
  /** Separates exploded values. */
  readonly between: string
  /** Joins values into one. */
  readonly joint: string
  readonly isNamed: boolean
  /** Separates a name from an empty value. */
  readonly nothing: string
}
const simple: Expansion = { first: '', between: ',', joint: ',', isNamed: false, nothing: '=' }
const form: Expansion = { first: '', between: '&', joint: ',', isNamed: true, nothing: '=' }
export const expansions: Readonly<Record<ParameterStyle['style'], Expansion>> = {
  simple,
  label: { ...simple, first: '.', between: '.' },
  matrix: { first: ';', between: ';', joint: ',', isNamed: true, nothing: '' },
  form,
  spaceDelimited: { ...form, joint: '%20' },
  pipeDelimited: { ...form, joint: '%7C' },
  deepObject: form,
  cookie: { ...form, between: '; ' },
}
