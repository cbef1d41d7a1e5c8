/** The schemas of one version: items and their drafts, pages, jobs, outputs, problems. */
import type { Fault } from '../../contract/fault.ts'
import type { Fields } from '../../contract/field.ts'
import { type FilterField, findFilterField } from '../../contract/filter-field.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { listNested } from '../../contract/nesting.ts'
import { type Operation, singularOf } from '../../contract/operation.ts'
import type { Resource } from '../../contract/resource.ts'
import { jobFields, toXmlName } from '../../contract/xml-message.ts'
import { type JsonSchema, requiredMembers, Schemas, scalarSchema } from '../json-schema.ts'
import { linksSchema, type Members, problemMembers, problemXml } from './openapi-components.ts'

export class VersionSchemas {
  readonly #schemas: Schemas
  readonly #namespace: string
  readonly #resources: readonly Resource[]
  /** @param namespace the namespace of the version's XML */
  constructor(prefix: string, namespace: string, resources: readonly Resource[]) {
    this.#schemas = new Schemas(prefix)
    this.#namespace = namespace
    this.#resources = resources
  }

  get all(): Readonly<Record<string, JsonSchema>> {
    return this.#schemas.all
  }

  item(resource: Resource): JsonSchema {
    const schema = this.#schemas.object(resource.fields, 'response', {
      _links: linksSchema(relationsOf(resource, this.#resources), ['self']),
    })
    const name = singularOf(resource)
    return this.#schemas.define(capitalize(name), { ...schema, ...resourceTexts(resource), xml: this.#root(name) })
  }

  /**
   * An item as a client sends it. Fields that a grant ties to a claim of the caller may be left
   * out.
   */
  draft({ kind, resource, grants }: Operation & { readonly resource: Resource }): JsonSchema {
    const schema = this.#schemas.object(resource.fields, 'content', sentLinks)
    const owned = kind === 'create' ? new Set(grants.flatMap(({ where }) => Object.keys(where))) : new Set<string>()
    const required = requiredMembers(schema).filter(name => !owned.has(name))
    const name = singularOf(resource)
    const wished = `${capitalize(name)}${owned.size > 0 ? 'New' : ''}Draft`
    return this.#schemas.define(wished, { ...schema, required, xml: this.#root(name) })
  }

  /** RFC 7396: only the changes. */
  patch(resource: Resource): JsonSchema {
    const schema = this.#schemas.object(resource.fields, 'patch', sentLinks)
    return this.#schemas.define(`${capitalize(singularOf(resource))}Patch`, schema)
  }

  /** @param element the root in XML */
  input(fields: Fields, operation: string, element: string): JsonSchema {
    const schema = this.#schemas.object(fields, 'content')
    return this.#schemas.define(`${operation}Input`, { ...schema, xml: this.#root(element) })
  }

  /** A page of what a stored search finds, with the search itself. */
  resultsPage(resource: Resource): JsonSchema {
    return this.page(resource, { id: { type: 'string' }, q: { type: 'string' }, ...criteriaMembers(resource) })
  }
  page(resource: Resource, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
    const item = { ...this.item(resource), xml: { name: toXmlName(singularOf(resource)) } }
    const properties = { ...more, items: { type: 'array', items: item }, ...pageMembers }
    return this.#schemas.define(`${capitalize(resource.name)}${'q' in more ? 'Search' : 'Page'}`, {
      type: 'object',
      properties,
      required: ['items', '_links'],
      xml: this.#root(resource.name),
    })
  }

  /** What to search for, and the fields that narrow the search. */
  criteria(resource: Resource): JsonSchema {
    const properties = { q: { type: 'string' }, ...criteriaMembers(resource) }
    const schema = { type: 'object', properties, additionalProperties: false, xml: this.#root('search') }
    return this.#schemas.define(`${capitalize(resource.name)}Criteria`, schema)
  }
  /** What was searched for, without the results, which are read page by page. */
  search(resource: Resource): JsonSchema {
    const criteria = { q: { type: 'string' }, ...criteriaMembers(resource) }
    return this.#schemas.define(`${capitalize(resource.name)}Query`, {
      type: 'object',
      properties: { id: { type: 'string' }, ...criteria, _links: linksSchema([]) },
      required: ['id', '_links'],
      xml: this.#root('search'),
    })
  }

  job(): JsonSchema {
    return this.linked('Job', jobFields, ['cancel', 'related'])
  }

  /** A response with links: a job, the output of an action or of a job. */
  linked(name: string, fields: Fields, relations: readonly string[] = ['related']): JsonSchema {
    const schema = this.#schemas.object(fields, 'response', { _links: linksSchema(relations) })
    return this.#schemas.define(capitalize(name), { ...schema, xml: this.#root(name) })
  }

  /** RFC 9457 §3.2: the members of every problem and those of the fault; `type` names it. */
  problem({ fault, detail }: Fault, types: readonly string[]): JsonSchema {
    const own = this.#schemas.object(detail, 'response')
    const typeSchema = { type: 'string', format: 'uri-reference', enum: types }
    return this.#schemas.define(`${fault}Problem`, {
      type: 'object',
      properties: { ...problemMembers, ...(own['properties'] as Members), type: typeSchema },
      required: ['type', 'status', ...requiredMembers(own)],
      xml: problemXml,
    })
  }

  readonly #root = (name: string): JsonSchema => ({ name: toXmlName(name), namespace: this.#namespace })
}

const sentLinks: Readonly<Record<string, JsonSchema>> = { _links: { type: 'object', readOnly: true } }

const pageMembers: Readonly<Record<string, JsonSchema>> = {
  total: {
    type: 'integer',
    minimum: 0,
    description: 'All matches; absent if there are many, unless Prefer: count=exact is sent, and on pages by cursor.',
  },
  looked: {
    type: 'integer',
    minimum: 0,
    description:
      'How many items were examined for this page, as many as one request may examine: further ones may match, and `next` leads to them.',
  },
  _links: linksSchema(['next', 'previous', 'up', 'search', 'item', 'create']),
}

/**
 * The title precedes the description: a generator that names its types after titles would find the
 * same one in two versions.
 */
function resourceTexts({ texts: { title, description } }: Resource): JsonSchema {
  const texts = [title, description].filter(text => text !== undefined)
  return texts.length === 0 ? {} : { description: texts.join('\n\n') }
}

/** Every link that an item may have: some clients refuse one that they do not know. */
function relationsOf(resource: Resource, resources: readonly Resource[]): readonly string[] {
  const actions = Object.values(resource.actions).map(({ link }) => link)
  const collection = resource.isSingle ? [] : ['collection']
  const up = resource.within === undefined ? [] : ['up']
  const nested = listNested(resource, resources).map(({ name }) => name)
  const own = [...Object.keys(resource.given.relations ?? {}), ...Object.keys(resource.files)]
  return [...new Set([...collection, ...up, 'edit', 'delete', ...nested, ...own, ...actions])]
}

const criteriaMembers = (resource: Resource): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    comparedFields(resource, resource.given.searchBy ?? []).map(([name, { shape }]) => [name, scalarSchema(shape)]),
  )

/** The fields with these names that a query can compare. */
export const comparedFields = (
  resource: Resource,
  names: readonly string[],
): readonly (readonly [name: string, found: FilterField])[] =>
  names.flatMap(name => {
    const found = findFilterField(resource, name)
    return found ? [[name, found] as const] : []
  })
