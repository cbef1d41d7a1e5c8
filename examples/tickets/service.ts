import { anyone, type Handlers, implement, resource, role, service, t } from 'diglot'

const agent = role('agent')
const text = t.string({ min: 1, max: 2000 })
const tickets = resource('tickets', {
  fields: { id: t.id('t'), question: text, answer: text.readOnly().optional(), state: t.state() },
  states: ['open', 'answered', 'closed'],
  actions: on => ({
    reply: on('open', 'answered').to('answered', { rel: 'answer', input: { text } }),
    close: on('answered').to('closed', { rel: 'closing' }),
  }),
}).rules({ filter: ['state'], allow: { read: [anyone], create: [anyone], reply: [agent], close: [agent] } })

export const helpdesk = service('tickets', { namespace: 'urn:example:tickets', resources: [tickets] })

const handlers: Handlers<typeof helpdesk, 'tickets'> = {
  reply: (_ctx, _ticket, { text }) => ({ set: { answer: text } }),
  close: () => {},
}
const seed = () => ({ people: [{ subject: 'ann', password: 'ann-secret', roles: ['agent'] }] })
export default implement(helpdesk, { tickets: handlers }, { seed })
