/** Where the backend of a bridge is: one address, or one for each port of its WSDL. */
import { Option } from 'commander'
import { failUsage } from './usage.ts'

/** By the name of a port; the empty name is for all others. */
export type BehindAddresses = Readonly<Record<string, string>>

export const createBehindOption = (): Option =>
  new Option('--to <address>', 'address of the backend, or of one of its ports: RatesPort=https://…; repeatable')
    .makeOptionMandatory()
    .argParser((text: string, before: BehindAddresses = {}): BehindAddresses => {
      const [, port = '', address = text] = /^([^=:/]+)=(https?:.*)$/i.exec(text) ?? []
      const known = before[port]
      if (known !== undefined)
        failUsage(
          `--to gives ${port === '' ? 'the backend' : port} two addresses, ${known} and ${address}: give one of them`,
        )
      return { ...before, [port]: address }
    })

export const describeBehindAddresses = (to: BehindAddresses): string =>
  Object.entries(to)
    .map(([port, address]) => (port === '' ? address : `${port}=${address}`))
    .join(', ')

/** A usage error if a port has no address, or an address no port. */
export function locatePorts(to: BehindAddresses, ports: readonly string[]): ReadonlyMap<string, string> {
  const unknown = Object.keys(to).find(each => each !== '' && !ports.includes(each))
  if (unknown !== undefined) failUsage(`unknown port ${unknown} of --to: use ${ports.join(', ')}`)
  return new Map(
    ports.map(port => [
      port,
      to[port] ?? to[''] ?? failUsage(`the address of ${port} is unknown: give --to ${port}=<url>`),
    ]),
  )
}

export function requireSoleAddress(to: BehindAddresses): string {
  const [sole, ...more] = Object.entries(to)
  if (sole?.[0] === '' && more.length === 0) return sole[1]
  return failUsage('a REST service has one address: give --to <url>, without a port')
}
