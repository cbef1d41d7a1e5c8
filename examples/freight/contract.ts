/**
 * The contract, imported from carrier.wsdl. Added by hand: who may call, and the shipments that the
 * carrier's own people work with, by REST.
 */
import { anyone, exchange, port, resource, role, service, t, type ValueOf, x } from 'diglot'

const messages = x.namespace('http://carrier.example/freight/messages')

/** In kilograms. */
export const Weight = messages.simple('Weight', x.decimal, { minExclusive: '0', maxInclusive: '1000' })
export type Weight = ValueOf<typeof Weight>

/** One box of a shipment. */
export const Parcel = messages.type('Parcel', {
  weight: x.element(Weight),
  note: x.element(x.string).optional(),
  fragile: x.attribute(x.boolean).optional(),
})
export type Parcel = ValueOf<typeof Parcel>

export const Step = messages.simple('Step', x.string, { values: ['collected', 'on its way', 'delivered'] })
export type Step = ValueOf<typeof Step>

export const BookShipment = messages.element(
  'BookShipment',
  x.object({
    parcel: x.element(Parcel).many(1, 20),
    doorOrLocker: x.choice({
      door: x.element(x.string),
      locker: x.element(x.positiveInteger),
    }),
    reference: x.attribute(x.string),
  }),
)
export type BookShipment = ValueOf<typeof BookShipment>

export const ShipmentBooked = messages.element(
  'ShipmentBooked',
  x.object({
    number: x.element(x.string),
    total: x.element(x.decimal),
  }),
)
export type ShipmentBooked = ValueOf<typeof ShipmentBooked>

export const Customer = messages.element('Customer', x.string)
export type Customer = ValueOf<typeof Customer>

export const TrackShipment = messages.element('TrackShipment', x.string)
export type TrackShipment = ValueOf<typeof TrackShipment>

export const ShipmentTrack = messages.element(
  'ShipmentTrack',
  x.object({
    event: x
      .element(
        x.object({
          value: x.text(Step),
          at: x.attribute(x.dateTime),
        }),
      )
      .many(),
  }),
)
export type ShipmentTrack = ValueOf<typeof ShipmentTrack>

export const UnknownShipment = messages.element(
  'UnknownShipment',
  x.object({
    number: x.element(x.string),
  }),
)
export type UnknownShipment = ValueOf<typeof UnknownShipment>

/** The operations of the port FreightPort. */
export const FreightPort = port('FreightPort', {
  namespace: 'http://carrier.example/freight',
  service: 'FreightService',
  portType: 'Freight',
  soap: '1.1',
  allow: [role('shop')],
  exchanges: {
    BookShipment: exchange({
      action: 'http://carrier.example/book',
      input: BookShipment,
      output: ShipmentBooked,
      requestHeaders: { customer: Customer },
    }),
    TrackShipment: exchange({
      action: 'http://carrier.example/track',
      input: TrackShipment,
      output: ShipmentTrack,
      faults: { UnknownShipment },
      allow: [anyone],
      safe: true,
    }),
  },
})

export const shipments = resource('shipments', {
  fields: {
    id: t.id('s'),
    number: t.string({ max: 20 }),
    customer: t.string({ max: 100 }),
    grams: t.int({ min: 1 }),
    collected: t.dateTime(),
    delivered: t.dateTime().readOnly().optional(),
    state: t.state(),
  },
  states: ['collected', 'delivered'],
  actions: on => ({ deliver: on('collected').to('delivered', { rel: 'delivery' }) }),
}).rules({
  filter: ['number'],
  unique: [['number']],
  allow: { read: [role('carrier')], deliver: [role('carrier')] },
})

export const contract = service('freight', {
  namespace: 'http://carrier.example/freight',
  resources: [shipments],
  ports: [FreightPort],
})
