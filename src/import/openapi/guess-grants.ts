/** The callers that security schemes name: scopes become roles, no credentials means anyone. */
import { anyone, type Grant, role } from '../../contract/policy.ts'
import type { Losses } from '../loss.ts'
import type { RestOperation } from './operations.ts'

/** The role of a caller with credentials if no scope names one. */
const userRole = 'user'

export class Grants {
  readonly #roles = new Map<string, Grant>()
  readonly #losses: Losses
  constructor(losses: Losses) {
    this.#losses = losses
  }

  /** The grants for all these operations together; undefined ones are ignored. */
  of(...operations: readonly (RestOperation | undefined)[]): readonly Grant[] {
    const all = new Set(operations.flatMap(each => (each ? this.#grants(each) : [])))
    return all.has(anyone) ? [anyone] : [...all]
  }

  #grants({ security }: RestOperation): readonly Grant[] {
    if (security === undefined) {
      this.#losses.add('security', `the document does not say: callers have the role ${userRole}`, 'document')
      return [this.#role(userRole)]
    }
    if (security.length === 0 || security.some(each => Object.keys(each).length === 0)) return [anyone]
    const scopes = security.flatMap(each => Object.values(each)).flatMap(each => (Array.isArray(each) ? each : []))
    const names = scopes.filter(each => typeof each === 'string')
    if (names.length === 0)
      this.#losses.add('security', `schemes name no roles: callers with credentials have the role ${userRole}`)
    return names.length === 0 ? [this.#role(userRole)] : names.map(name => this.#role(name))
  }
  #role(name: string): Grant {
    const grant = this.#roles.get(name) ?? role(name)
    this.#roles.set(name, grant)
    return grant
  }
}
