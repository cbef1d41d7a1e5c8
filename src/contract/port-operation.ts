/**
 * Exchanges of ports as operations. Clients in browsers list operations too, and need nothing of
 * XML: this stands by itself.
 */
import { type Port, type PortExchange, statusOfPortFault } from './exchange.ts'
import { fault } from './fault.ts'
import { changeLimit, type OperationOf, readLimit } from './operation.ts'
import type { Service } from './service.ts'

/** The exchanges of ports that some role is granted. */
export const listPortOperations = (service: Service): readonly OperationOf<'exchange'>[] =>
  service.ports.flatMap(port =>
    Object.entries(port.exchanges).flatMap(([name, exchange]) =>
      exchange.allow.length === 0 ? [] : [portOperation(service, port, name, exchange)],
    ),
  )
const portOperation = (
  service: Service,
  port: Port,
  exchangeName: string,
  exchange: PortExchange,
): OperationOf<'exchange'> => ({
  kind: 'exchange',
  name: `${port.port}_${exchangeName}`,
  port,
  exchange,
  exchangeName,
  safe: exchange.isSafe,
  grants: exchange.allow,
  faults: Object.keys(exchange.faults).map(name =>
    fault(name, { status: statusOfPortFault(exchange, name), title: name }),
  ),
  message: false,
  oneWay: false,
  ...(exchange.isSafe ? readLimit(service) : changeLimit(service)),
})
