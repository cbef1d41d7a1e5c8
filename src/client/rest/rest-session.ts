/** What the parts of a REST client share: the wire, the links of the entry, and what was read. */
import type { Values } from '../../contract/implement.ts'
import { Resource } from '../../contract/resource.ts'
import { newestVersion, type Service, type VersionRule } from '../../contract/service.ts'
import { fieldsInVersion } from '../../contract/version-fields.ts'
import { NotOfferedError } from '../errors.ts'
import type { RequestOptions } from '../surface-types.ts'
import { waitUnlessAborted } from '../timer.ts'
import type { HalLinks, LinkValues } from './hal-links.ts'
import { listFaultsByName } from './problem-reader.ts'
import { type HalDocument, readDocument } from './representation-reader.ts'
import type { RestClientOptions } from './rest-options.ts'
import { refuseReply } from './rest-reply.ts'
import { RestWire } from './rest-wire.ts'

/** The facts of a representation besides its values. */
export interface ItemFacts {
  readonly links: HalLinks
  /** Undefined for an item of a page, which has no tag of its own. */
  readonly etag: string | undefined
  readonly members: HalDocument['members']
  /** Only some members were requested. */
  readonly isPart: boolean
}

export class RestSession {
  /** The resource in the client's version of the contract. */
  readonly service: Service
  /** The names of its fields in that version. */
  readonly rule: VersionRule
  readonly wire: RestWire
  readonly #version: string
  readonly #entry: URL
  readonly #facts = new WeakMap<object, ItemFacts>()
  #links: Promise<HalLinks> | undefined

  constructor(contract: Service, options: RestClientOptions) {
    const entry = URL.parse(options.address)
    if (!entry || !/^https?:$/.test(entry.protocol))
      throw new TypeError(
        `${options.address} is not an http or https address: give one such as https://shop.example/api`,
      )
    if (entry.username !== '' || entry.password !== '')
      throw new TypeError('the address contains credentials: give them as `credentials`')
    this.#version = options.version ?? newestVersion(contract)
    if (!Object.hasOwn(contract.versions, this.#version))
      throw new TypeError(
        `unknown version ${this.#version} of ${contract.service}: use ${Object.keys(contract.versions).join(', ')}`,
      )
    const rule = contract.versions[this.#version] ?? {}
    this.rule = rule
    this.service = {
      ...contract,
      resources: contract.resources.map(each => new Resource({ ...each, fields: fieldsInVersion(rule, each) })),
    }
    this.#entry = entry
    this.wire = new RestWire(options, entry, listFaultsByName(contract))
  }

  /** A link of the entry, which is read once. */
  async findEntryLink(
    operation: string,
    relation: string,
    options: RequestOptions | undefined,
    values?: LinkValues,
  ): Promise<URL> {
    this.#links ??= this.#readEntry(operation).catch(thrown => {
      this.#links = undefined // the next call requests it again
      throw thrown
    })
    const links = await waitUnlessAborted(this.#links, options?.signal)
    return links.find(relation, values) ?? refuseUnoffered(operation, relation, links)
  }

  /** All waiting calls share it, so the signal of one does not end it. */
  async #readEntry(operation: string): Promise<HalLinks> {
    const reply = await this.wire.read({ operation, target: this.#entry })
    const { members, links } = readDocument(operation, reply)
    const { service } = this.service
    const isVersion = members['version'] === this.#version
    const target = links.find(this.#version)
    if (members['service'] !== service || !(isVersion || target))
      return refuseReply(operation, 'unexpected', `it is not the entry of ${service} ${this.#version}`, reply)
    if (isVersion || !target) return links
    return readDocument(operation, await this.wire.read({ operation, target })).links
  }

  remember(value: Values, facts: ItemFacts): void {
    this.#facts.set(value, facts)
  }

  /** @throws TypeError for a value that this client has not read */
  requireFacts(operation: string, value: object): ItemFacts {
    const facts = this.#facts.get(value)
    if (facts) return facts
    throw new TypeError(`${operation}: the item was not read by this client: get it first, and give it as it was read`)
  }
}

export function requireLink(operation: string, links: HalLinks, relation: string): URL {
  return links.find(relation) ?? refuseUnoffered(operation, relation, links)
}

function refuseUnoffered(operation: string, relation: string, links: HalLinks): never {
  throw new NotOfferedError(operation, relation, links.relations)
}
