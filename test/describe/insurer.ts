/** A contract with every kind of operation, in two versions: claims of a health insurer. */
import {
  anyone,
  fault,
  type Handlers,
  header,
  implement,
  job,
  resource,
  retype,
  role,
  service,
  t,
} from '../../src/index.ts'

const insured = role('insured').describe('A person with a policy')
const clerk = role('clerk').describe('Those who decide on claims')

export const CoverExceeded = fault('CoverExceeded', {
  status: 422,
  title: 'The year’s cover is used up',
  detail: { left: t.decimal(9, 2), year: t.int() },
})
export const UnderAudit = fault('UnderAudit', {
  status: 409,
  title: 'The claim is being audited',
  detail: { until: t.date() },
})

const Address = t.object(
  { street: t.string({ max: 80 }), city: t.string({ max: 60 }), zip: t.string({ pattern: '[0-9]{5}' }) },
  'Address',
)

export const members = resource('members', {
  fields: {
    id: t.id('m'),
    number: t.string({ pattern: '[A-Z][0-9]{9}', max: 10 }),
    name: t.string({ min: 1, max: 100 }),
    born: t.date(),
    address: Address,
    plan: t.enum('basic', 'plus', 'full').default('basic'),
    iban: t
      .string({ max: 34 })
      .optional()
      .visibleTo(clerk, insured.owning({ id: 'member' })),
    used: t.decimal(9, 2).readOnly(),
  },
  actions: on => ({
    merge: on().moves({ rel: 'merger', input: { into: t.ref('members') } }),
  }),
}).rules({
  unique: [['number']],
  filter: ['number', 'plan', 'born'],
  sort: ['name', 'born'],
  search: ['name', 'address.city'],
  relations: { claims: { of: 'claims', by: 'member' } },
  allow: {
    read: [insured.owning({ id: 'member' }), clerk],
    create: [clerk],
    change: [clerk],
    remove: [clerk],
    merge: [clerk],
  },
})

export const codes = resource('codes', {
  fields: {
    id: t.id('k'),
    labels: t.map(t.string({ max: 100 }), { key: t.string({ pattern: '[a-z]{2}' }), max: 10 }),
    price: t.decimal(8, 2, { min: '0.00' }),
    tags: t.list(t.enum('dental', 'eye', 'lab'), { max: 5 }).optional(),
    valid: t.object({ from: t.date(), until: t.date().optional() }),
  },
}).rules({
  one: 'code',
  putCreates: true,
  bulk: true,
  precondition: false,
  filter: ['price'],
  sort: ['price'],
  cache: { maxAge: 60 },
  allow: { read: [anyone], create: [clerk], change: [clerk], remove: [clerk], bulk: [clerk] },
})

