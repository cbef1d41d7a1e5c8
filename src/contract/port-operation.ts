/**
 * Exchanges of ports as operations. Browser clients list operations too, and need no XML, so this
 * file stands alone.
 */
import { type Port, type PortExchange, statusOfPortFault } from './exchange.ts'
import { fault } from './fault.ts'
import { type Job, job } from './job.ts'
import { laterJobName } from './later-call.ts'
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

/** The operations of a call whose answer comes later, which is a job. */
export interface LaterOperations {
  readonly job: Job
  readonly get: OperationOf<'getJob'>
  readonly cancel: OperationOf<'cancelJob'>
  readonly answer: OperationOf<'getAnswer'>
}

/** The operations of each exchange whose answers come later. */
export const listLaterOperations = (service: Service): readonly LaterOperations[] =>
  listPortOperations(service).flatMap(each => (each.exchange.later ? [laterOperations(service, each)] : []))

function laterOperations(service: Service, requestOperation: OperationOf<'exchange'>): LaterOperations {
  const { name, port, exchangeName, exchange, grants, faults } = requestOperation
  const work = laterJob(port, exchangeName, exchange)
  const common = { job: work, port, grants, message: false, oneWay: false }
  const reads = { ...common, safe: true, ...readLimit(service) }
  return {
    job: work,
    get: { kind: 'getJob', name: `${name}_job`, faults: [], ...reads },
    cancel: {
      kind: 'cancelJob',
      name: `${name}_cancellation`,
      faults: [],
      ...common,
      safe: false,
      ...changeLimit(service),
    },
    answer: { kind: 'getAnswer', name: `${name}_answer`, exchangeName, exchange, faults, ...reads },
  }
}

/** Its input and its output are messages, not fields. */
const laterJob = (port: Port, name: string, { allow, later }: PortExchange): Job =>
  job(laterJobName(port.port, name), {
    one: name,
    input: {},
    output: {},
    allow,
    ...(later && { keep: later.keep }),
  })
