/** B2.13: a WSDL 2.0 describes the same endpoint as the WSDL 1.1, and the one that responds. */
import type { WsdlMessage, WsdlPort } from '../../describe/index.ts'
import { readDescription } from '../../describe/reader/read-wsdl.ts'
import { readWsdl20Services } from '../../describe/reader/read-wsdl20.ts'
import { Malformed } from '../../xml/index.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { toPath } from '../reading.ts'
import type { Trial } from '../trial.ts'

/** In the mapping, services and operations keep their names, portType and port do not. */
export function compareDescriptions(
  trial: Trial,
  read: ProbeExchange,
  path: string,
  endpoints: readonly SoapEndpointTarget[],
): void {
  const description = readDescription(read.reply.content, read.request.target)
  // An imported document that was not read may contain what is missing here.
  if (description instanceof Malformed || description.document.missing.length > 0) return
  const { services } = readWsdl20Services(description.descriptions)
  const ports = services
    .flatMap(service => service.ports)
    .filter(({ address }) => address !== undefined && toPath(trial.bench, address, path) === path)
  trial.expect(ports.length > 0, `an endpoint of the description has the address ${path}`, read)
  const names = endpoints.flatMap(each => each.document.services.map(({ name }) => name))
  const isKept = services.some(({ name }) => names.includes(name))
  trial.expect(isKept, `the service is named as in WSDL 1.1${isKept ? '' : `, which has ${[...new Set(names)]}`}`, read)
  if (ports.length > 0) compareOperations(trial, read, ports, endpoints)
}

function compareOperations(
  trial: Trial,
  read: ProbeExchange,
  ports: readonly WsdlPort[],
  endpoints: readonly SoapEndpointTarget[],
): void {
  const known = endpoints.flatMap(({ port }) => port.operations)
  const described = ports.flatMap(({ operations }) => operations)
  const namesOf = (all: readonly { readonly name: string }[]) => new Set(all.map(({ name }) => name))
  const differing = namesOf(known).symmetricDifference(namesOf(described))
  trial.expect(
    differing.size === 0,
    `it has the operations of WSDL 1.1${differing.size === 0 ? '' : `, but for ${[...differing]}`}`,
    read,
  )
  const wrong = described.filter(({ name, input, output }) => {
    const other = known.find(each => each.name === name)
    return isAnotherElement(input, other?.input) || isAnotherElement(output, other?.output)
  })
  trial.expect(
    wrong.length === 0,
    `its messages have the elements of WSDL 1.1${wrong.length === 0 ? '' : `, but for those of ${[...namesOf(wrong)]}`}`,
    read,
  )
}

/** Parts with a type, as in RPC, have no element in WSDL 1.1. */
function isAnotherElement(one: WsdlMessage | undefined, other: WsdlMessage | undefined): boolean {
  const [given, expected] = [one?.parts[0]?.element, other?.parts[0]?.element]
  return given !== undefined && expected !== undefined && given !== expected
}
