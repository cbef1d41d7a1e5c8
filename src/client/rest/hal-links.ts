/** The links of a representation (draft-kelly-json-hal §5): every address that the client asks. */
import type { Json } from '../../base/objects.ts'
import { expandTemplate, type TemplateValues } from '../../http/uri-template.ts'
import { isJsonRecord } from './exact-json.ts'

export class HalLinks {
  readonly #links: { readonly [relation: string]: Json }
  readonly #base: URL

  /** @param base the address of the representation, to which its links are relative */
  constructor(links: Json | undefined, base: URL) {
    this.#links = isJsonRecord(links) ? links : {}
    this.#base = base
  }

  get relations(): readonly string[] {
    return Object.keys(this.#links)
  }

  /** `values` are those of a template. */
  find(relation: string, values: TemplateValues = {}): URL | undefined {
    const link = Object.hasOwn(this.#links, relation) ? this.#links[relation] : undefined
    if (!isJsonRecord(link) || typeof link['href'] !== 'string') return undefined
    const href = link['templated'] === true ? expandTemplate(link['href'], values) : link['href']
    return href === undefined ? undefined : (URL.parse(href, this.#base) ?? undefined)
  }
}
