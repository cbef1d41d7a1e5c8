import { anyone, fault, header, job, resource, retype, role, service, t } from 'diglot'

const [patient, doctor, desk] = [role('patient'), role('doctor'), role('desk')]
const own = patient.owning({ patient: 'patient' })
const name = t.string({ min: 1, max: 100 })
const byDesk = { read: [anyone], create: [desk], change: [desk] }

export const SlotTaken = fault('SlotTaken', {
  status: 409,
  title: 'The doctor is not free then',
  detail: { doctor: t.ref('doctors'), from: t.dateTime() },
})

/** Stored in the hospital's directory, not in the service's database. */
export const doctors = resource('doctors', {
  fields: { id: t.id('d'), name, ward: t.enum('heart', 'bones', 'eyes') },
}).rules({ filter: ['ward'], sort: ['name'], unserved: 'accept', allow: byDesk })

export const patients = resource('patients', {
  fields: {
    id: t.id('p'),
    name,
    born: t.date(),
    insurance: t.string({ pattern: '[A-Z][0-9]{9}' }).optional().describe('As on the card', { example: 'A123456789' }),
    contacts: t.map(name, { key: t.enum('phone', 'email'), max: 2 }).optional(),
  },
}).rules({
  sort: ['name'],
  allow: { read: [patient.owning({ id: 'patient' }), doctor, desk], create: [desk], change: [desk], remove: [desk] },
})

export const appointments = resource('appointments', {
  fields: {
    id: t.id('a'),
    patient: t.ref('patients'),
    doctor: t.ref('doctors'),
    from: t.dateTime(),
    minutes: t.int({ min: 5, max: 240 }).default(20),
    until: t.dateTime().computed(),
    reason: t.string({ max: 500 }).optional(),
    state: t.state(),
    findings: t.string({ max: 10_000 }).readOnly().visibleTo(doctor, own),
    site: t.string().readOnly().optional(),
  },
  states: ['booked', 'arrived', 'seen', 'cancelled'],
  actions: on => ({
    arrive: on('booked').to('arrived', { rel: 'arrival' }),
    see: on('arrived').to('seen', { rel: 'consultation', input: { findings: t.string({ min: 1, max: 10_000 }) } }),
    cancel: on('booked').to('cancelled', { rel: 'cancellation' }),
    move: on('booked').stay({ rel: 'new-time', input: { from: t.dateTime() }, faults: [SlotTaken] }),
  }),
}).rules({
  filter: ['patient', 'doctor', 'from', 'state'],
  unserved: 'accept',
  sort: ['from'],
  edit: ['booked'],
  allow: {
    read: [own, doctor, desk],
    create: [own, desk],
    change: [desk],
    arrive: [desk],
    see: [doctor],
    cancel: [own, desk],
    move: [own, desk],
  },
})

export const documents = resource('documents', {
  fields: { id: t.id('doc'), patient: t.ref('patients'), title: name, added: t.dateTime().readOnly() },
  files: { scan: { mediaTypes: ['application/pdf', 'image/png'], max: 20 * 1024 * 1024 } },
}).rules({
  filter: ['patient'],
  unserved: 'accept',
  sort: ['added'],
  allow: { read: [own, doctor, desk], create: [doctor, desk], change: [doctor, desk], remove: [desk] },
})

/** `notice`: how many hours before an appointment its patient can no longer move it. */
export const settings = resource('settings', {
  single: true,
  fields: { phone: name, notice: t.int({ min: 0 }) },
}).rules({ allow: byDesk })

const Line = t.object({ doctor: t.ref('doctors'), seen: t.int(), minutes: t.int() }, 'WorkLine')
export const reports = job('reports', {
  input: { month: t.string({ pattern: '[0-9]{4}-[0-9]{2}' }) },
  output: { month: t.string(), lines: t.list(Line, { max: Infinity }) },
  allow: [desk],
})

/** The name and values that v1 had for a doctor's ward. */
const specialty = retype(doctors.fields.ward, t.enum('cardiology', 'orthopaedics', 'ophthalmology'), {
  up: given => (given === 'cardiology' ? 'heart' : given === 'orthopaedics' ? 'bones' : 'eyes'),
  down: ward => (ward === 'heart' ? 'cardiology' : ward === 'bones' ? 'orthopaedics' : 'ophthalmology'),
  exact: true,
})

export const clinic = service('clinic', {
  namespace: 'urn:example:clinic',
  title: 'Clinic',
  resources: [appointments, patients, doctors, documents, settings],
  jobs: [reports],
  headers: { Site: header(t.string({ pattern: '[A-Z]{3}' }), { field: 'Site' }) },
  versions: {
    v1: {
      without: { appointments: ['site', 'findings', 'until'], patients: ['insurance'] },
      renames: { doctors: { specialty: 'ward' } },
      retypes: { doctors: { specialty } },
    },
    v2: {},
  },
})
