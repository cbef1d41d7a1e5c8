import { implement, service } from 'diglot'

/** Add the resources here: docs/contract.md. */
export const empty = service('empty', { namespace: 'urn:example:empty', resources: [] })

export default implement(empty, {})
