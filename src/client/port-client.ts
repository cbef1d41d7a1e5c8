/**
 * The client of another party's port, from its WSDL at run time or from an imported contract: one
 * method for each operation. `port-exchange.ts` says what is sent and read.
 */

import type { DescribedPorts, Port } from '../contract/exchange.ts'
import { type MembersOf, requireKnownMembers } from '../contract/member-kinds.ts'
import type { Leniency } from '../soap/codecs/mended-element.ts'
import type { SoapVersion } from '../soap/version.ts'
import type { HttpOptions } from './connection-pool.ts'
import { FaultError, type TransportFailure } from './errors.ts'
import { createHttpTransport } from './http-transport.ts'
import { fromKeptRequest, toKeptRequest } from './kept-request.ts'
import type { SentRequest } from './opened-answer.ts'
import type { CallOptions, SoapClientOptions } from './options.ts'
import { createPortDress, type PortDressOptions, portDressMembers } from './port-dress.ts'
import { CallableExchange, createPortPlans, type PortEndpoint, versionOfPort } from './port-exchange.ts'
import type {
  ExchangesOf,
  LaterAnswer,
  LaterMessage,
  NamedPort,
  PortClient,
  PortNames,
  SharedBlocks,
} from './port-types.ts'
import { isRepeatable, timingOf } from './repeated-post.ts'

/** The options of `createPortClient`. */
export interface PortClientOptions<
  N extends string = string,
  O extends string = string,
  H = Readonly<Record<string, unknown>>,
> extends PortDressOptions,
    HttpOptions,
    Pick<SoapClientOptions, 'fields' | 'timeLimit' | 'retries' | 'wait' | 'transport'> {
  /** The port to call, if there are several. */
  readonly port?: N
  /** Default: the address in the WSDL. */
  readonly address?: string
  /** Default: 1.1, or 1.2 for a port that has only 1.2. */
  readonly soap?: SoapVersion['number']
  /** The flaws that answers may have; default none. Each reply lists the flaws that it had. */
  readonly lenient?: readonly Leniency[]
  /** Operations that change nothing: they are sent again after a lost connection. */
  readonly safe?: readonly O[]
  /**
   * Header blocks of each request whose operation declares them; those of a call take precedence.
   */
  readonly headers?: H
}

const portClientMembers: MembersOf<PortClientOptions> = {
  ...portDressMembers,
  port: true, address: true, soap: true, lenient: true, safe: true, headers: true, fields: true, timeLimit: true, retries: true,
  wait: true, transport: true, connections: true, waiting: true, idle: true, longest: true, tls: true, proxy: true,
} // biome-ignore format: a list of names reads best in few lines

const leniencies: Readonly<Record<Leniency, true>> = {
  envelope: true, namespace: true, order: true, unknown: true, nil: true, missing: true, facets: true,
} // biome-ignore format: a list of names reads best in few lines

/**
 * For a WSDL that is read at run time (`readWsdl` of `diglot/import`), or for a contract with
 * ports: `createPortClient<typeof contract>(await readWsdl('bank.wsdl'))` has the types of the
 * contract.
 *
 * @throws TypeError for an invalid option, and if a policy of the WSDL is not supported
 */
export function createPortClient<const S extends DescribedPorts, const N extends PortNames<S> = PortNames<S>>(
  description: S | DescribedPorts,
  options: PortClientOptions<N, keyof ExchangesOf<S, N> & string, SharedBlocks<ExchangesOf<S, N>>> & {
    readonly port?: NamedPort<N>
  } = {},
): PortClient<ExchangesOf<S, N>> {
  requireKnownMembers('the options of the client', options, portClientMembers)
  const port = choosePort(description.ports, options.port)
  const endpoint = createPortEndpoint(description, port, options)
  const shared: Readonly<Record<string, unknown>> = options.headers ?? {}
  const declared = Object.values(port.exchanges).map(({ requestHeaders }) => requestHeaders)
  requireKnownMembers('the option headers', shared, Object.assign({}, ...declared))
  const plans = createPortPlans(port)
  const close = () => endpoint.transport.close()
  const methods = Object.entries(port.exchanges).map(([name, exchange]) => {
    const operation = new CallableExchange(name, exchange, endpoint, plans)
    const headers = Object.entries(shared).filter(([block]) => Object.hasOwn(exchange.requestHeaders, block))
    const common = { ...options, headers: Object.fromEntries(headers) }
    return [name, createExchangeMethod(operation, common, endpoint.dress.addressing !== undefined)] as const
  })
  const client = { ...Object.fromEntries([['close', close], ...methods]), [Symbol.dispose]: close }
  return client as unknown as PortClient<ExchangesOf<S, N>> // one method for each exchange
}

