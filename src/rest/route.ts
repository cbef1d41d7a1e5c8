/**
 * The addresses of one version, compiled once from its operations. A path is matched segment by
 * segment, names before identifiers; a path without a route is not found (row 10), whatever the
 * method.
 */
import type { Job } from '../contract/job.ts'
import { isIdentifier } from '../contract/lexical/text.ts'
import { isNestedRelation, parentTemplateOf } from '../contract/nesting.ts'
import { countAsRead, listOperations, listTakesWords, type Operation, type OperationOf } from '../contract/operation.ts'
import { type LaterOperations, listLaterOperations, listPortOperations } from '../contract/port-operation.ts'
import { type Resource, singleId } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import { readEmptyContent } from '../contract/xml-json.ts'
import { writeAllow } from '../front/front-rows.ts'

export interface Route {
  /**
   * The path after the version, with `{id}` in place of an identifier and `{order}` of a parent's.
   */
  readonly template: string
  /** The path of the items' parent; '' if they have no parent. */
  readonly place: string
  /** Whether the last identifier of the path is an item's: the template contains `{id}`. */
  readonly isOfItem: boolean
  /**
   * Method → operation, without HEAD and OPTIONS. HEAD exists wherever GET does; OPTIONS
   * everywhere.
   */
  readonly methods: ReadonlyMap<string, Operation>
  /** The value of Allow. */
  readonly allow: string
  /**
   * `/customers/{id}/orders`: the related resource, and the field of the listed one that equals the
   * identifier.
   */
  readonly within?: { readonly of: Resource; readonly by: string }
  /** The identifier for a route without `{id}`: that of a single resource. */
  readonly id?: string
  /** Whether a query of its list may have words (`q`), as a search has. */
  readonly takesWords?: boolean
}

/** The path with identifiers in place of the names in braces, in order. */
export function fillTemplate(template: string, ids: readonly string[]): string {
  let at = 0
  return template.replace(/\{[^{}]+\}/g, name => ids[at++] ?? name)
}

interface RouteNode {
  route: Route | undefined
  readonly names: Map<string, RouteNode>
  id: RouteNode | undefined
}
const createNode = (): RouteNode => ({ route: undefined, names: new Map(), id: undefined })

export interface Routes {
  readonly root: RouteNode
  /** All routes, in the contract's order. */
  readonly all: readonly Route[]
}
export interface Match {
  readonly route: Route
  readonly id: string | undefined
  /** Identifiers of parents, in the order of the path. */
  readonly parents: readonly string[]
}
const noParents: readonly string[] = []

/** @param from the number of segments before it: `api`, and perhaps the version */
export function matchRoute(routes: Routes, segments: readonly string[], from: number): Match | undefined {
  let at: RouteNode | undefined = routes.root
  let id: string | undefined
  let parents: string[] | undefined
  for (let i = from; i < segments.length; i++) {
    const segment = segments[i] as string // within bounds
    const child: RouteNode | undefined = at.names.size > 0 ? at.names.get(segment) : undefined
    if (child) at = child
    else if (at.id && isIdentifier(segment)) {
      at = at.id
      if (id !== undefined) (parents ??= []).push(id)
      id = segment
    } else return undefined
  }
  const { route } = at
  if (!route) return undefined
  // The last identifier in a collection's address is its parent's.
  if (!route.isOfItem && id !== undefined && route.id === undefined)
    return { route, id: undefined, parents: [...(parents ?? []), id] }
  return { route, id: route.id ?? id, parents: parents ?? noParents }
}

export function compileRoutes(service: Service): Routes {
  if (!service.hasRest) return { root: createNode(), all: [] }
  const operations = listOperations(service)
    .filter(operation => !operation.oneWay)
    .map(operation => (operation.kind === 'search' ? countAsRead(service, operation) : operation))
  const owned = Map.groupBy(operations, each => ('resource' in each ? each.resource : undefined))
  const all: Route[] = [
    ...service.resources.flatMap(resource => resourceRoutes(resource, service, owned.get(resource) ?? [], operations)),
    ...searchRoutes(operations),
    ...service.jobs.flatMap(job => jobRoutes(job, operations)),
    ...listPortOperations(service).map(portRoute),
    ...listLaterOperations(service).flatMap(laterRoutes),
  ].filter(route => route.methods.size > 0)
  const root = createNode()
  for (const route of all) placeRoute(root, route)
  return { root, all }
}

function placeRoute(root: RouteNode, route: Route): void {
  let at = root
  for (const segment of route.template.split('/').slice(1)) {
    if (segment.startsWith('{')) at = at.id ??= createNode()
    else {
      const next = at.names.get(segment) ?? createNode()
      at.names.set(segment, next)
      at = next
    }
  }
  at.route = route
}

type RouteFacts = Partial<Pick<Route, 'within' | 'id' | 'place' | 'takesWords'>>

function createRoute(
  template: string,
  methods: readonly (readonly [string, Operation | undefined])[],
  facts: RouteFacts = {},
): Route {
  const methodMap = new Map(methods.filter((each): each is readonly [string, Operation] => each[1] !== undefined))
  const isOfItem = template.includes('{id}')
  return { template, isOfItem, methods: methodMap, allow: writeAllow(methodMap.keys()), place: '', ...facts }
}
/** The path of the items of a resource. */
export const collectionTemplateOf = (resource: Resource, resources: readonly Resource[]): string =>
  `${parentTemplateOf(resource, resources)}/${resource.name}`