export const claims = resource('claims', {
  fields: {
    id: t.id('c'),
    member: t.ref('members'),
    treatments: t.list(
      t.object(
        {
          code: t.ref('codes'),
          on: t.date(),
          count: t.int({ min: 1, max: 99 }).default(1),
          minutes: t.duration().optional(),
        },
        'Treatment',
      ),
      { min: 1, max: 50 },
    ),
    total: t.decimal(9, 2).readOnly(),
    paidBy: t.union('how', { member: { receipt: t.string() }, clinic: { account: t.string({ max: 34 }) } }),
    note: t.string({ max: 500 }).nullable().optional(),
    received: t.dateTime().readOnly(),
    approved: t.decimal(9, 2).readOnly().optional(),
    decidedBy: t.string().readOnly().optional(),
    points: t.long().readOnly().default(0n),
    share: t.double().computed(),
    state: t.state(),
  },
  states: ['submitted', 'inReview', 'approved', 'rejected', 'settled', 'withdrawn'],
  actions: on => ({
    review: on('submitted').to('inReview', { rel: 'examination' }),
    approve: on('inReview').to('approved', {
      rel: 'approval',
      input: { amount: t.decimal(9, 2) },
      faults: [CoverExceeded, UnderAudit],
    }),
    reject: on('inReview').to('rejected', { rel: 'rejection', input: { reason: t.string({ min: 3, max: 500 }) } }),
    settle: on('approved').to('settled', {
      rel: 'settlement',
      kept: true,
      output: { reference: t.string(), amount: t.decimal(9, 2), at: t.dateTime() },
    }),
    withdraw: on('submitted', 'inReview').to('withdrawn', { rel: 'withdrawal', input: { why: t.string().optional() } }),
    tally: on().read({ rel: 'overview', output: { treatments: t.int(), days: t.int() } }),
    touch: on('inReview').stay({ rel: 'reminder', output: { seen: t.dateTime() } }),
  }),
  files: { invoice: { mediaTypes: ['application/pdf', 'image/png'], max: 2_000_000 } },
}).rules({
  filter: ['member', 'state', 'total', 'received', 'note', 'treatments.code'],
  sort: ['received', 'total'],
  order: ['-received'],
  search: ['note', 'member.name'],
  searchBy: ['state'],
  edit: ['submitted'],
  remove: ['withdrawn', 'rejected'],
  bulk: true,
  relations: { member: { by: 'member' } },
  allow: {
    read: [insured.owning({ member: 'member' }), clerk],
    create: [insured.owning({ member: 'member' }), clerk],
    change: [insured.owning({ member: 'member' }), clerk],
    remove: [clerk],
    bulk: [clerk],
    review: [clerk],
    approve: [clerk.given('small', ({ value }) => Number(value?.['total'] ?? 0) <= 5000)],
    reject: [clerk],
    settle: [clerk],
    touch: [clerk],
    withdraw: [insured.owning({ member: 'member' }), clerk],
    tally: [clerk],
  },
})

export const remarks = resource('remarks', {
  within: 'claim',
  fields: { id: t.id('r'), claim: t.ref('claims'), text: t.string({ min: 1, max: 1000 }), by: t.string().readOnly() },
}).rules({
  sort: ['text'],
  filter: ['by'],
  allow: { read: [insured, clerk], create: [insured, clerk], change: [clerk], remove: [clerk] },
})

export const tariff = resource('tariff', {
  single: true,
  fields: { year: t.int({ min: 2000, max: 2100 }), limit: t.decimal(9, 2), opens: t.time(), state: t.state() },
  states: ['draft', 'published'],
  actions: on => ({ publish: on('draft').to('published', { rel: 'publication' }) }),
}).rules({ allow: { read: [anyone], create: [clerk], change: [clerk], publish: [clerk] } })

export const statements = job('statements', {
  input: { year: t.int({ min: 2000, max: 2100 }), wait: t.boolean().optional() },
  output: { claims: t.int(), total: t.decimal(12, 2) },
  allow: [clerk],
  faults: [UnderAudit],
})

export const insurer = service('insurer', {
  namespace: 'urn:example:insurer',
  title: 'Claims of a health insurer',
  resources: [members, codes, claims, remarks, tariff],
  jobs: [statements],
  searches: { of: 'claims', allow: [clerk] },
  headers: {
    Channel: header(t.enum('app', 'paper'), { field: 'Claim-Channel', operations: ['CreateClaim'] }),
    Desk: header(t.string(), { direction: 'response', field: 'Claim-Desk', operations: ['CreateClaim', 'GetClaim'] }),
  },
  versions: {
    v1: {
      without: { claims: ['points', 'decidedBy'] },
      renames: { claims: { remark: 'note' } },
      retypes: {
        codes: {
          price: retype(codes.fields.price, t.int({ min: 0 }), {
            up: c => (c / 100).toFixed(2),
            down: p => Math.round(Number(p) * 100),
            exact: true,
          }),
        },
      },
      deprecated: '2027-01-31',
    },
    v2: {},
  },
})

