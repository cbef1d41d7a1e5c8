/**
 * The service of the simulated world. Registers are changed by compare-and-set; a quote reads one
 * where it is made; a transfer changes two accounts, and refuses late, after it has written; an
 * audit is a job with a step that must happen once.
 */
import { anyone, fault, implement, job, resource, service, t } from '../../src/index.ts'

export const InsufficientFunds = fault('InsufficientFunds', {
  status: 409,
  title: 'Insufficient funds',
  detail: { balance: t.int() },
})

const registers = resource('registers', {
  fields: { id: t.id('r'), position: t.int({ min: 0 }), mark: t.string({ max: 20 }) },
}).rules({
  putCreates: true,
  filter: ['position'],
  allow: { read: [anyone], create: [anyone], change: [anyone], remove: [anyone] },
})

const quotes = resource('quotes', {
  fields: { id: t.id('q'), register: t.ref('registers'), position: t.int().readOnly() },
}).rules({ allow: { read: [anyone], create: [anyone] } })

const accounts = resource('accounts', {
  fields: { id: t.id('a'), balance: t.int() },
}).rules({ allow: { read: [anyone], change: [anyone] } })

const transfers = resource('transfers', {
  fields: {
    id: t.id('t'),
    from: t.ref('accounts'),
    to: t.ref('accounts'),
    amount: t.int({ min: 1 }),
    mark: t.string({ max: 20 }),
    state: t.state(),
  },
  states: ['made', 'settled'],
  actions: on => ({ settle: on('made').to('settled', { rel: 'settlement', faults: [InsufficientFunds] }) }),
}).rules({
  filter: ['mark', 'state'],
  search: ['mark'],
  messages: ['get', 'create', 'settle'],
  allow: { read: [anyone], create: [anyone], settle: [anyone], remove: [anyone] },
})

export const audits = job('audits', {
  input: { mark: t.string({ max: 20 }) },
  output: { sum: t.int(), count: t.int() },
  allow: [anyone],
})

/** Of each caller, at each instance. */
export const readLimit = { count: 40, seconds: 10 }

export const ledger = service('ledger', {
  namespace: 'urn:ledger',
  resources: [registers, quotes, accounts, transfers],
  jobs: [audits],
  limits: { reads: readLimit },
})

/** Where audits are counted. */
export const auditCount = 'a-audits'

export const ledgerApp = implement(
  ledger,
  {
    quotes: {
      derive: async (ctx, draft) => {
        const register = await ctx.items.get('registers', draft.register)
        return { position: register?.position ?? ctx.invalid(['register'], 'is not there') }
      },
    },
    transfers: {
      settle: async (ctx, transfer) => {
        const to = await ctx.items.get('accounts', transfer.to)
        if (!to) return ctx.conflict('the account is gone')
        await ctx.items.change('accounts', transfer.to, { balance: to.balance + transfer.amount })
        const from = await ctx.items.get('accounts', transfer.from)
        if (!from) return ctx.conflict('the account is gone')
        await ctx.items.change('accounts', transfer.from, { balance: from.balance - transfer.amount })
        if (from.balance < transfer.amount) ctx.fail(InsufficientFunds, { balance: from.balance })
      },
    },
    audits: {
      run: async ctx => {
        const count = await ctx.once('count', async step => {
          const before = await step.items.get('accounts', auditCount)
          const balance = (before?.balance ?? 0) + 1
          await step.items.change('accounts', auditCount, { balance })
          return balance
        })
        let sum = 0
        for await (const { id, balance } of ctx.items.list('accounts')) if (id !== auditCount) sum += balance
        return { sum, count }
      },
    },
  },
  {
    seed: () => ({
      items: {
        accounts: [...['a-1', 'a-2', 'a-3'].map(id => ({ id, balance: 100 })), { id: auditCount, balance: 0 }],
      },
    }),
  },
)
