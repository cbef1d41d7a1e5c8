/**
 * Resources whose items belong to items of others: `notes` within their field `order`. `review`
 * ensures at start that a chain of parents ends; before that, readers stop at the bound.
 */
import type { AnyField } from './field.ts'
import type { Resource } from './resource.ts'

/** How deep resources may be nested: a resource, and three above it. */
export const nestingDepthMax = 4

/** Names that messages and addresses already use. */
const takenNames = ['id', 'state', 'version', 'page', 'size', 'cursor', 'sort', 'q', 'where', 'fields']
export const isFreeParentName = (field: string): boolean => !takenNames.includes(field)

/** What an item belongs to: the parent's resource, and the field that names it. */
export interface NestingStep {
  readonly by: string
  readonly parent: Resource
}

/** The parent of each item of a resource; undefined if its items have none. */
export function findParent(resource: Resource, resources: readonly Resource[]): NestingStep | undefined {
  const { within } = resource
  const name = within === undefined ? undefined : refersTo(resource.fields[within])
  const parent = name === undefined ? undefined : resources.find(each => each.name === name)
  return parent && within !== undefined ? { by: within, parent } : undefined
}
const refersTo = (field: AnyField | undefined): string | undefined =>
  field?.shape.kind === 'ref' ? field.shape.resource : undefined

/** The parents of a resource, nearest first. */
export function listAncestors(resource: Resource, resources: readonly Resource[]): readonly NestingStep[] {
  const steps: NestingStep[] = []
  let step = findParent(resource, resources)
  while (step && steps.length < nestingDepthMax) {
    steps.push(step)
    step = findParent(step.parent, resources)
  }
  return steps
}

/** The resources whose items belong to items of this one. */
export const listNested = ({ name }: Resource, resources: readonly Resource[]): readonly Resource[] =>
  resources.filter(({ fields, within }) => within !== undefined && refersTo(fields[within]) === name)

/** Whether a relation leads to the items that are in one of `of`. */
export const isNestedRelation = (
  relation: { readonly of?: string; readonly by: string },
  of: Resource,
  resources: readonly Resource[],
): boolean => listNested(of, resources).some(({ name, within }) => name === relation.of && within === relation.by)

/** The address of the parent, with a name for each identifier; '' if items have no parent. */
export function parentTemplateOf(resource: Resource, resources: readonly Resource[]): string {
  const steps = listAncestors(resource, resources)
  return steps.reduceRight((path, { by, parent }) => `${path}/${parent.name}/{${by}}`, '')
}

/** The paths of each resource's items, below the entry: `/orders/{order}/notes`. */
export const listCollectionPaths = (resources: readonly Resource[]): readonly string[] =>
  resources.map(each => `${parentTemplateOf(each, resources)}/${each.name}`)
