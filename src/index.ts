/** The entry of an application: the vocabulary of contracts, `implement` and `serve`. */
import './host/node-version.ts'

export {
  type DetailOf,
  type Fault,
  fault,
} from './contract/fault.ts'
export { type Draft, type Fields, t, type Value } from './contract/field.ts'
export {
  type Context,
  type Implementation,
  type ItemList,
  implement,
  type JobHandlerContext,
  type Progress,
  type Provider,
} from './contract/implement.ts'
export { type Job, job } from './contract/job.ts'
export { anyone, type Caller, type Grant, role } from './contract/policy.ts'
export { type DraftItem, type Item, type Representation, resource } from './contract/resource.ts'
export { type Service, service } from './contract/service.ts'

import type { Implementation } from './contract/implement.ts'
import type { MessageSecurity } from './host/message-security.ts'
import type { ServeOptions, Server } from './host/serve.ts'
import type { PeoplePort, PersonRights } from './identity/people-port.ts'

export type { MessageSecurity, PeoplePort, PersonRights, ServeOptions, Server }

/**
 * Serves until closed; see `ServeOptions`. The server is loaded here, so that a contract alone does
 * not load it.
 */
export async function serve(app: Implementation, options: ServeOptions = {}): Promise<Server> {
  const host = await import('./host/serve.ts')
  return host.startService(app, options)
}
