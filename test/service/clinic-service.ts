/** A small clinic, whose handlers do everything that a handler can do. */
import { fault, type Handlers, implement, job, resource, role, service, t } from '../../src/index.ts'

const desk = role('desk')
const patient = role('patient')
const robot = role('robot')

export const DoctorBusy = fault('DoctorBusy', {
  status: 409,
  title: 'The doctor is busy',
  detail: { doctor: t.string(), until: t.string().optional() },
})
export const HasHistory = fault('HasHistory', { status: 409, title: 'There is a history' })
export const BadPicture = fault('BadPicture', { status: 422, title: 'The picture cannot be read' })
export const TooVague = fault('TooVague', { status: 400, title: 'The words find too much' })
export const Closed = fault('Closed', { status: 503, title: 'The archive is closed' })
export const Undeclared = fault('Undeclared', { status: 418, title: 'No operation declares this' })

export const visits = resource('visits', {
  fields: {
    id: t.id('v'),
    owner: t.string(),
    doctor: t.string({ max: 40 }),
    day: t.date(),
    fee: t.decimal(8, 2).readOnly(),
    invoice: t.string().readOnly().optional(),
    state: t.state(),
  },
  states: ['booked', 'held', 'cancelled'],
  actions: on => ({
    hold: on('booked').to('held', { rel: 'holding', input: { minutes: t.int({ min: 1 }) } }),
    cancel: on('booked').to('cancelled', { rel: 'cancellation', input: {} }),
  }),
  files: { picture: { mediaTypes: ['image/png'], max: 1000 } },
}).rules({
  filter: ['owner', 'doctor', 'day', 'fee', 'invoice', 'state'],
  sort: ['day', 'fee', 'doctor'],
  search: ['doctor'],
  bulk: true,
  precondition: false,
  faults: {
    create: [DoctorBusy],
    change: [DoctorBusy],
    remove: [HasHistory],
    bulk: [HasHistory],
    search: [TooVague],
    picture: [BadPicture],
  },
  allow: {
    read: [patient.owning({ owner: 'name' }), desk],
    create: [patient.owning({ owner: 'name' }), desk],
    change: [desk],
    remove: [desk],
    bulk: [desk],
    hold: [desk],
    cancel: [desk],
  },
})
/** Patients can neither read nor make them. */
export const invoices = resource('invoices', {
  fields: {
    id: t.id('i'),
    visit: t.ref('visits'),
    amount: t.decimal(8, 2),
    text: t.string({ max: 100 }).readOnly(),
    paid: t.boolean().readOnly().optional(),
    state: t.state(),
  },
  states: ['open', 'void'],
  actions: on => ({
    annul: on('open').to('void', {
      rel: 'annulment',
      input: { why: t.string({ max: 50 }) },
      output: { note: t.string() },
    }),
  }),
}).rules({
  filter: ['visit', 'amount', 'state'],
  sort: ['amount'],
  remove: [],
  precondition: false,
  allow: { read: [desk], create: [desk], annul: [] },
})
export const mails = job('mails', {
  input: { to: t.string(), about: t.string(), from: t.string().default('desk') },
  output: { sent: t.boolean() },
  allow: [],
})
export const archives = job('archives', {
  input: { year: t.int() },
  output: { visits: t.int() },
  faults: [Closed],
  allow: [desk, robot],
  tries: 1,
})
export const clinic = service('clinic', {
  namespace: 'urn:clinic',
  resources: [visits, invoices],
  jobs: [mails, archives],
  searches: { of: 'visits', allow: [desk] },
})

export interface ClinicServices {
  readonly post: { send(to: string, about: string): Promise<void> }
}
export const sentMails: string[] = []
const services: ClinicServices = { post: { send: async (to, about) => void sentMails.push(`${to}: ${about}`) } }

export type VisitHandlers = Handlers<typeof clinic, 'visits', ClinicServices>
export type ClinicHandlers = {
  readonly visits?: Partial<VisitHandlers>
  readonly invoices?: Partial<Handlers<typeof clinic, 'invoices', ClinicServices>>
  readonly archives?: Partial<Handlers<typeof clinic, 'archives', ClinicServices>>
}

const ofVisits: VisitHandlers = {
  derive: async (ctx, draft, current) => {
    const same = ctx.items.all.list('visits', { doctor: draft.doctor, day: draft.day, state: { ne: 'cancelled' } })
    for (const other of (await same.first(2)).items)
      if (other.id !== current?.id) ctx.fail(DoctorBusy, { doctor: draft.doctor })
    return { fee: current?.fee ?? '80.00' }
  },
  removing: (ctx, visit) => (visit.state === 'held' ? ctx.fail(HasHistory) : undefined),
  receiving: (ctx, _visit, file) => (file.length < 4 ? ctx.fail(BadPicture) : undefined),
  searching: (ctx, words) => (words.includes('doctor') ? ctx.fail(TooVague) : undefined),
  hold: async (ctx, visit, input) => {
    const invoice = await ctx.items.create('invoices', { visit: visit.id, amount: `${input.minutes}.00` })
    await ctx.after('mails', { to: visit.owner, about: invoice.text })
    return { set: { invoice: invoice.id } }
  },
  cancel: () => {},
}

export const createClinic = (more: ClinicHandlers = {}) =>
  implement(
    clinic,
    {
      visits: { ...ofVisits, ...more.visits },
      invoices: {
        derive: (ctx, draft) =>
          draft.amount === '666.00' ? ctx.invalid(['amount'], 'is not a fee') : { text: `Visit ${draft.visit}` },
        annul: (_ctx, _invoice, input) => ({ output: { note: `void: ${input.why}` } }),
        ...more.invoices,
      },
      mails: {
        run: async (ctx, input) => {
          await ctx.services.post.send(input.to, input.about)
          return { sent: true }
        },
      },
      archives: {
        starting: (ctx, input) => (input.year < 1900 ? ctx.fail(Closed) : undefined),
        run: async () => ({ visits: 0 }),
        ...more.archives,
      },
    },
    { services },
  )
