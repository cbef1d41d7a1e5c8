/** A shop with one resource of which there is one: its settings. */
import { anyone, fault, implement, job, resource, role, service, t } from '../../src/index.ts'

const [clerk, owner] = [role('clerk'), role('owner')]
export const Late = fault('Late', { status: 409, title: 'The day has begun', detail: { opens: t.string() } })

export const settings = resource('settings', {
  single: true,
  fields: {
    opens: t.string({ max: 20 }),
    beds: t.int({ min: 0 }).default(3),
    note: t.string().optional(),
    host: t.ref('hosts').optional(),
    code: t.string().visibleTo(clerk).optional(),
    label: t.string().computed(),
    state: t.state(),
  },
  states: ['open', 'closed'],
  actions: on => ({
    // A name that the identifier of a collection's item has in messages.
    close: on('open').to('closed', { rel: 'closing', input: { id: t.string().optional() }, faults: [Late] }),
    reopen: on('closed').to('open', { rel: 'opening' }),
    count: on('open').read({ rel: 'total', output: { beds: t.int() } }),
  }),
  files: { logo: { mediaTypes: ['image/png'], max: 1000 } },
}).rules({
  relations: { host: { by: 'host' } },
  allow: {
    read: [anyone],
    create: [clerk],
    change: [clerk],
    remove: [clerk],
    close: [clerk],
    reopen: [clerk],
  },
})
/** Made once, by PUT or a message, and never changed. */
export const charter = resource('charter', { single: true, fields: { text: t.string() } }).rules({
  allow: { read: [anyone], create: [owner] },
})
/** Made only by handlers. */
export const tariff = resource('tariff', { single: true, fields: { night: t.int() } }).rules({
  allow: { read: [anyone], change: [clerk] },
})
export const hosts = resource('hosts', { fields: { id: t.id('h'), name: t.string() } }).rules({
  allow: { read: [anyone], create: [clerk], change: [clerk], remove: [clerk] },
})
export const sweeps = job('sweeps', { input: {}, output: { was: t.string() }, allow: [clerk] })

export const inn = service('inn', {
  namespace: 'urn:inn',
  resources: [settings, charter, tariff, hosts],
  jobs: [sweeps],
  versions: { v1: { without: { settings: ['note'] }, renames: { settings: { from: 'opens' } } }, v2: {} },
})

export const people = [
  { subject: 'clara', password: 'c', roles: ['clerk'] },
  { subject: 'olga', password: 'o', roles: ['owner'] },
  { subject: 'gus', password: 'g', roles: ['guest'] },
]

export const innWith = (seeded: { readonly opens: string; readonly code?: string } | undefined) =>
  implement(
    inn,
    {
      settings: {
        compute: ({ opens, beds }) => ({ label: `${beds} beds from ${opens}` }),
        close: (ctx, item, { id }) => {
          if (id === 'late') ctx.fail(Late, { opens: item.opens })
          return { set: { note: `closed ${id ?? ''}` } }
        },
        reopen: () => {},
        count: (_ctx, { beds }) => ({ beds }),
      },
      sweeps: {
        run: async ctx => {
          const before = await ctx.items.get('settings')
          if (!before) await ctx.items.create('settings', { opens: 'never', state: 'open' } as never)
          await ctx.items.change('settings', { opens: 'swept' })
          const after = await ctx.items.act('settings', 'close', { id: 'sweep' })
          await ctx.items.act('settings', 'reopen')
          return { was: `${before?.opens ?? 'absent'} ${after.state}` }
        },
      },
    },
    {
      seed: () => ({
        people,
        items: {
          hosts: [{ id: 'h-1', name: 'Ida' }],
          ...(seeded && { settings: { ...seeded, state: 'open' as const } }),
        },
      }),
    },
  )
