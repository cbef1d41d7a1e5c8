/**
 * The links of a representation (draft-kelly-json-hal §5): the client sends requests to no other
 * addresses.
 */
import { isJsonObject, type Json, type JsonObject, ownMember } from '../../base/objects.ts'

/** Values of a template; undefined ones are left out. */
export type LinkValues = Readonly<Record<string, string | number | undefined>>

export class HalLinks {
  readonly #links: JsonObject
  readonly #base: URL

  /** @param base the address of the representation, to which its links are relative */
  constructor(links: Json | undefined, base: URL) {
    this.#links = isJsonObject(links) ? links : {}
    this.#base = base
  }

  get relations(): readonly string[] {
    return Object.keys(this.#links)
  }

  /** @param values the values of a template */
  find(relation: string, values: LinkValues = {}): URL | undefined {
    const link = ownMember(this.#links, relation)
    if (!isJsonObject(link) || typeof link['href'] !== 'string') return undefined
    const href = link['templated'] === true ? expandLink(link['href'], values) : link['href']
    return href === undefined ? undefined : (URL.parse(href, this.#base) ?? undefined)
  }
}

/**
 * RFC 6570 §3.2.2, §3.2.8 and §3.2.9 for texts: `{id}`, `{?q,state}` and `{&q}`, as the service
 * writes them; undefined for other forms. A twin of `http/uri-template.ts`, which has all forms and
 * is a twentieth of what a page may load.
 */
export function expandLink(template: string, values: LinkValues): string | undefined {
  const href = template.replaceAll(/\{([?&]?)([\w.,]+)\}/g, (_, operator: string, names: string) => {
    const parts = names.split(',').flatMap(name => {
      const value = ownMember(values, name)
      if (value === undefined) return []
      return [(operator && `${name}=`) + encodeURIComponent(value)]
    })
    return parts.length === 0 ? '' : operator + parts.join(operator ? '&' : ',')
  })
  return /[{}]/.test(href) ? undefined : href
}
