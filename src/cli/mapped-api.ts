/** The map of a REST service: the edited output of `diglot import --operations`. */
import type { ExchangeFaults, Port, PortExchange } from '../contract/exchange.ts'
import type { Service } from '../contract/service.ts'
import { writePortWsdl } from '../describe/port-wsdl.ts'
import { compareServices } from '../diff/compare-services.ts'
import { readSoapDescription } from '../diff/read-soap.ts'
import type { RestPort } from '../import/openapi/rest-port.ts'

/** The sources of both, for errors. */
export interface MapSources {
  readonly map: string
  readonly document: string
}

/**
 * The operations that a map keeps, for the callers that it names, with its faults and statuses. The
 * document determines their messages, and how they are called.
 * @throws an error that names the place in the map, and what to do
 */
export function mapApi(rest: RestPort, contract: Service, sources: MapSources): RestPort {
  const { map, document } = sources
  const again = `write it with diglot import ${document} --operations -o ${map}`
  const [port, ...others] = contract.ports
  if (port?.port !== rest.port.port || others.length > 0 || contract.resources.length > 0)
    throw new Error(`${map} must have the port ${rest.port.port} and nothing else: ${again}`)
  const described = describeMapped(port, rest.port, sources)
  const [difference] = compareServices(readMessages(described, document), readMessages(port, map))
  if (difference)
    throw new Error(
      `${map}: ${difference.place}: ${difference.text}, by ${document}: its messages are those of the document, so undo it or import again`,
    )
  return { ...rest, port }
}

/** The mapped port with the messages of the document. */
function describeMapped(mapped: Port, document: Port, sources: MapSources): Port {
  const exchanges = Object.entries(mapped.exchanges).map(([name, exchange]) => {
    const described = document.exchanges[name]
    if (!described)
      throw new Error(`${sources.map}: ${mapped.port}.${name} is not an operation of ${sources.document}: remove it`)
    if (Object.keys({ ...exchange.requestHeaders, ...exchange.replyHeaders }).length > 0)
      throw new Error(
        `${sources.map}: ${mapped.port}.${name} has header blocks, which a REST service cannot receive: remove them`,
      )
    return [name, takeMessages(`${mapped.port}.${name}`, exchange, described, sources)] as const
  })
  return { ...mapped, exchanges: Object.fromEntries(exchanges) }
}

function takeMessages(
  place: string,
  mapped: PortExchange,
  { input, output, faults }: PortExchange,
  { map, document }: MapSources,
): PortExchange {
  const left = Object.keys(mapped.faults).map((name): readonly [string, ExchangeFaults[string]] => {
    const root = faults[name]
    if (!root) throw new Error(`${map}: ${place}: ${document} declares no error ${name}: remove it from its faults`)
    return [name, root]
  })
  return { ...mapped, input, output, faults: Object.fromEntries(left) }
}

const readMessages = (port: Port, source: string) =>
  readSoapDescription(writePortWsdl(port, 'http://127.0.0.1/'), source, () => undefined)
