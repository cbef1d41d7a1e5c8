/**
 * What stands around the snippets of a page for its reader: the names that the page has explained,
 * or takes from the application. A snippet without a frame stands alone.
 */
import { join } from 'node:path'
import { checkout } from '../support/linked-project.ts'
import type { Snippet } from './pages.ts'

interface SnippetFrame {
  /** Before the snippets of the page. */
  readonly before: string
  /** How a fragment is made whole: by its first words. */
  readonly whole?: Readonly<Record<string, (text: string) => string>>
}

const example = (file: string): string => JSON.stringify(join(checkout, 'examples', file))

const shopOfHandlers = `
const clerk = role('clerk')
const allow = { read: [clerk], create: [clerk], change: [clerk], remove: [clerk] }
const shop = service('shop', {
  namespace: 'urn:example:shop',
  resources: [
    resource('products', { fields: { id: t.id('p'), stock: t.int() } }).rules({ allow }),
    resource('customers', {
      fields: { id: t.id('c'), email: t.string() },
      files: { scan: { mediaTypes: ['text/csv'], max: 1000 }, letter: { mediaTypes: ['application/pdf'], max: 1000 } },
    }).rules({ allow }),
    resource('drafts', { fields: { id: t.id('d') } }).rules({ allow }),
    resource('invoices', {
      fields: { id: t.id('i'), order: t.ref('orders'), amount: t.decimal(12, 2), state: t.state() },
      states: ['open', 'paid'],
      actions: on => ({ pay: on('open').to('paid', { rel: 'payment', input: { method: t.enum('card') } }) }),
    }).rules({ allow: { ...allow, pay: [clerk] } }),
    resource('orders', {
      fields: {
        id: t.id('o'),
        customer: t.ref('customers'),
        lines: t.list(t.object({ product: t.ref('products'), quantity: t.int() }), { max: 10 }),
        total: t.decimal(12, 2),
        invoiced: t.boolean().optional(),
        state: t.state(),
      },
      states: ['placed', 'paid'],
      actions: on => ({ pay: on('placed').to('paid', { rel: 'payment' }) }),
    }).rules({ filter: ['customer', 'total', 'state'], sort: ['total'], allow: { ...allow, pay: [clerk] } }),
  ],
  jobs: [job('mails', { input: { to: t.string(), about: t.string() }, output: {}, allow: [] })],
})
interface Services {
  readonly mailer: { send(about: string): Promise<void> }
  readonly bank: object
}
type All = Parameters<typeof implement<typeof shop, Services>>[1]
declare const handlers: All
declare const seed: () => {}
declare const mailer: Services['mailer'], bank: object
declare const ctx: Parameters<NonNullable<NonNullable<All['orders']>['pay']>>[0] &
  Pick<Parameters<NonNullable<NonNullable<All['mails']>['run']>>[0], 'once'>
declare const order: { id: string; total: string }, line: { product: string; quantity: number }
declare const customer: { id: string; email: string }, draft: { id: string }, stock: number, id: string
declare const count: (order: object) => void
declare const parser: { write(piece: Uint8Array): void }, printLetter: (to: object) => Promise<Uint8Array>
const DoctorBusy = fault('DoctorBusy', { status: 409, title: 'Busy' })
const HasHistory = fault('HasHistory', { status: 409, title: 'Has a history' })
const Unreadable = fault('Unreadable', { status: 422, title: 'Unreadable' })
const fields = { id: t.id('d'), name: t.string() }
const files = { picture: { mediaTypes: ['image/png'], max: 1000 } }
`

/** What `diglot import --operations` writes for a document with two operations. */
const petStore = `
const petNames = x.namespace('urn:pet-store')
const petMembers = { id: x.element(x.long), name: x.element(x.string) }
const petStore = service('pet-store', {
  namespace: 'urn:pet-store',
  resources: [],
  ports: [
    port('Operations', {
      namespace: 'urn:pet-store',
      allow: [],
      exchanges: {
        GetPet: exchange({
          action: 'get',
          input: petNames.element('GetPet', x.object({ petId: x.element(x.long) })),
          output: petNames.element('GetPetResponse', x.object(petMembers)),
        }),
        CreatePet: exchange({
          action: 'create',
          input: petNames.element('CreatePet', x.object({ name: x.element(x.string) })),
          output: petNames.element('CreatePetResponse', x.object(petMembers)),
          faults: { Conflict: petNames.element('Conflict', x.object({ message: x.element(x.string) })) },
        }),
      },
    }),
  ],
})
declare const token: string
`

