/**
 * A service for one partner: each message is signed and encrypted and names a branch, and the reply
 * is signed and encrypted in the same way. `docs/message-security.md` shows how to make the keys.
 *
 *     npx diglot serve examples/bank/partner.ts --signers partner.pem \
 *       --message-key bank.key --message-certificate bank.pem
 */
import { header, implement, resource, role, service, t } from 'diglot'

const partner = role('partner')

const payments = resource('payments', {
  fields: {
    id: t.id('p'),
    to: t.string({ min: 1, max: 34 }),
    amount: t.decimal(12, 2, { min: '0.01' }),
    branch: t.string().readOnly(),
  },
}).rules({ filter: ['branch'], allow: { read: [partner], create: [partner] } })

export const payment = service('payment', {
  namespace: 'urn:example:payment',
  resources: [payments],
  headers: {
    Branch: header(t.string({ pattern: '[0-9]{4}' }), { mandatory: true, required: true }),
    Receipt: header(t.string(), { direction: 'response', operations: ['CreatePayment'] }),
  },
  endpoints: {
    '/soap/partner': {
      security: {
        callers: ['x509'],
        encrypted: true,
        answers: 'encrypted',
        operations: { ListPayments: { callers: ['x509'], answers: 'signed' } },
      },
    },
  },
})

export default implement(
  payment,
  {
    payments: {
      derive: (ctx, _draft, current) => {
        const branch = current?.branch ?? ctx.headers.Branch ?? ''
        ctx.setHeader('Receipt', ctx.id('r'))
        return { branch }
      },
    },
  },
  { seed: () => ({ people: [{ subject: 'acme', password: 'acme-secret', roles: ['partner'] }] }) },
)
