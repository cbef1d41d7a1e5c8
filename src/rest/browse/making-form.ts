/** The form that creates a single resource, on the page that says that it does not exist. */
import { fillDefaults } from '../../contract/default-values.ts'
import { openFieldsOf } from '../../contract/field-access.ts'
import { isCreatedByPut } from '../../contract/operation.ts'
import { mayEverBeAllowed } from '../../contract/policy.ts'
import { labelOf, type PageMarkup, writeSection } from '../../html/element.ts'
import { toTextTree } from '../../html/text-tree.ts'
import type { Exchange } from '../exchange.ts'
import { itemPathOf, itemTemplateOf } from '../route.ts'
import { type FormSpec, listAddresses, writeForm } from './forms.ts'

/** Empty unless the page is that of a single resource that this caller may create. */
export function writeCreationForm(exchange: Exchange, status: number | undefined): PageMarkup {
  const form = status === 404 && exchange.operation?.kind === 'get' ? findCreationForm(exchange) : undefined
  return form ? writeSection('What can be done now', { id: 'actions' }, writeForm(form)) : ''
}

/** The PUT by which this caller may create the single resource of the exchange. */
export function findCreationForm(exchange: Exchange): FormSpec | undefined {
  const { operation, edition, base, caller, entry } = exchange
  const resource = operation && 'resource' in operation && operation.resource.isSingle ? operation.resource : undefined
  if (!resource || !isCreatedByPut(resource)) return undefined
  const at = itemTemplateOf(resource, edition.service.resources)
  const put = edition.routes.all.find(({ template }) => template === at)?.methods.get('PUT')
  const grants = [resource.given.allow.create ?? [], put?.grants ?? []]
  if (!grants.every(each => mayEverBeAllowed(each, caller, entry.now))) return undefined
  const fields = openFieldsOf(resource, { caller, now: entry.now })
  const tree = toTextTree(fields, fillDefaults(fields, {}))
  const href = base + itemPathOf(resource, '')
  return {
    rel: 'create',
    title: `Create the ${labelOf(resource.name).toLowerCase()}`,
    href,
    method: 'PUT',
    fields,
    tree,
    choices: listAddresses(exchange),
  }
}
