/**
 * A carrier's WSDL, served: shops that book with that carrier can book here, with the clients that
 * they have. Shipments are kept in memory.
 *
 *     npx diglot serve examples/freight/service.ts
 */
import { implement } from 'diglot'
import { contract } from './contract.ts'

interface Shipment {
  readonly customer: string
  readonly collected: string
}
const shipments = new Map<string, Shipment>()
const gramsOf = (weight: string): number => Math.round(Number(weight) * 1000)

export default implement(contract, {
  FreightPort: {
    BookShipment: ({ parcel, doorOrLocker, reference }, { headers, caller, now }) => {
      const number = `${'door' in doorOrLocker ? 'D' : 'L'}-${reference}`
      shipments.set(number, { customer: headers.customer ?? caller.subject ?? '', collected: now })
      const grams = parcel.reduce((sum, { weight }) => sum + gramsOf(weight), 0)
      return { number, total: String(grams / 1000) }
    },
    TrackShipment: (number, ctx) => {
      const shipment = shipments.get(number)
      if (!shipment) return ctx.fail('UnknownShipment', { number }, `there is no shipment ${number}`)
      return { event: [{ value: 'collected', at: shipment.collected }] }
    },
  },
})
