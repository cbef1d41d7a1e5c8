/** How a document has a parameter, or a member of a form, written. */
import { type JsonObject, stringOf } from '../../base/objects.ts'

/** OpenAPI §4.8.12.3; `cookie` is one of 3.2. */
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
  /** Each item of a list, each member of an object stands by itself. */
  readonly isExploded: boolean
  /** Characters that an address reserves stay as they are. */
  readonly allowsReserved: boolean
  /** The value is JSON, as content of its own. */
  readonly isJson: boolean
}

/** OpenAPI §4.8.12.2.1: what is not said depends on the place. */
export function readParameterStyle({ style, explode, allowReserved, content, in: place }: JsonObject): ParameterStyle {
  const usual = place === 'path' || place === 'header' ? 'simple' : 'form'
  const said = styleNames.find(each => each === stringOf(style)) ?? usual
  return {
    style: said,
    isExploded: typeof explode === 'boolean' ? explode : said === 'form' || said === 'cookie',
    allowsReserved: allowReserved === true,
    isJson: content !== undefined,
  }
}
