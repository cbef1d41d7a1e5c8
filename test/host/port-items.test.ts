/**
 * Exchanges of a port next to resources of the same service: what their handlers read and change is
 * what callers of REST see, by the same policies and in one transaction (docs/import.md).
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openService } from '../../src/host/open-service.ts'
import { anyone, exchange, fault, implement, job, port, resource, role, service, t, x } from '../../src/index.ts'
import { startTestService, type TestCaller } from '../../src/testing/index.ts'
import { createMemoryFetch } from '../../src/testing/memory-fetch.ts'

const clerk = role('clerk')
const shop = role('shop')
const Fragile = fault('Fragile', { status: 409, title: 'Fragile', detail: { grams: t.int() } })

const parcels = resource('parcels', {
  fields: {
    id: t.id('p'),
    owner: t.string({ max: 20 }),
    grams: t.int({ min: 1, max: 30_000 }),
    label: t.string().readOnly(),
    state: t.state(),
  },
  states: ['booked', 'sent'],
  actions: on => ({ send: on('booked').to('sent', { rel: 'sending' }) }),
}).rules({
  filter: ['owner'],
  unserved: 'accept',
  faults: { create: [Fragile] },
  allow: { read: [clerk, shop.owning({ owner: 'shop' })], create: [clerk], change: [clerk], send: [] },
})
const mails = job('mails', { input: { parcel: t.string({ max: 5 }) }, output: {}, allow: [] })

const ns = x.namespace('urn:freight')
const Parcel = x.object({ grams: x.element(x.int) })
const freight = port('Freight', {
  namespace: 'urn:freight:wsdl',
  allow: [shop],
  exchanges: {
    Book: exchange({
      action: 'urn:book',
      input: ns.element('Book', x.object({ parcel: x.element(Parcel).many(1) })),
      output: ns.element('Booked', x.object({ number: x.element(x.string).many(), log: x.element(x.string) })),
      faults: { Refused: ns.element('Refused', x.object({ why: x.element(x.string), grams: x.element(x.int) })) },
    }),
    Send: exchange({
      action: 'urn:send',
      input: ns.element('Send', x.string),
      output: ns.element('Sent', x.string),
      faults: { WrongState: ns.element('WrongState', x.string) },
    }),
    Count: exchange({
      action: 'urn:count',
      safe: true,
      input: ns.element('Count', x.object({ all: x.element(x.boolean) })),
      output: ns.element('Counted', x.int),
    }),
    Misuse: exchange({
      action: 'urn:misuse',
      input: ns.element('Misuse', x.string),
      output: ns.element('Done', x.int),
    }),
    LookAndChange: exchange({
      action: 'urn:look',
      safe: true,
      allow: [anyone],
      input: ns.element('Look', x.object({})),
      output: ns.element('Looked', x.int),
    }),
  },
})
const contract = service('parcels', {
  namespace: 'urn:parcels',
  resources: [parcels],
  jobs: [mails],
  ports: [freight],
})

const mailed: string[] = []
const app = implement(
  contract,
  {
    parcels: {
      derive: (ctx, { grams }) => {
        if (grams > 10_000) ctx.fail(Fragile, { grams })
        return { label: grams === 13 ? (13 as never) : `${grams} g` }
      },
      send: () => {},
    },
    mails: {
      run: async (_ctx, { parcel }) => {
        mailed.push(parcel)
        return {}
      },
    },
    Freight: {
      Book: async ({ parcel }, ctx) => {
        ctx.log.info('booking', { parcels: parcel.length })
        try {
          const number = await ctx.transaction(async tx => {
            const made: string[] = []
            for (const { grams } of parcel) {
              const { id, label } = await tx.items.create('parcels', { owner: ctx.caller.claims['shop'] ?? '', grams })
              await tx.after('mails', { parcel: label })
              made.push(id)
            }
            return made
          })
          return { number, log: ctx.services.name }
        } catch (thrown) {
          const refusal = ctx.refusalOf(thrown)
          if (refusal?.fault !== 'Fragile') throw thrown
          return ctx.fail('Refused', { why: refusal.reason, grams: Number(refusal.detail['grams']) })
        }
      },
      Send: async (id, ctx) => {
        const parcel = await ctx.items.get('parcels', id)
        if (!parcel) return ctx.fail('WrongState', 'unknown')
        try {
          return (await ctx.transaction(tx => tx.items.act('parcels', id, 'send'))).state
        } catch (thrown) {
          const refusal = ctx.refusalOf(thrown)
          if (refusal?.fault !== 'StateConflict') throw thrown
          return ctx.fail('WrongState', parcel.state)
        }
      },
      Count: ({ all }, ctx) => (all ? ctx.items.all : ctx.items).list('parcels').count(),
      Misuse: async (how, ctx) => {
        if (how === 'outside')
          await (ctx.items as never as { create(of: string, what: object): Promise<void> }).create('parcels', {})
        if (how === 'inside') await ctx.transaction(() => ctx.items.all.list('parcels').count())
        if (how === 'twice')
          await Promise.all([1, 2].map(() => ctx.transaction(tx => tx.items.list('parcels').count())))
        if (how === 'invalid') await ctx.transaction(tx => tx.invalid(['grams'], 'is odd'))
        return 1
      },
      LookAndChange: async (_, ctx) => ctx.transaction(() => 1),
    },
  },
  {
    services: { name: 'of the shop' },
    seed: () => ({
      people: [
        { subject: 'ann', password: 'ann-secret', roles: ['shop'], claims: { shop: 'ann' } },
        { subject: 'bob', password: 'bob-secret', roles: ['shop'], claims: { shop: 'bob' } },
        { subject: 'cleo', password: 'cleo-secret', roles: ['clerk'] },
      ],
      items: { parcels: [{ id: 'p-1', owner: 'bob', grams: 5, label: '5 g', state: 'booked' }] },
    }),
  },
)

const long = { subject: 'long', roles: ['shop'], claims: { shop: 'x'.repeat(21) } }
const soapNs = 'http://schemas.xmlsoap.org/soap/envelope/'
type Of = Awaited<ReturnType<typeof open>>
const open = () => startTestService(contract, app)

/** The same content in either face: the status, and the text of the response. */
const faces = {
  rest: async ({ fetchAs, address }: Of, caller: TestCaller | undefined, name: string, json: unknown) => {
    const answer = await fetchAs(caller)(`${address}/api/v1/Freight/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(json),
    })
    return { status: answer.status, text: await answer.text() }
  },
  soap: async ({ fetchAs, address }: Of, caller: TestCaller | undefined, name: string, json: unknown) => {
    const write = (value: unknown): string =>
      typeof value === 'object' && value !== null
        ? Object.entries(value)
            .flatMap(([key, each]) => [each].flat().map(one => `<${key}>${write(one)}</${key}>`))
            .join('')
        : String(value)
    const element = name === 'LookAndChange' ? 'Look' : name
    const answer = await fetchAs(caller)(`${address}/soap/Freight`, {
      method: 'POST',
      headers: {
        'content-type': 'text/xml',
        soapaction: `"urn:${name === 'LookAndChange' ? 'look' : name.toLowerCase()}"`,
      },
      body: `<e:Envelope xmlns:e="${soapNs}"><e:Body><${element} xmlns="urn:freight">${write(json)}</${element}></e:Body></e:Envelope>`,
    })
    return { status: answer.status, text: await answer.text() }
  },
} as const

for (const [face, ask] of Object.entries(faces))
  describe(`an exchange by ${face}`, () => {
    test('makes items of resources, for their owners, and jobs once the items are kept', async () => {
      await using of = await open()
      mailed.length = 0
      const booked = await ask(of, 'ann', 'Book', { parcel: [{ grams: 10 }, { grams: 20 }] })
      assert.equal(booked.status, 200, booked.text)
      assert.match(booked.text, /of the shop/)
      const mine = await Array.fromAsync(of.rest('ann').parcels.list())
      assert.deepEqual(mine.map(({ owner, label }) => `${owner} ${label}`).sort(), ['ann 10 g', 'ann 20 g'])
      for (const { id } of mine) assert.ok(booked.text.includes(id), booked.text)
      await of.work()
      assert.deepEqual(mailed.toSorted(), ['10 g', '20 g'])
      const events = await of.events()
      assert.deepEqual(
        events.map(({ type }) => type),
        ['parcels.parcels.created', 'parcels.parcels.created'],
      )
    })

    test('keeps nothing of a refused transaction, and reports it by its own fault', async () => {
      await using of = await open()
      mailed.length = 0
      const refused = await ask(of, 'ann', 'Book', { parcel: [{ grams: 100 }, { grams: 20_000 }] })
      assert.equal(refused.status, face === 'rest' ? 422 : 500)
      assert.match(refused.text, /Refused/)
      assert.match(refused.text, /20000/)
      assert.equal(await Array.fromAsync(of.rest('ann').parcels.list()).then(all => all.length), 0)
      await of.work()
      assert.deepEqual(mailed, [])
    })

    test('content that does not fit the resource is refused with its place, and is no bug', async () => {
      await using of = await open()
      for (const [json, says] of [
        [{ parcel: [{ grams: 100 }, { grams: 0 }] }, /parcels\.grams must be at least 1/],
        [{ parcel: [{ grams: 5 }] }, /parcels\.owner must have at most 20 characters/],
        [{ parcel: [{ grams: 7777 }] }, /mails\.parcel must have at most 5 characters/],
      ] as const) {
        const caller = /owner/.test(says.source) ? long : 'ann'
        const { status, text } = await ask(of, caller, 'Book', json)
        assert.equal(status, face === 'rest' ? 422 : 500, text)
        assert.match(text, says)
      }
      assert.deepEqual(of.incidents, [])
      assert.deepEqual(await Array.fromAsync(of.rest('ann').parcels.list()), [])
    })

    test("an error of a resource's handler is a bug all the same", async () => {
      await using of = await open()
      assert.equal((await ask(of, 'ann', 'Book', { parcel: [{ grams: 13 }] })).status, 500)
      assert.match(of.incidents.map(String).join('\n'), /invalid value of a handler: parcels\.label/)
    })

    test('reads what its caller may read, or all of it', async () => {
      await using of = await open()
      await ask(of, 'ann', 'Book', { parcel: [{ grams: 100 }] })
      assert.match((await ask(of, 'ann', 'Count', { all: false })).text, />1<|^1$/)
      assert.match((await ask(of, 'ann', 'Count', { all: true })).text, />2<|^2$/)
      assert.match((await ask(of, 'ann', 'Send', 'p-1')).text, /unknown/) // the parcel of another shop
    })

    test('moves an item by its machine, and is refused if the state does not allow it', async () => {
      await using of = await open()
      assert.match((await ask(of, 'bob', 'Send', 'p-1')).text, /sent/)
      const again = await ask(of, 'bob', 'Send', 'p-1')
      assert.match(again.text, /WrongState/)
      assert.equal((await of.rest('bob').parcels.get('p-1')).state, 'sent')
    })

    test('a refusal of a transaction that nobody catches is reported as everywhere', async () => {
      await using of = await open()
      const invalid = await ask(of, 'ann', 'Misuse', 'invalid')
      assert.equal(invalid.status, face === 'rest' ? 422 : 500)
      assert.match(invalid.text, /is odd/)
    })

    for (const [how, says] of [
      ['outside', /create is not a function/],
      ['inside', /Freight\.Misuse: a transaction is running: read through the items that its work receives/],
    ] as const)
      test(`a change or a read in the wrong place is a bug that the log names: ${how}`, async () => {
        await using of = await open()
        const answer = await ask(of, 'ann', 'Misuse', how)
        assert.equal(answer.status, 500)
        assert.doesNotMatch(answer.text, /transaction|create/)
        assert.match(of.incidents.map(String).join('\n'), says)
      })

    test('transactions that are begun at once all happen', async () => {
      await using of = await open()
      assert.equal((await ask(of, 'ann', 'Misuse', 'twice')).status, 200)
    })

    test('a safe exchange has no transaction', async () => {
      await using of = await open()
      assert.equal((await ask(of, undefined, 'LookAndChange', {})).status, 500)
      assert.match(of.incidents.map(String).join('\n'), /Freight\.LookAndChange is safe, and changes nothing/)
    })
  })

test('an exchange has only the items, the faults and the services of its own service', () => {
  const Freight = { ...app.ports?.['Freight'] } as never
  const others = { parcels: app.handlers['parcels'], mails: app.handlers['mails'] } as never as object
  const withFreight = (handlers: Parameters<typeof implement<typeof contract, { name: string }>>[1]) => handlers
  const of = (Count: Parameters<typeof withFreight>[0]['Freight']['Count']) =>
    withFreight({ ...(others as never as object), Freight: { ...(Freight as object), Count } } as never)
  of((_, ctx) => ctx.items.list('parcels', { owner: ctx.services.name }).count())
  // @ts-expect-error the contract has no such resource
  of((_, ctx) => ctx.items.list('parcel').count())
  // @ts-expect-error it is not one of its filters
  of((_, ctx) => ctx.items.list('parcels', { grams: 1 }).count())
  // @ts-expect-error items are changed in a transaction
  of((_, ctx) => ctx.items.create('parcels', { owner: 'x', grams: 1 }))
  // @ts-expect-error there is no such service
  of((_, ctx) => ctx.services.mailer)
})

test('the audit says by which exchange an item was changed, and that there was a transaction', async () => {
  const lines: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[] = []
  const line = (fields: object, message: string) => void lines.push({ message, fields: { ...fields } })
  const logger = { info: line, warn: line, error: line }
  await using opened = new AsyncDisposableStack()
  const { store, answer: serve } = await openService(app, { data: ':memory:', logger }, opened)
  const ask = createMemoryFetch(serve, {})
  const answer = await ask(`http://memory/api/v1/Freight/Send`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('bob:bob-secret')}`, 'content-type': 'application/json' },
    body: '"p-1"',
  })
  assert.equal(answer.status, 200, await answer.text())
  const deeds = await store.read(reader => reader.deeds(0, Date.now() + 1000, 10))
  assert.deepEqual(
    deeds.map(({ subject, operation, resource, id, face }) => [subject, operation, resource, id, face]),
    [
      ['bob', 'Freight.Send', 'parcels', 'p-1', 'rest'],
      ['bob', 'Freight.Send', 'Freight', '', 'rest'],
    ],
  )
  const changed = lines.filter(({ message }) => message === 'changed')
  assert.deepEqual(
    changed.map(({ fields }) => fields['operation']),
    ['Freight.Send'],
  )
})
