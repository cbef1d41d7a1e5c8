/** The contract that our client asks servers of others by: a value of every scalar kind, lists, faults, octets, a one-way message. */
import { anyone, fault, resource, service, t } from 'diglot'

export const Torn = fault('Torn', {
  status: 409,
  title: 'Torn',
  detail: { where: t.string(), pieces: t.int(), when: t.date().optional() },
})

const Part = t.object({ name: t.string(), weight: t.double().optional() }, 'Part')

export const values = {
  text: t.string(),
  flag: t.boolean(),
  byte: t.int({ xsd: 'byte' }),
  short: t.int({ xsd: 'short' }),
  int: t.int(),
  unsignedByte: t.int({ xsd: 'unsignedByte' }),
  unsignedShort: t.int({ xsd: 'unsignedShort' }),
  unsignedInt: t.long({ xsd: 'unsignedInt' }),
  long: t.long(),
  unsignedLong: t.long({ xsd: 'unsignedLong' }),
  integer: t.long({ xsd: 'integer' }),
  decimal: t.decimal(15, 4),
  double: t.double(),
  float: t.double({ xsd: 'float' }),
  date: t.date(),
  time: t.time(),
  dateTime: t.dateTime(),
  duration: t.duration(),
  base64: t.bytes({ max: 100_000 }),
  hex: t.bytes({ encoding: 'hex' }),
  choice: t.enum('red', 'dark-blue'),
  token: t.string({ xsd: 'token' }),
  uri: t.string({ xsd: 'anyURI' }),
  names: t.list(t.string()),
  parts: t.list(Part),
  whole: Part,
  maybe: t.string().optional(),
}

export const samples = resource('samples', {
  fields: { id: t.id('s'), ...values },
  actions: on => ({
    tear: on().stay({ rel: 'tearing', input: { where: t.string() }, output: { pieces: t.int() }, faults: [Torn] }),
    drop: on().stay({ rel: 'fall', oneWay: 'NotifyFall' }),
  }),
  files: { photo: { mediaTypes: ['image/png'], max: 1_000_000 } },
}).rules({
  messages: ['get', 'create', 'tear', 'photo'],
  allow: { read: [anyone], create: [anyone], change: [anyone], tear: [anyone], drop: [anyone] },
})

export const contract = service('samples', { namespace: 'urn:diglot:samples', resources: [samples] })
