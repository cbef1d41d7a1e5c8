/**
 * A service for a carrier's WSDL: shops that book with that carrier can book here with their
 * existing clients, and the carrier's people deliver what was booked, by REST and in a browser.
 *
 *     npx diglot serve examples/freight/service.ts
 */
import { implement } from 'diglot'
import { contract, type Parcel } from './contract.ts'

const weigh = (parcels: readonly Parcel[]): number =>
  parcels.reduce((grams, { weight }) => grams + Math.round(Number(weight) * 1000), 0)

export default implement(
  contract,
  {
    shipments: { deliver: ctx => ({ set: { delivered: ctx.now } }) },
    FreightPort: {
      BookShipment: async ({ parcel, doorOrLocker, reference }, ctx) => {
        const number = `${'door' in doorOrLocker ? 'D' : 'L'}-${reference}`
        const customer = ctx.headers.customer ?? ctx.caller.subject ?? ''
        const grams = weigh(parcel)
        await ctx.transaction(tx => tx.items.create('shipments', { number, customer, grams, collected: ctx.now }))
        return { number, total: String(grams / 1000) }
      },
      TrackShipment: async (number, ctx) => {
        const [shipment] = (await ctx.items.all.list('shipments', { number }).first(1)).items
        if (!shipment) return ctx.fail('UnknownShipment', { number }, `there is no shipment ${number}`)
        const { collected, delivered } = shipment
        return {
          event: [
            { value: 'collected', at: collected },
            ...(delivered === undefined ? [] : [{ value: 'delivered', at: delivered } as const]),
          ],
        }
      },
    },
  },
  { seed: () => ({ people: [{ subject: 'dana', password: 'dana-secret', roles: ['carrier'] }] }) },
)