const claimHandlers: Handlers<typeof insurer, 'claims'> = {
  compute: ({ treatments }) => ({ share: 1 / treatments.length }),
  derive: async (ctx, draft, current) => {
    let cents = 0
    for (const each of draft.treatments) {
      const code = await ctx.items.get('codes', each.code)
      cents += Math.round(Number(code?.price ?? 0) * 100) * each.count
    }
    if (draft.note === 'nope') ctx.invalid(['note'], 'says nope')
    ctx.setHeader('Desk', 'D1')
    return { total: (cents / 100).toFixed(2), received: current?.received ?? ctx.now }
  },
  review: () => {},
  approve: (ctx, claim, { amount }) => {
    if (Number(amount) > Number(claim.total)) ctx.fail(CoverExceeded, { left: claim.total, year: 2026 })
    return { set: { approved: amount, decidedBy: ctx.caller.subject ?? 'nobody' } }
  },
  reject: () => {},
  settle: (ctx, claim) => ({ output: { reference: ctx.id('p'), amount: claim.approved ?? '0.00', at: ctx.now } }),
  withdraw: () => {},
  tally: (_ctx, claim) => ({
    treatments: claim.treatments.length,
    days: new Set(claim.treatments.map(each => each.on)).size,
  }),
  touch: ctx => ({ output: { seen: ctx.now } }),
}

export default implement(
  insurer,
  {
    members: {
      derive: (_ctx, _draft, current) => ({ used: current?.used ?? '0.00' }),
      merge: async (ctx, member, { into }) => {
        for await (const claim of ctx.items.all.list('claims', { member: member.id }))
          await ctx.items.change('claims', claim.id, { member: into })
        return { to: into }
      },
    },
    claims: claimHandlers,
    remarks: { derive: ctx => ({ by: ctx.caller.subject ?? 'nobody' }) },
    tariff: { publish: () => {} },
    statements: {
      starting: (ctx, { year }) => {
        if (year === 2013) ctx.fail(UnderAudit, { until: '2027-01-01' })
      },
      run: async (ctx, { year }) => {
        let cents = 0,
          count = 0
        for await (const claim of ctx.items.all.list('claims', { received: { gte: `${year}-01-01T00:00:00Z` } })) {
          count++
          cents += Math.round(Number(claim.total) * 100)
        }
        return { claims: count, total: (cents / 100).toFixed(2) }
      },
    },
  },
  {
    seed: () => ({
      people: [
        { subject: 'karl', password: 'karl-secret', roles: ['clerk'] },
        { subject: 'ida', password: 'ida-secret', roles: ['insured'], claims: { member: 'm-1' } },
        { subject: 'otto', password: 'otto-secret', roles: ['insured'], claims: { member: 'm-2' } },
      ],
      items: {
        members: [
          {
            id: 'm-1',
            number: 'A123456789',
            name: 'Ida Inger',
            born: '1980-02-29',
            address: { street: 'Long Lane 1', city: 'Ulm', zip: '89073' },
            plan: 'plus',
            iban: 'DE00',
            used: '0.00',
          },
          {
            id: 'm-2',
            number: 'A123456790',
            name: 'Otto Ohm',
            born: '1990-12-31',
            address: { street: 'Short Lane 2', city: 'Bonn', zip: '53111' },
            plan: 'basic',
            used: '0.00',
          },
          {
            id: 'm-3',
            number: 'A123456791',
            name: 'Otto Oh',
            born: '1990-12-31',
            address: { street: 'Short Lane 2', city: 'Bonn', zip: '53111' },
            plan: 'basic',
            used: '0.00',
          },
        ],
        codes: [
          {
            id: 'k-1',
            labels: { de: 'Füllung', en: 'Filling' },
            price: '45.50',
            tags: ['dental'],
            valid: { from: '2026-01-01' },
          },
          { id: 'k-2', labels: { de: 'Brille' }, price: '99.00', valid: { from: '2026-01-01' } },
        ],
        tariff: { year: 2026, limit: '1000.00', opens: '08:00:00', state: 'draft' },
      },
    }),
  },
)
