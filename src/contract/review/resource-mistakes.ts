/** Mistakes in a resource: its fields, states, actions and files. */

import { reachableStates } from '../machine.ts'
import { findUnknownMembers, type MembersOf } from '../member-kinds.ts'
import { isNestedRelation, listNested } from '../nesting.ts'
import type { AnyAction, ListRule, Resource, Rules } from '../resource.ts'
import type { Service } from '../service.ts'
import { findOneMistakes, findRepeated, pathSegmentText, segmentText } from './declared-names.ts'
import { findAllFieldMistakes, findResourceFieldMistakes } from './field-mistakes.ts'
import { findNestingMistakes } from './nesting-mistakes.ts'
import { findResourceRuleMistakes } from './rule-mistakes.ts'

/** What a file may be declared to be. */
export const mediaTypeText = /^[\w.+*-]+\/[\w.+*-]+/

const ruleMembers: MembersOf<Rules> = {
  one: true, relations: true, filter: true, sort: true, order: true, indexes: true, unique: true, unserved: true, search: true,
  searchBy: true, edit: true, remove: true, putCreates: true, bulk: true, precondition: true, allow: true, faults: true, limits: true, cache: true,
  messages: true,
} // biome-ignore format: a list of names reads best in few lines

export function findMistakesOfResource(contract: Service, resource: Resource): string[] {
  const { name, fields, actions, states } = resource
  const unreachable = states.filter(state => states[0] && !reachableStates(resource.machine, states[0]).has(state))
  const relations = [...Object.values(actions).map(action => action.rel), ...Object.keys(resource.files)]
  const lists = Object.entries(resource.given.relations ?? {}).flatMap(([rel, relation]) =>
    'of' in relation && !isNestedRelation(relation, resource, contract.resources) ? [[rel, relation.of] as const] : [],
  )
  const nested = listNested(resource, contract.resources).map(each => each.name)
  const places = [...relations, ...lists.map(([, of]) => of), ...nested]
  const rels = [...relations, ...lists.map(([rel]) => rel), ...nested]
  return [
    ...(fields['id']?.shape.kind === 'id' ? [] : [`${name} has no identifier: declare \`id: t.id('…')\``]),
    ...(resource.isSingle ? singleMistakes(resource) : []),
    ...findNestingMistakes(contract, resource),
    ...findResourceFieldMistakes(contract, name, fields),
    ...findRepeated(states).map(state => `${name} declares the state "${state}" twice: declare it once`),
    // An action that names an unknown state may be why another one is never reached.
    ...Object.entries(actions).flatMap(([verb, action]) => actionMistakes(contract, resource, verb, action)),
    ...unreachable.map(
      state => `${name} never reaches the state "${state}": add a transition that leads there from "${states[0]}"`,
    ),
    ...findUnknownMembers(`${name}.rules`, resource.given, ruleMembers),
    ...findOneMistakes(name, resource.given.one),
    ...Object.entries(actions)
      .filter(([verb, action]) => action.effect !== 'read' && !Object.hasOwn(resource.given.allow, verb))
      .map(
        ([verb]) =>
          `${name}.${verb} has no policy, so it is offered to no caller: name it in rules({ allow: { ${verb}: […] } }), with [] to switch it off`,
      ),
    ...[...new Set([...findRepeated(places), ...findRepeated(rels)])].map(
      path => `${name} uses the path /${path} twice: give one of them another rel, or remove a relation`,
    ),
    ...Object.entries(resource.files).flatMap(([part, file]) => [
      ...(pathSegmentText.test(part)
        ? []
        : [`${name}.${part} is not a valid path segment: use a noun, such as picture`]),
      ...(file.max > 0 && file.mediaTypes.length > 0
        ? []
        : [`${name}.${part} needs a media type and a max above 0: write it as ${fileExample}`]),
      ...file.mediaTypes
        .filter(each => !mediaTypeText.test(each))
        .map(each => `${name}.${part}: "${each}" is not a media type: write it as image/png`),
    ]),
    ...findResourceRuleMistakes(contract, resource),
  ]
}

const listRules: readonly ListRule[] = [
  'filter',
  'sort',
  'order',
  'indexes',
  'unique',
  'unserved',
  'search',
  'searchBy',
  'putCreates',
  'bulk',
]

/** Rules that need several items, or name one among them. */
function singleMistakes({ name, fields, given, actions }: Resource): string[] {
  const { bulk, ...others } = given.allow
  const creates = (others.create?.length ?? 0) > 0
  return [
    ...(fields['id']?.isInternal ? [] : [`${name} is single, so its item has no identifier: leave id out`]),
    ...listRules
      .filter(rule => given[rule] !== undefined)
      .map(rule => `${name} is single and has no list: leave ${rule} out of its rules`),
    ...(bulk ? [`${name} is single and has no list: leave bulk out of allow`] : []),
    ...['list', 'search']
      .filter(message => given.messages?.includes(message))
      .map(message => `${name} is single and has no list: leave "${message}" out of messages`),
    ...Object.entries(actions)
      .filter(([, { effect }]) => effect === 'move')
      .map(([verb]) => `${name}.${verb} moves the one item that there is: let it lead to a state, or stay`),
    ...Object.entries(given.allow)
      .filter(([, grants]) => grants?.some(({ where }) => Object.hasOwn(where, 'id')))
      .map(
        ([doing]) => `${name}: allow.${doing} binds the id, which a single resource does not have: bind another field`,
      ),
    ...(creates || others.change || others.remove === undefined
      ? []
      : [`${name} is single, and may be removed but never created again: allow create, or do not allow remove`]),
  ]
}

const fileExample = "{ mediaTypes: ['image/png'], max: 1_000_000 }, max in octets"

function actionMistakes(contract: Service, { name, states }: Resource, verb: string, action: AnyAction): string[] {
  const place = `${name}.${verb}`
  const cure = states.length > 0 ? `use ${states.join(', ')}` : 'declare it in states'
  const unknown = [...action.from, ...(action.to === undefined ? [] : [action.to])].filter(
    state => !states.includes(state),
  )
  return [
    ...unknown.map(state => `${place} leads from or to the unknown state "${state}": ${cure}`),
    ...(segmentText.test(action.rel ?? '') && action.rel !== verb
      ? []
      : [
          `${place} has the rel "${action.rel}", which is not a noun of its own: use letters, digits and "-", and not "${verb}" itself; name what the action produces, such as "payment" for pay`,
        ]),
    ...(action.kept && !action.output ? [`${place} is kept but has no output: declare an output, or remove kept`] : []),
    ...findAllFieldMistakes(contract, `${place} input`, action.input),
    ...findAllFieldMistakes(contract, `${place} output`, action.output ?? {}),
  ]
}