const frames: Readonly<Record<string, SnippetFrame>> = {
  'README.md': { before: `import { PaymentDeclined, shop } from ${example('orders/contract.ts')}` },
  'docs/check.md': {
    before: `import assert from 'node:assert/strict'
declare const face: Parameters<typeof createMemoryTransport>[0]`,
  },
  'docs/client.md': {
    before: `import { PaymentDeclined, shop } from ${example('orders/contract.ts')}
import { createSoapClient, FaultError, ProblemError, StateConflict, VersionConflict } from 'diglot/client'
const octets = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10])`,
  },
  'docs/handlers.md': {
    before: `import { anyone, fault, type Handlers, implement, job, resource, role, service, t } from 'diglot'${shopOfHandlers}`,
  },
  'docs/import.md': {
    before: `import { exchange, type Grant, implement, port, resource, role, service, t, type ValueOf, x } from 'diglot'
declare const isStolen: (card: string) => boolean, place: (line: readonly Line[]) => Promise<bigint>`,
    whole: {
      'Order: exchange(': text => `export const several = () => {
  const of = (name: string) => shop.element(name, x.object({ id: x.element(x.string) }))
  const [Order, Buyer, OrderNumber, DueDate] = [of('Order'), of('Buyer'), of('OrderNumber'), of('DueDate')] as const
  return { ${text} }
}`,
      // The snippets of the page are one module, in which another contract has the name.
      'import { createOpenApiClient': text =>
        petStore + text.replace(/^.*petstore\.ts'$/m, '').replace('typeof contract', 'typeof petStore'),
    },
  },
  'docs/message-security.md': {
    before: `import { anyone, exchange, type Implementation, port, role, type ServeOptions, service, x } from 'diglot'
const bank = x.namespace('urn:bank')
const BalanceRequest = bank.element('BalanceRequest', x.string), Balance = bank.element('Balance', x.decimal)
const Pong = bank.element('Pong', x.string)
declare const app: Implementation
declare const certificate: Parameters<typeof validateCertificationPath>[0]['certificate']
declare const intermediates: [], anchors: [], crls: []`,
    whole: {
      'export const payment': text => text.replace('// …', `namespace: 'urn:example:payment', resources: [],`),
      'means:': text => `export const policy: ServeOptions['messageSecurity'] = { ${text} }`,
    },
  },
  'docs/mounting.md': {
    before: `import type { Server } from 'node:http'
import { handler } from 'diglot'
import shop from './service.ts'
import type { FastifyRequest } from 'fastify'
declare const server: Server
declare module 'fastify' {
  interface FastifyRequest {
    user?: { readonly id: string; readonly roles: readonly string[] }
  }
}`,
    whole: {
      "import { handler } from 'diglot'\nimport shop from '../../../service'": text =>
        text.replace(/^import .*\n/gm, ''),
      'process.once': text => `declare const mounted: Awaited<ReturnType<typeof handler>>\n${text}`,
    },
  },
  'docs/operations.md': {
    before: `import { tracingChannel } from 'node:diagnostics_channel'
import { type Implementation, serve } from 'diglot'
declare const app: Implementation
declare const directory: {
  bind(name: string, password: string): Promise<boolean>
  has(name: string): Promise<boolean>
  groups(name: string): Promise<readonly string[]>
}`,
  },
  'docs/soap-headers.md': {
    before: `import { header, type Handlers, resource, role, service, t } from 'diglot'
import { createSoapClient } from 'diglot/client'
const teller = role('teller')
const transfers = resource('transfers', {
  fields: { id: t.id('t'), to: t.string(), branch: t.string().readOnly(), state: t.state() },
  states: ['booked', 'reversed'],
  actions: on => ({ reverse: on('booked').to('reversed', { rel: 'reversal' }) }),
}).rules({ allow: { read: [teller], create: [teller], reverse: [teller] } })
declare const address: string, transfer: { to: string }`,
    whole: {
      'reverse:': text => `export const own: Pick<Handlers<typeof bank, 'transfers'>, 'reverse'> = { ${text} }`,
    },
  },
  'docs/mock.md': { before: `import { shop } from ${example('orders/contract.ts')}` },
  'docs/testing.md': {
    before: `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shop } from ${example('orders/contract.ts')}
import app from ${example('orders/service.ts')}`,
  },
}

/** Pages whose snippets read on: the names of one are those of the next. */
const readsOn: ReadonlySet<string> = new Set([
  'docs/client.md',
  'docs/contract.md',
  'docs/import.md',
  'docs/message-security.md',
  'docs/soap-headers.md',
])

/** The snippets of a page as modules, each a text that compiles. */
export function writeModules(page: string, snippets: readonly Snippet[]): readonly string[] {
  const { before, whole = {} } = frames[page] ?? { before: '' }
  const texts = snippets.map(({ text }) => {
    const [, complete] = Object.entries(whole).find(([words]) => text.startsWith(words)) ?? []
    return complete ? complete(text) : text
  })
  const modules = readsOn.has(page) ? [texts.join('\n')] : texts
  return modules.map(text => `${hoistImports(`${before}\n${text}`)}\nexport {}\n`)
}

/** Imports once each, and before all else. */
function hoistImports(text: string): string {
  const imports = new Set([...text.matchAll(/^import .*$/gm)].map(([line]) => line))
  return [...imports, text.replaceAll(/^import .*$/gm, '')].join('\n')
}