function choosePort(ports: readonly Port[], name: string | undefined): Port {
  const names = ports.map(({ port }) => port).join(', ')
  const [first, second] = ports
  if (!first) throw new TypeError('the description has no port for SOAP: give a WSDL with a binding')
  if (name === undefined && second)
    throw new TypeError(`the description has the ports ${names}: name one with the option port`)
  const namedPort = name === undefined ? first : ports.find(({ port }) => port === name)
  if (!namedPort) throw new TypeError(`unknown port ${name}: use ${names}`)
  return namedPort
}

function createPortEndpoint(
  { policies, addresses }: DescribedPorts,
  port: Port,
  options: PortClientOptions,
): PortEndpoint {
  const { soap, lenient = [], safe = [], fields, longest } = options
  if (soap !== undefined && port.soap !== 'both' && port.soap !== soap)
    throw new TypeError(`the port ${port.port} supports only SOAP ${port.soap}: leave out the option soap`)
  requireKnownMembers('the option lenient', Object.fromEntries(lenient.map(each => [each, true])), leniencies)
  requireKnownMembers('the option safe', Object.fromEntries(safe.map(each => [each, true])), port.exchanges)
  const version = versionOfPort(port, soap)
  const address = options.address ?? addresses?.get(port.port)?.[version.number]
  if (address === undefined)
    throw new TypeError(`the port ${port.port} has no address for SOAP ${version.number}: give the option address`)
  const dress = createPortDress(port, policies?.get(port.port), address, pickDress(options), dressPlace)
  const once = dress.addressing?.once === true
  const isSafe = (name: string) => safe.includes(name) || port.exchanges[name]?.isSafe === true
  return {
    version,
    transport: options.transport ?? createHttpTransport(address, options),
    dress,
    fields,
    longest,
    lenient: new Set(lenient),
    mayRepeat: (name: string, failure: TransportFailure) => isRepeatable(failure, once || isSafe(name)),
  }
}
const dressPlace = ['', ' in the options'] as const
const pickDress = (options: PortClientOptions): PortDressOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(portDressMembers, name)))

function createExchangeMethod(operation: CallableExchange, options: PortClientOptions, isAddressed: boolean) {
  const complete = <O extends CallOptions>(callOptions: O) => ({
    ...callOptions,
    headers: { ...options.headers, ...callOptions.headers },
  })
  const callForHeaders = (input?: unknown, callOptions: CallOptions = {}) =>
    operation.call(input, { ...complete(callOptions), ...timingOf(options, callOptions) })
  const call = async (input?: unknown, callOptions?: CallOptions) => (await callForHeaders(input, callOptions)).output
  const callLater = async (input: unknown, { replyTo, keep, ...given }: CallOptions & LaterAnswer) => {
    if (!isAddressed) throw new TypeError('an answer that comes later needs the option addressing of the client')
    const keepRequest = async (request: SentRequest) =>
      keep(JSON.stringify(toKeptRequest({ ...request, cameTo: replyTo })))
    const later = { replyTo, keep: keepRequest }
    const { isAccepted, ...reply } = await operation.call(input, {
      ...complete(given),
      ...timingOf(options, given),
      later,
    })
    return isAccepted ? 'accepted' : reply
  }
  const readLater = ({ contentType, content }: LaterMessage, request: string) =>
    operation.readLater(
      { status: 200, fields: { 'content-type': contentType }, content },
      fromKeptRequest(JSON.parse(request)),
    )
  return Object.assign(call, {
    callForHeaders,
    callLater,
    readLater,
    render: (input?: unknown, given: CallOptions = {}) => operation.render(input, complete(given)),
    isFault: (thrown: unknown, name: string) =>
      thrown instanceof FaultError && thrown.operation === operation.name && thrown.faults.includes(name),
  })
}
