/**
 * The handlers of an imported contract as a person would begin them: each has its input and its
 * result, and ends with `ctx.unimplemented()` until it is written.
 */
import type { PortExchange } from '../../contract/exchange.ts'
import type { AnyField } from '../../contract/field.ts'
import type { Job } from '../../contract/job.ts'
import type { AnyAction, Resource } from '../../contract/resource.ts'
import type { Service } from '../../contract/service.ts'
import { innerFields } from '../../contract/shape.ts'
import { listMembers } from '../../contract/xml-members.ts'
import type { AnyRootElement } from '../../contract/xml-type.ts'
import { quoteLiteral, wrapText, writeMemberKey } from '../../import/typescript-text.ts'

/** The parts of a contract that have handlers. */
export type HandledParts = Pick<Service, 'resources' | 'jobs' | 'ports'>

/** @param roles the roles of the contract: ann has all of them */
export function writeServiceSkeleton(parts: HandledParts, roles: readonly string[]): string {
  const handlers = [
    ...parts.resources.flatMap(writeResourceHandlers),
    ...parts.jobs.map(writeJobHandler),
    ...parts.ports.map(({ port, exchanges }) =>
      writeHandlerGroup(
        port,
        Object.entries(exchanges).map(([name, exchange]) => writeExchangeHandler(name, exchange)),
      ),
    ),
  ]
  const people = `{ subject: 'ann', password: 'ann-secret', roles: [${roles.map(quoteLiteral).join(', ')}] }`
  return `/** The handlers of contract.ts: each that ends with ctx.unimplemented() is still to be written. */
import { implement } from 'diglot'
import { contract } from './contract.ts'

export default implement(
  contract,
  {
${handlers.join('')}  },
${roles.length > 0 ? `  { seed: () => ({ people: [${people}] }) },\n` : ''})
`
}

const writeHandlerGroup = (name: string, handlers: readonly string[]): string =>
  `    ${writeMemberKey(name)}: {\n${handlers.join('')}    },\n`

/** A comment of whole sentences, then the handler. */
const writeHandler = (about: readonly string[], handler: string): string =>
  [...wrapText(about.join(' '), 100).map(line => `      // ${line}`), `      ${handler},`, ''].join('\n')

// Resources

/** Whether a client can send none or only a part of it. */
const isServerMade = ({ isOptional, isReadOnly, shape }: AnyField): boolean =>
  isReadOnly ? !isOptional : innerFields(shape).some(fields => Object.values(fields).some(isServerMade))
/** The fields that `derive` computes; the address determines the parent. */
export const listDerivedFields = ({ fields, states, within }: Resource): readonly string[] =>
  Object.entries(fields)
    .filter(
      ([name, field]) =>
        name !== 'id' &&
        name !== within &&
        (name !== 'state' || states.length === 0) &&
        !field.isOptional &&
        isServerMade(field),
    )
    .map(([name]) => name)

function writeResourceHandlers(resource: Resource): readonly string[] {
  const derived = listDerivedFields(resource)
  const derive = `Returns ${writeShape(derived)}: no client sends them.`
  const handlers = [
    ...(derived.length > 0 ? [writeHandler([derive], 'derive: (ctx, draft, current) => ctx.unimplemented()')] : []),
    ...Object.entries(resource.actions).map(([verb, action]) => writeActionHandler(verb, action)),
  ]
  return handlers.length > 0 ? [writeHandlerGroup(resource.name, handlers)] : []
}

function writeActionHandler(verb: string, { from, to, effect, input, output, faults }: AnyAction): string {
  const moves = to === undefined ? [] : [`From ${from.join(' or ')} to ${to}.`]
  const outcome =
    effect === 'read'
      ? `Returns ${writeShape(Object.keys(output ?? {}))}.`
      : effect === 'move'
        ? 'Returns { to }: the item that takes its place.'
        : output
          ? `Returns { output: ${writeShape(Object.keys(output))} }, and set: { … } for fields to change.`
          : 'Returns { set: { … } } for fields to change, or nothing.'
  const parameters = ['ctx', 'item', ...writeInputParameter(Object.keys(input))]
  return writeHandler(
    [...moves, outcome, ...tellFaults(faults.map(each => each.fault))],
    `${writeMemberKey(verb)}: (${parameters.join(', ')}) => ctx.unimplemented()`,
  )
}

function writeJobHandler({ job, input, output, faults }: Job): string {
  const parameters = ['ctx', ...writeInputParameter(Object.keys(input))]
  const about = [`Returns ${writeShape(Object.keys(output))}.`, ...tellFaults(faults.map(each => each.fault))]
  const run = writeHandler(about, `run: async (${parameters.join(', ')}) => ctx.unimplemented()`)
  return writeHandlerGroup(job, [run])
}

// Ports

function writeExchangeHandler(name: string, { input, output, faults }: PortExchange): string {
  const isEmpty = input === 'empty' || describeValue(input) === '{}'
  const given = isEmpty ? '_' : (writeInputParameter(listValueMembers(input))[0] ?? 'input')
  const outcome = typeof output === 'object' ? `Returns ${describeValue(output)}.` : 'Returns nothing.'
  return writeHandler(
    [outcome, ...tellFaults(Object.keys(faults))],
    `${writeMemberKey(name)}: (${given}, ctx) => ctx.unimplemented()`,
  )
}

/** The members of an object; any other value has none. */
function listValueMembers(root: AnyRootElement): readonly string[] {
  const { definition } = root.type()
  return definition.kind === 'complex' && !root.isNillable
    ? listMembers(definition, root.form).map(({ key }) => key)
    : []
}
function describeValue(root: AnyRootElement): string {
  const { definition } = root.type()
  if (definition.kind === 'array') return 'an array'
  return definition.kind === 'complex' && !root.isNillable ? writeShape(listValueMembers(root)) : 'its value'
}

// Text

const membersShown = 8
const writeShape = (names: readonly string[]): string => {
  if (names.length === 0) return '{}'
  const members = names.slice(0, membersShown).map(writeMemberKey)
  return `{ ${[...members, ...(names.length > membersShown ? ['…'] : [])].join(', ')} }`
}
const tellFaults = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`Faults: ${names.join(', ')}.`]

/** The names of its members, unless they are many or not valid as names of variables. */
function writeInputParameter(names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  const isPlain = names.length <= membersShown && names.every(isFreeName)
  return [isPlain ? `{ ${names.join(', ')} }` : 'input']
}
const isFreeName = (name: string): boolean => /^[a-z_$][\w$]*$/i.test(name) && !takenNames.has(name)
const takenNames = new Set(
  'ctx item input contract implement break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with let static implements interface package private protected public yield await async arguments eval'.split(
    ' ',
  ),
)
