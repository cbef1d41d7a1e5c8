/** The service that the mistakes are made in. */
import { anyone, fault, implement, job, resource, role, service, t } from 'diglot'

export const desk = role('desk')
export const DoctorBusy = fault('DoctorBusy', { status: 409, title: 'Busy', detail: { doctor: t.string() } })
export const Other = fault('Other', { status: 409, title: 'Other' })
export const doctors = resource('doctors', {
  fields: { id: t.id('d'), name: t.string(), kind: t.enum('general', 'eyes'), room: t.int().optional() },
}).rules({ filter: ['name', 'kind'], sort: ['name'], allow: { read: [anyone], create: [desk] } })
export const visits = resource('visits', {
  fields: {
    id: t.id('v'),
    doctor: t.ref('doctors'),
    day: t.date(),
    minutes: t.int({ min: 1 }),
    fee: t.decimal(8, 2).readOnly(),
    confirmedAt: t.dateTime().readOnly().optional(),
    note: t.string().optional(),
    state: t.state(),
  },
  states: ['asked', 'confirmed', 'held'],
  actions: on => ({
    confirm: on('asked').to('confirmed', { rel: 'confirmation', faults: [DoctorBusy] }),
    hold: on('confirmed').to('held', {
      rel: 'holding',
      input: { minutes: t.int() },
      output: { receipt: t.string(), amount: t.decimal(8, 2) },
    }),
    track: on().read({ rel: 'track-record', output: { position: t.string() } }),
    merge: on().moves({ rel: 'merger', input: { into: t.ref('visits') } }),
  }),
}).rules({
  filter: ['doctor', 'day', 'state'],
  sort: ['day'],
  faults: { create: [DoctorBusy] },
  allow: { read: [anyone], create: [desk], change: [desk], confirm: [desk], hold: [desk], merge: [desk] },
})
export const reports = job('reports', {
  input: { year: t.int() },
  output: { visits: t.int() },
  allow: [desk],
})
export const clinic = service('clinic', { namespace: 'urn:clinic', resources: [doctors, visits], jobs: [reports] })

const good = {
  visits: {
    derive: () => ({ fee: '80.00' }),
    confirm: () => undefined,
    hold: () => ({ output: { receipt: 'r', amount: '1.00' } }),
    track: () => ({ position: 'here' }),
    merge: () => ({ to: 'v-1' }),
  },
  reports: { run: async () => ({ visits: 1 }) },
}
export const { visits: handlers, reports: jobs } = good
implement(clinic, good)
