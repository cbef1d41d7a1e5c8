/** The entry of an application: the vocabulary of contracts, `implement` and `serve`. */
import './host/node-version.ts'

export * from './contract/index.ts'

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