/** The path of an item, with `{id}` for its identifier; a single resource's path has none. */
export const itemTemplateOf = (resource: Resource, resources: readonly Resource[]): string =>
  resource.isSingle ? `/${resource.name}` : `${collectionTemplateOf(resource, resources)}/{id}`

/** The path of an item after the version, or after the path of its parent. */
export const itemPathOf = ({ name, isSingle }: Resource, id: string): string =>
  isSingle ? `/${name}` : `/${name}/${id}`

function resourceRoutes(
  resource: Resource,
  service: Service,
  ofResource: readonly Operation[],
  operations: readonly Operation[],
): Route[] {
  const { resources } = service
  const findKind = (kind: Operation['kind']) => ofResource.find(each => each.kind === kind)
  const part = (kind: 'getFile' | 'putFile', name: string) =>
    ofResource.find(each => each.kind === kind && 'part' in each && each.part === name)
  const item = itemTemplateOf(resource, resources)
  const place = parentTemplateOf(resource, resources)
  const facts = resource.isSingle ? { id: singleId } : { place }
  const collection = createRoute(
    `${place}/${resource.name}`,
    [
      ['GET', findKind('list')],
      ['POST', findKind('create')],
      ['DELETE', findKind('bulk')],
      ['QUERY', findKind('search')],
    ],
    { place, takesWords: listTakesWords(service, resource) },
  )
  const itself = createRoute(
    item,
    [
      ['GET', findKind('get')],
      // If a single resource may be created but not changed, PUT does only that.
      ['PUT', findKind('replace') ?? (resource.isSingle ? findKind('create') : undefined)],
      ['PATCH', findKind('patch')],
      ['DELETE', findKind('remove')],
    ],
    facts,
  )
  return [
    ...(resource.isSingle ? [itself] : [collection, itself]),
    ...Object.keys(resource.files).map(name =>
      createRoute(
        `${item}/${name}`,
        [
          ['GET', part('getFile', name)],
          ['PUT', part('putFile', name)],
        ],
        facts,
      ),
    ),
    ...actionRoutes(item, resource, ofResource, facts),
    ...Object.values(resource.given.relations ?? {}).flatMap(relation => {
      if (!('of' in relation) || isNestedRelation(relation, resource, resources)) return []
      const list = operations.find(each => each.kind === 'list' && each.resource.name === relation.of)
      if (list?.kind !== 'list') return []
      const within = { of: resource, by: relation.by }
      const takesWords = listTakesWords(service, list.resource)
      return [createRoute(`${item}/${relation.of}`, [['GET', list]], { within, takesWords })]
    }),
  ]
}

/** Actions with the same path share a route: the result of an action is read at its address. */
function actionRoutes(item: string, resource: Resource, ofResource: readonly Operation[], facts: RouteFacts): Route[] {
  const paths = new Set(Object.values(resource.actions).map(action => action.rel))
  return [...paths].map(rel => {
    const actions = ofResource.filter(each => 'action' in each && each.action.rel === rel)
    return createRoute(
      `${item}/${rel}`,
      [
        ['GET', actions.find(each => each.kind === 'look' || each.kind === 'kept')],
        ['POST', actions.find(each => each.kind === 'act')],
      ],
      facts,
    )
  })
}

function searchRoutes(operations: readonly Operation[]): Route[] {
  const create = operations.find(each => each.kind === 'createSearch')
  if (create?.kind !== 'createSearch') return []
  const search = operations.find(each => each.kind === 'search' && each.resource === create.resource)
  return [
    createRoute('/searches', [['POST', create]]),
    createRoute('/searches/{id}', [['GET', operations.find(each => each.kind === 'getSearch')]]),
    createRoute('/search', [['GET', search]]),
  ]
}

function jobRoutes(job: Job, operations: readonly Operation[]): Route[] {
  const findKind = (kind: Operation['kind']) =>
    operations.find(each => each.kind === kind && 'job' in each && each.job === job)
  return [
    createRoute(`/${job.job}`, [['POST', findKind('startJob')]]),
    createRoute(`/${job.job}/jobs/{id}`, [['GET', findKind('getJob')]]),
    createRoute(`/${job.job}/jobs/{id}/cancellation`, [['POST', findKind('cancelJob')]]),
    createRoute(`/${job.job}/{id}`, [['GET', findKind('getResult')]]),
  ]
}

/** A safe exchange can also be called by QUERY (RFC 10008), and by GET if it has no input. */
function portRoute(operation: OperationOf<'exchange'>): Route {
  const { input } = operation.exchange
  const mayBeAsked = input === 'empty' || readEmptyContent(input) !== 'none'
  return createRoute(`/${operation.port.port}/${operation.exchangeName}`, [
    ['GET', operation.safe && mayBeAsked ? operation : undefined],
    ['POST', operation],
    ['QUERY', operation.safe && input !== 'empty' ? operation : undefined],
  ])
}

const laterRoutes = ({ job, get, cancel, answer }: LaterOperations): Route[] => [
  createRoute(`/${job.job}/jobs/{id}`, [['GET', get]]),
  createRoute(`/${job.job}/jobs/{id}/cancellation`, [['POST', cancel]]),
  createRoute(`/${job.job}/{id}`, [['GET', answer]]),
]
