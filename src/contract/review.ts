/**
 * Mistakes in a contract that types cannot detect, found at start, each with its place and its
 * cure: a policy that cannot be enforced, a link that leads nowhere, a name that XML cannot carry.
 * A service with a mistake does not start.
 */

import { headersOf } from './header.ts'
import type { Implementation } from './implement.ts'
import type { Job } from './job.ts'
import { findUnknownMembers, type MembersOf } from './member-kinds.ts'
import { listOperations } from './operation.ts'
import { findReservedNames } from './reserved-names.ts'
import { findOneMistakes, findRepeated, segmentText } from './review/declared-names.ts'
import {
  findEndpointMistakes,
  findFaceMistakes,
  findFaultMistakes,
  findHeaderMistakes,
} from './review/face-mistakes.ts'
import { findAllFieldMistakes, findFieldMistakes } from './review/field-mistakes.ts'
import { findHandlerMistakes, findUncallable, findUnknownHandlers } from './review/handler-mistakes.ts'
import { findPortMistakes } from './review/port-mistakes.ts'
import { findMistakesOfResource } from './review/resource-mistakes.ts'
import { findRateMistakes } from './review/rule-mistakes.ts'
import { findVersionMistakes } from './review/version-mistakes.ts'
import type { Service } from './service.ts'

/** Thrown at start: all mistakes, one per line. */
export class ContractMistakes extends Error {
  readonly mistakes: readonly string[]
  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/** All mistakes in an application's contract and handlers; empty if it may start. */
export function findContractMistakes(app: Implementation): readonly string[] {
  const { contract } = app
  return [
    ...nameMistakes(contract),
    ...contract.resources.flatMap(resource => findMistakesOfResource(contract, resource)),
    ...contract.jobs.flatMap(job => [
      ...findAllFieldMistakes(contract, `${job.job}.input`, job.input),
      ...findAllFieldMistakes(contract, `${job.job}.output`, job.output),
      ...(app.handlers[job.job]?.run ? [] : [`${job.job} has no handler: give implement() a ${job.job}.run`]),
      ...findUncallable(app, job.job),
      ...findOneMistakes(`the job ${job.job}`, job.one),
      ...findUnknownMembers(`the job ${job.job}`, job, jobMembers),
      ...findJobNumberMistakes(job),
      ...(job.limit === undefined ? [] : findRateMistakes(`the limit of the job ${job.job}`, job.limit)),
      ...findUnknownHandlers(app, job.job, []),
    ]),
    ...Object.keys(app.handlers)
      .filter(
        name => ![...contract.resources.map(each => each.name), ...contract.jobs.map(each => each.job)].includes(name),
      )
      .map(
        name => `implement() has handlers of "${name}", which is not a resource or job of the contract: remove them`,
      ),
    ...contract.ports.flatMap(port => findPortMistakes(app, port)),
    ...searchMistakes(contract),
    ...findUnknownMembers(`the limits of ${contract.service}`, contract.limits, { reads: true, changes: true }),
    ...Object.entries(contract.limits).flatMap(([doing, rate]) => findRateMistakes(`the limit of ${doing}`, rate)),
    ...findVersionMistakes(contract, (place, field) => findFieldMistakes(contract, place, field)),
    ...findEndpointMistakes(contract),
    ...findFaceMistakes(contract),
    ...headersOf(contract).flatMap(each => findHeaderMistakes(contract, each)),
    ...findFaultMistakes(contract),
    ...contract.resources.flatMap(resource => findHandlerMistakes(app, resource)),
    ...findRepeated(listOperations(contract).map(operation => operation.name)).map(
      name => `two operations are named ${name}: give one of the resources another \`one\`, or the action another name`,
    ),
  ]
}
/** Timers hold 2³¹ ms. */
const timeLimitMaxSeconds = 2_147_483
function findJobNumberMistakes(job: Job): string[] {
  const numbers = ['tries', 'timeLimit', 'keep'] as const
  return [
    ...numbers
      .filter(name => typeof job[name] !== 'number' || !(job[name] > 0))
      .map(name => `the job ${job.job}: ${name} must be a number above 0`),
    ...(job.timeLimit > timeLimitMaxSeconds
      ? [`the job ${job.job}: timeLimit is ${job.timeLimit}, and may be at most ${timeLimitMaxSeconds} seconds`]
      : []),
  ]
}
const jobMembers: MembersOf<Job> = {
  job: true, one: true, input: true, output: true, faults: true, allow: true, limit: true, tries: true, timeLimit: true, keep: true,
  title: true, description: true,
} // biome-ignore format: a list of names reads best in few lines

function nameMistakes(contract: Service): string[] {
  const names = [...contract.resources.map(each => each.name), ...contract.jobs.map(each => each.job)]
  return [
    ...(/^[a-z][A-Za-z0-9-]*$/.test(contract.service)
      ? []
      : [
          `"${contract.service}" is not a valid name of a service: start with a lower-case letter, and use letters, digits and "-"`,
        ]),
    ...(/^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(contract.namespace)
      ? []
      : [`namespace "${contract.namespace}" is not an absolute URI: use urn:… or https://…`]),
    ...names
      .filter(name => !segmentText.test(name))
      .map(name => `"${name}" is not a valid path segment: use a plural noun in lower case, such as orders`),
    ...findReservedNames(contract),
    ...findRepeated([...names, ...contract.ports.map(each => each.port)]).map(
      name => `"${name}" is declared twice: give each resource, job and port a name of its own`,
    ),
  ]
}

function searchMistakes({ searches, resources }: Service): string[] {
  if (!searches) return []
  const resource = resources.find(each => each.name === searches.of)
  if (!resource) return [`searches name "${searches.of}", which is not a resource: name one of the service's`]
  if (resource.isSingle) return [`searches name ${resource.name}, which is single: name a resource that has a list`]
  if (resource.within !== undefined)
    return [
      `searches name ${resource.name}, whose items are found only in one ${resource.within}: name a resource that is within none, or let its callers search in each`,
    ]
  return resource.given.search && resource.given.search.length > 0
    ? []
    : [`searches name ${resource.name}, which has no text to search: name string fields in its rules({ search: … })`]
}

/** Throws all mistakes together, so that a developer can correct them together. */
export function requireSoundContract(app: Implementation): Implementation {
  const mistakes = findContractMistakes(app)
  if (mistakes.length > 0) throw new ContractMistakes(mistakes)
  return app
}
