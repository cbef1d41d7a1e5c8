/** Turns operations that belong to no resource into exchanges: a message in, a message out. */
import { exchange, type Port, type PortExchange, port } from '../../contract/exchange.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { listReachedTypes } from '../../contract/xml-reach.ts'
import { type AnyRootElement, x } from '../../contract/xml-type.ts'
import { findFreeName } from '../constant-names.ts'
import { ExchangeTypes } from './exchange-types.ts'
import type { GuessRoom } from './guess-room.ts'
import { recordForm, recordOtherAnswers } from './left-out.ts'
import { isOwnFeed, type RestOperation } from './operations.ts'
import { toTypeName } from './schema-fields.ts'

export function guessPort(room: GuessRoom, namespace: string, operations: readonly RestOperation[]): Port | undefined {
  const independent = operations.filter(each => !isOtherWay(each, operations) && !isOwnFeed(each))
  if (independent.length === 0) return undefined
  const types = new ExchangeTypes(room.document, x.namespace(namespace), room.losses, room.fields.comments)
  const exchanges: Record<string, PortExchange> = {}
  const roots: AnyRootElement[] = []
  for (const operation of independent) {
    const name = nameExchange({ ...operation, id: nameOwnExchange(operation) ?? operation.id }, exchanges)
    // An HTTP field belongs to the service: it becomes a header of the contract, or is reported as
    // left out.
    const { input, output } = types.messages(name, { ...operation, headers: [] }, () => [])
    recordOtherAnswers(room.document, operation, room.losses)
    recordForm(room.document, operation, room.losses)
    roots.push(input, output)
    exchanges[name] = exchange({
      action: `${namespace}/${name}`,
      input,
      output,
      allow: room.grants.of(operation),
      safe: isReadingOperation(operation),
    })
    room.losses.add(operation.place, `belongs to no resource: it is the exchange ${name}`)
  }
  // Types are made as they are reached, and then report what they leave out.
  listReachedTypes(roots)
  return port('Operations', { namespace, exchanges })
}

/** For a service of our own: `v1_Shop_Order` at `/Shop/Order` is the exchange Order of a port. */
function nameOwnExchange({ id, segments }: RestOperation): string | undefined {
  const [port, exchange, ...others] = segments.map(each => each.text)
  const local = id.replace(/^v\d+_/, '')
  const isOwn = [local, local.replace(/By(?:Get|Query)$/, '')].includes(`${port}_${exchange}`)
  return others.length === 0 && isOwn ? exchange : undefined
}
/** A POST of our own that may respond with 304 changes nothing. */
const isReadingOperation = (operation: RestOperation): boolean =>
  operation.method === 'GET' ||
  operation.method === 'QUERY' ||
  (nameOwnExchange(operation) !== undefined && operation.responses.some(([status]) => status === '304'))
/** A safe exchange is available by POST and in another way, too. */
const isOtherWay = (operation: RestOperation, others: readonly RestOperation[]): boolean =>
  operation.method !== 'POST' &&
  nameOwnExchange(operation) !== undefined &&
  others.some(({ method, path }) => method === 'POST' && path === operation.path)

/** `GET /store/inventory` → `GetStoreInventory`, unless it has an operationId. */
export function nameExchange(
  { id, method, segments }: RestOperation,
  taken: Readonly<Record<string, unknown>>,
): string {
  const words = segments.map(({ text, isParameter }) => (isParameter ? `By ${text}` : text)).join(' ')
  const wish = toTypeName(id || `${capitalize(method.toLowerCase())} ${words}`) || 'Operation'
  return findFreeName(wish, each => Object.hasOwn(taken, each))
}
