/**
 * A service that declares its own header blocks: each message names a branch, and each reply to a
 * booking has a receipt. Run with `npx diglot serve examples/bank/service.ts`.
 */
import { header, implement, resource, role, service, t } from 'diglot'

const teller = role('teller')
const money = () => t.decimal(12, 2, { min: '0' })

const transfers = resource('transfers', {
  fields: {
    id: t.id('t'),
    to: t.string({ min: 1, max: 34 }),
    amount: money(),
    branch: t.string().readOnly(),
    state: t.state(),
  },
  states: ['booked', 'reversed'],
  actions: on => ({ reverse: on('booked').to('reversed', { rel: 'reversal' }) }),
}).rules({
  filter: ['branch'],
  allow: { read: [teller], create: [teller], reverse: [teller] },
})

export const bank = service('bank', {
  namespace: 'urn:example:bank',
  resources: [transfers],
  headers: {
    Branch: header(t.string({ pattern: '[0-9]{4}' }), { mandatory: true, required: true, field: 'Branch' }),
    Receipt: header(t.object({ number: t.string(), branch: t.string() }, 'Receipt'), {
      direction: 'response',
      operations: ['CreateTransfer', 'ReverseTransfer'],
    }),
    Remark: header('xml', { direction: 'both' }),
  },
})

export default implement(
  bank,
  {
    transfers: {
      derive: (ctx, _draft, current) => {
        const branch = current?.branch ?? ctx.headers.Branch ?? ''
        ctx.setHeader('Receipt', { number: ctx.id('r'), branch })
        if (ctx.headers.Remark) ctx.setHeader('Remark', ctx.headers.Remark)
        return { branch }
      },
      reverse: (ctx, transfer) => {
        if (ctx.headers.Branch !== transfer.branch) ctx.forbid()
        ctx.setHeader('Receipt', { number: ctx.id('r'), branch: transfer.branch })
      },
    },
  },
  { seed: () => ({ people: [{ subject: 'tina', password: 'tina-secret', roles: ['teller'] }] }) },
)
