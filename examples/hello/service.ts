import { anyone, implement, resource, service, t } from 'diglot'

const greetings = resource('greetings', {
  fields: { id: t.id('g'), name: t.string({ min: 1, max: 80 }), text: t.string().readOnly() },
}).rules({ allow: { read: [anyone], create: [anyone] } })

export const hello = service('hello', { namespace: 'urn:example:hello', resources: [greetings] })

export default implement(hello, {
  greetings: { derive: (_ctx, { name }) => ({ text: `Hello, ${name}!` }) },
})
