/** Messages of a bridge whose octets pass to the backend without being held. */
import type { MessageDress } from '../client/dressed-message.ts'
import { needsPackage } from '../contract/attached-parts.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import { mayLeaveOctets } from '../contract/octet-types.ts'

/**
 * A port whose exchanges say whether octets of their input pass: if they are sent outside the XML
 * (MTOM), nothing has to prove the message, and only their number has to be known beforehand.
 *
 * @param octetsMax the limit of a message with them
 */
export const passInputs = (port: Port, dress: MessageDress, octetsMax: number): Port => ({
  ...port,
  exchanges: Object.fromEntries(
    Object.entries(port.exchanges).map(([name, each]) => [
      name,
      dress.mtom && !dress.securityOf(name) && isPassable(each) ? { ...each, passingMax: octetsMax } : each,
    ]),
  ),
})

const isPassable = ({ input, style }: PortExchange): boolean =>
  style !== 'encoded' && input !== 'empty' && !needsPackage(input) && mayLeaveOctets(input)
