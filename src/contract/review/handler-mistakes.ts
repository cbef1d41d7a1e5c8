/** Mistakes in the handlers of resources and jobs. */

import { hasComputedFields } from '../computed-fields.ts'
import type { Implementation } from '../implement.ts'
import type { Resource } from '../resource.ts'

/** Any handler that is not a general one was meant for an action. */
export const findUnknownHandlers = ({ handlers }: Implementation, name: string, verbs: readonly string[]): string[] =>
  Object.keys(handlers[name]?.actions ?? {})
    .filter(verb => !verbs.includes(verb))
    .map(
      verb =>
        `implement() has a handler ${name}.${verb}, which is not an action of the contract: ${verbs.length > 0 ? `use ${verbs.join(', ')}` : 'remove it'}`,
    )

/** Handlers that are there and are no functions. */
export const findUncallable = ({ handlers }: Implementation, name: string): string[] =>
  (['derive', 'compute', 'removing', 'receiving', 'searching', 'starting', 'run'] as const)
    .filter(each => handlers[name]?.[each] !== undefined && typeof handlers[name][each] !== 'function')
    .map(each => `implement() has ${name}.${each}, which is not a function: write it as ${name}: { ${each}: … => … }`)

export function findHandlerMistakes(app: Implementation, resource: Resource): string[] {
  const handlers = app.handlers[resource.name]
  const derived = Object.entries(resource.fields)
    .filter(
      ([name, field]) =>
        field.isReadOnly &&
        !field.isComputed &&
        !field.isOptional &&
        field.defaultValue === undefined &&
        name !== 'id' &&
        name !== resource.within &&
        (name !== 'state' || resource.states.length === 0),
    )
    .map(([name]) => name)
  return [
    ...findUnknownHandlers(app, resource.name, Object.keys(resource.actions)),
    ...findUncallable(app, resource.name),
    ...Object.keys(resource.actions)
      .filter(verb => typeof handlers?.actions[verb] !== 'function')
      .map(verb => `${resource.name}.${verb} has no handler: give implement() a function ${resource.name}.${verb}`),
    ...Object.entries(resource.actions)
      .filter(([, action]) => handlers?.keep && (action.effect === 'move' || action.kept))
      .map(
        ([verb]) =>
          `${resource.name}.${verb} moves the item or keeps an output, which only the store supports: remove keep from the handlers`,
      ),
    ...(handlers?.keep && resource.given.unique
      ? [`${resource.name} has unique keys, which only the store keeps: leave them to its provider`]
      : []),
    ...(handlers?.keep && hasComputedFields(resource)
      ? [`${resource.name} has computed fields, which only the store's items have: let its provider return them`]
      : []),
    ...(hasComputedFields(resource) !== (handlers?.compute !== undefined)
      ? [
          handlers?.compute
            ? `implement() has ${resource.name}.compute, and no field of the resource is computed(): mark its fields, or remove it`
            : `${resource.name} has computed fields: give implement() a function ${resource.name}.compute that calculates them`,
        ]
      : []),
    ...(derived.length > 0 && !handlers?.derive
      ? [
          `${resource.name} has fields that the service alone sets (${derived.join(', ')}): give implement() a function ${resource.name}.derive that calculates them, or mark them optional()`,
        ]
      : []),
  ]
}
