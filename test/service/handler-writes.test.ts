/** What handlers change besides the item of their call, and what they start after it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call } from '../../src/service/call.ts'
import { type ClinicHandlers, createClinic, sentMails, type VisitHandlers } from './clinic-service.ts'
import { input } from './orders-service.ts'
import { startService } from './service-of.ts'

const dora: Caller = { subject: 'dora', roles: ['desk'], claims: {} }
const pat: Caller = { subject: 'pat', roles: ['patient'], claims: { name: 'pat' } }
const visit = (id: string, more: object = {}) => ({
  id,
  owner: 'pat',
  doctor: `doctor ${id}`,
  day: '2026-12-01',
  fee: '80.00',
  state: 'booked',
  ...more,
})

async function startClinic(more: ClinicHandlers = {}) {
  const world = await startService(createClinic(more))
  await world.put('visits', [visit('v-1'), visit('v-2'), visit('v-3', { fee: '120.00', day: '2026-12-03' })])
  return { ...world, kept: <T>(work: Parameters<typeof world.store.read<T>>[0]) => world.store.read(work) }
}
/** What the handler of `cancel` sees and does; it resolves to the refusal or the thrown error. */
async function inHandler(work: NonNullable<VisitHandlers['cancel']>, more: ClinicHandlers = {}, caller = dora) {
  const world = await startClinic({ ...more, visits: { ...more.visits, cancel: work } })
  const told = await world.ask(caller, 'CancelVisit', { id: 'v-1', ...input({}) }).catch((thrown: Error) => thrown)
  return { world, told }
}
const messageOf = (told: unknown) => (told instanceof Error ? told.message : JSON.stringify(told))

describe('ctx.items', () => {
  test('a handler creates an item of another resource, in the transaction of its call', async () => {
    const world = await startClinic()
    const held = await world.ask(dora, 'HoldVisit', { id: 'v-1', ...input({ minutes: 30 }) })
    assert.ok('item' in held && held.item)
    const made = await world.kept(reader =>
      reader.list('invoices', { filters: [], within: 'all', sort: [], size: 9, counted: false }),
    )
    assert.deepEqual(
      made.items.map(({ value }) => value),
      [{ id: held.item.value['invoice'], visit: 'v-1', amount: '30.00', text: 'Visit v-1', state: 'open' }],
    )
    const changes = await world.kept(reader => reader.changes(0, 9))
    assert.deepEqual(
      changes.map(({ resource, what, operation }) => [resource, what, operation]),
      [
        ['invoices', 'created', 'HoldVisit'],
        ['visits', 'changed', 'HoldVisit'],
      ],
    )
    const deeds = await world.kept(reader => reader.deeds(0, Number.MAX_SAFE_INTEGER, 9))
    assert.deepEqual(
      deeds.map(({ resource, operation, subject, face, request, version }) => [
        resource,
        operation,
        subject,
        face,
        request,
        version !== undefined,
      ]),
      [
        ['invoices', 'HoldVisit', 'dora', 'rest', 'r', true],
        ['visits', 'HoldVisit', 'dora', 'rest', 'r', true],
      ],
    )
  })
  test('after a call is undone, nothing it did was created, changed or removed, and no job runs', async () => {
    const { world, told } = await inHandler(async ctx => {
      await ctx.items.create('invoices', { visit: 'v-2', amount: '1.00' })
      await ctx.items.change('visits', 'v-2', { doctor: 'other' })
      await ctx.items.remove('visits', 'v-3')
      await ctx.after('mails', { to: 'pat', about: 'never' })
      return ctx.conflict('no')
    })
    assert.deepEqual(told, { kind: 'conflict', detail: 'no' })
    assert.deepEqual(await world.kept(reader => reader.changes(0, 9)), [])
    assert.deepEqual(await world.kept(reader => reader.deeds(0, Number.MAX_SAFE_INTEGER, 9)), [])
    assert.equal(await world.runJob(), false)
  })
  test('writes ignore the policy: through a handler, a patient makes what patients cannot make', async () => {
    const world = await startClinic({
      visits: {
        derive: async (ctx, draft, current) => {
          if (!current) await ctx.items.create('invoices', { visit: 'v-1', amount: '5.00', paid: true })
          return { fee: '80.00', doctor: draft.doctor }
        },
      },
    })
    const made = await world.ask(pat, 'CreateVisit', input({ doctor: 'x', day: '2026-12-09' }))
    assert.equal(made.kind, 'item')
    const invoice = await world.kept(reader => reader.get('invoices', 'i-new2'))
    assert.ok(invoice && 'value' in invoice)
    assert.equal(invoice.value['paid'], true, 'a field that the server sets')
  })
  test('an undefined member of a new item is absent: its identifier is made, and `derive` computes it', async () => {
    let made: unknown
    const { told } = await inHandler(async ctx => {
      const draft = { id: undefined, visit: 'v-1', amount: '5.00', text: undefined, paid: undefined }
      made = await ctx.items.create('invoices', draft)
    })
    assert.ok(!(told instanceof Error), messageOf(told))
    assert.deepEqual(made, { id: 'i-new1', visit: 'v-1', amount: '5.00', text: 'Visit v-1', state: 'open' })
  })
  test('`change` lets `derive` compute client fields, but the values that the handler sets win', async () => {
    const seen: unknown[] = []
    const { world } = await inHandler(
      async ctx => {
        const same = await ctx.items.change('visits', 'v-2', { fee: '80.00' })
        const free = await ctx.items.change('visits', 'v-2', { fee: '0.00' })
        const moved = await ctx.items.change('visits', 'v-2', { doctor: 'x', fee: '9.00' })
        seen.push(same.fee, free.fee, moved.fee, moved.doctor)
        return undefined
      },
      {
        visits: {
          derive: (_ctx, draft) => {
            seen.push(draft.doctor)
            return { fee: '70.00' }
          },
        },
      },
    )
    assert.deepEqual(seen, ['x', '80.00', '0.00', '9.00', 'x'])
    const changes = await world.kept(reader => reader.changes(0, 9))
    assert.deepEqual(
      changes.map(({ id }) => id),
      ['v-2', 'v-2', 'v-1'],
      'the same value makes no version',
    )
  })
  test('row 28: an item that others refer to stays; `removing` is asked', async () => {
    const { told } = await inHandler(async ctx => {
      await ctx.items.create('invoices', { visit: 'v-2', amount: '1.00' })
      await ctx.items.remove('visits', 'v-2')
    })
    assert.deepEqual(told, {
      kind: 'conflict',
      detail: 'invoices refer to v-2 of visits: change or remove them first',
    })
    const removed: string[] = []
    const { world } = await inHandler(async ctx => ctx.items.remove('visits', 'v-2'), {
      visits: { removing: (_ctx, visit) => void removed.push(visit.id) },
    })
    assert.deepEqual(removed, ['v-2'])
    const gone = await world.kept(reader => reader.get('visits', 'v-2'))
    assert.ok(gone && !('value' in gone), '410 from now on')
  })
  test('A3.4 `act` does what a client does by an action, if the state allows it', async () => {
    let note = ''
    const acted = await inHandler(async ctx => {
      const { id } = await ctx.items.create('invoices', { visit: 'v-1', amount: '1.00' })
      note = (await ctx.items.act('invoices', id, 'annul', { why: 'cancelled' })).note
      await ctx.items.act('invoices', id, 'annul', { why: 'again' })
    })
    assert.equal(note, 'void: cancelled')
    assert.deepEqual(acted.told, {
      kind: 'conflict',
      detail: 'i-new1 of invoices is void, which does not allow annul',
    })
  })
  test('A3.4 `change` cannot move an item past its machine', async () => {
    const { world, told } = await inHandler(async ctx => {
      await ctx.items.change('visits', 'v-2', { doctor: 'x' })
      // @ts-expect-error the state follows the machine
      await ctx.items.change('visits', 'v-2', { state: 'held' })
    })
    assert.match(
      messageOf(told),
      /CancelVisit: ctx\.items\.change cannot move visits v-2 to the state held: use ctx\.items\.act with an action/,
    )
    const kept = await world.kept(reader => reader.get('visits', 'v-2'))
    assert.ok(kept && 'value' in kept && kept.value['state'] === 'booked' && kept.value['doctor'] === 'doctor v-2')
  })
  test('concurrent changes of one item are made one after the other', async () => {
    const seen: string[] = []
    const { world, told } = await inHandler(async ctx => {
      const all = ['x', 'y', 'z'].map(doctor => ctx.items.change('visits', 'v-2', { doctor }))
      seen.push(...(await Promise.all(all)).map(each => each.doctor))
    })
    assert.ok('item' in told, messageOf(told))
    assert.deepEqual(seen, ['x', 'y', 'z'])
    const last = await world.kept(reader => reader.get('visits', 'v-2'))
    assert.ok(last && 'value' in last && last.value['doctor'] === 'z')
  })
  test('lists compare, sort, count and come in pages, none of them empty', async () => {
    const seen: unknown[] = []
    const { told } = await inHandler(async ctx => {
      const dear = ctx.items.list('visits', { fee: { gte: '80.00', lt: '120.00' } }, { order: ['-doctor'] })
      for await (const each of dear) seen.push(each.id)
      seen.push(await dear.count())
      const byDay = ctx.items.list('visits', {}, { order: ['day', '-fee'] })
      for (const size of [2, 3, 4])
        for await (const page of byDay.pages(size)) seen.push(page.map(each => each.id).join())
      seen.push((await ctx.items.list('visits', { state: { in: ['held', 'cancelled'] } }).first(1)).items.length)
      for (const absent of [true, false]) seen.push(await ctx.items.list('visits', { invoice: { absent } }).count())
    })
    assert.equal(messageOf(told).includes('kind'), true)
    assert.deepEqual(seen, ['v-2', 'v-1', 2, 'v-1,v-2', 'v-3', 'v-1,v-2,v-3', 'v-1,v-2,v-3', 0, 3, 0])
  })
})

/** A value from a handler that cannot be right is its bug: 500, with place and cure in the log. */
const mistakes: [name: string, work: NonNullable<VisitHandlers['cancel']>, says: RegExp][] = [
  [
    'a required field that is missing',
    async ctx => void (await ctx.items.create('invoices', { visit: 'v-1' } as never)),
    /CancelVisit: invalid value of a handler: invoices\.amount is required/,
  ],
  [
    'a value that breaks the contract',
    async ctx => void (await ctx.items.create('invoices', { visit: 'v-1', amount: '1.234' })),
    /invalid value of a handler: invoices\.amount/,
  ],
  [
    'a field that does not exist',
    async ctx => void (await ctx.items.change('visits', 'v-2', { colour: 'red' } as never)),
    /invalid value of a handler: visits\.colour is not a known field/,
  ],
  [
    'a reference that leads nowhere',
    async ctx => void (await ctx.items.create('invoices', { visit: 'v-9', amount: '1.00' })),
    /invoices\.visit refers to v-9, which does not exist in visits/,
  ],
  [
    'an item that does not exist',
    async ctx => ctx.items.remove('visits', 'v-9'),
    /cannot change visits v-9: it does not exist/,
  ],
  [
    'an item that exists already',
    async ctx => void (await ctx.items.create('visits', { id: 'v-2', owner: 'x', doctor: 'x', day: '2026-01-01' })),
    /cannot create visits v-2: it exists already: use ctx\.items\.change, or leave out the id/,
  ],
  [
    'the item of the call',
    async ctx => void (await ctx.items.change('visits', 'v-1', { fee: '1.00' })),
    /visits v-1, the item of this call: return its new values/,
  ],
  [
    'a resource that does not exist',
    async ctx => void (await ctx.items.create('cars' as never, {} as never)),
    /cars is not a resource: name one of the contract/,
  ],
  [
    'an identifier that is none',
    async ctx => void (await ctx.items.get('visits', undefined as never)),
    /CancelVisit: ctx\.items\.get\('visits'\) has the identifier undefined: give a text/,
  ],
  [
    'the first items, fewer than one',
    async ctx => void (await ctx.items.list('visits').first(-1)),
    /ctx\.items\.list\('visits'\)\.first: -1 is not a number of items: give a whole number above 0/,
  ],
  [
    'pages of no item',
    async ctx => void (await ctx.items.list('visits').pages(0)[Symbol.asyncIterator]().next()),
    /\.pages: 0 is not a number of items/,
  ],
  [
    'a filter that the contract does not have',
    async ctx => void (await ctx.items.list('visits', { id: 'x' } as never).count()),
    /id is not one of its filters: use owner, doctor/,
  ],
  [
    'a filter without a value, which would select everything',
    async ctx => void (await ctx.items.list('visits', { owner: undefined } as never).count()),
    /owner is undefined: leave it out, or give a value/,
  ],
  [
    'a comparison that does not exist',
    async ctx => void (await ctx.items.list('visits', { fee: { above: '1' } } as never).count()),
    /fee\.above is not a comparison: use eq, ne/,
  ],
  [
    'absence of what is always there',
    async ctx => void (await ctx.items.list('visits', { fee: { absent: true } } as never).count()),
    /fee\.absent is not a comparison: use eq, ne, gt, gte, lt, lte, in$/m,
  ],
  [
    'absence that is neither true nor false',
    async ctx => void (await ctx.items.list('visits', { invoice: { absent: 'yes' } } as never).count()),
    /invoice\.absent must be true or false/,
  ],
  [
    'an order that the contract does not have',
    async ctx => void (await ctx.items.list('visits', {}, { order: ['-owner' as never] }).count()),
    /"-owner" is not an order: use day, fee, doctor/,
  ],
  [
    'an action that does not exist',
    async ctx => void (await ctx.items.act('visits', 'v-2', 'fly' as never, {} as never)),
    /fly is not an action that changes visits/,
  ],
  [
    'an input that breaks the contract',
    async ctx => void (await ctx.items.act('visits', 'v-2', 'hold', { minutes: 0 })),
    /invalid value of a handler: visits\.hold\.minutes/,
  ],
  [
    'a job that does not exist',
    async ctx => void (await ctx.after('letters' as never, {} as never)),
    /letters is not a job: name one of the contract/,
  ],
  [
    'an input of a job that breaks the contract',
    async ctx => void (await ctx.after('mails', { to: 'x' } as never)),
    /invalid input of a handler: mails\.about is required/,
  ],
  [
    'a delay that is none',
    async ctx => void (await ctx.after('mails', { to: 'x', about: 'y' }, { delay: -1 })),
    /invalid delay -1 of mails: use seconds, 0 or more/,
  ],
]
describe('a bug of a handler is reported with its place and its cure:', () => {
  for (const [name, work, says] of mistakes)
    test(name, async () => {
      const { told } = await inHandler(work)
      assert.ok(told instanceof Error, messageOf(told))
      assert.match(told.message, says)
    })
})

describe('limits and depth', () => {
  test('a problem that another handler reports concerns the whole content, and names its place', async () => {
    const { told } = await inHandler(
      async ctx => void (await ctx.items.create('invoices', { visit: 'v-1', amount: '666.00' })),
    )
    assert.deepEqual(told, {
      kind: 'invalid',
      problems: [{ path: [], code: 'rule', detail: 'invoices.amount is not a fee' }],
    })
  })
  test('B2 while a handler changes many items the event loop serves others', async () => {
    let turns = 0
    const { told } = await inHandler(async ctx => {
      let isCounting = true
      const countTurn = (): void => {
        turns++
        if (isCounting) setImmediate(countTurn)
      }
      setImmediate(countTurn)
      for (let i = 0; i < 400; i++) await ctx.items.change('visits', 'v-2', { doctor: `doctor ${i}` })
      isCounting = false
    })
    assert.ok(typeof told === 'object' && 'item' in told, messageOf(told))
    assert.ok(turns >= 4, `${turns} turns of the event loop`)
  })
  test('handlers that make each other do not go on for ever', async () => {
    const { told } = await inHandler(
      async ctx => void (await ctx.items.create('visits', { owner: 'x', doctor: 'x', day: '2026-01-01' })),
      {
        visits: {
          derive: async (ctx, draft) => {
            await ctx.items.create('visits', { ...draft, owner: 'x' })
            return { fee: '1.00' }
          },
        },
      },
    )
    assert.match(messageOf(told), /changes are nested more than 8 deep: visits v-1, visits v-new/)
  })
  test('a handler does not change the item whose handler it is', async () => {
    const { told } = await inHandler(async ctx => void (await ctx.items.change('visits', 'v-2', { doctor: 'y' })), {
      visits: {
        derive: async ctx => {
          await ctx.items.change('visits', 'v-2', { fee: '1.00' })
          return { fee: '1.00' }
        },
      },
    })
    assert.match(messageOf(told), /visits v-2 while it is changed: its handlers call each other in a cycle/)
  })
  test('at most a thousand jobs of one caller wait', async () => {
    const { told } = await inHandler(async ctx => {
      for (let i = 0; i < 1001; i++) await ctx.after('mails', { to: 'x', about: 'y' })
    })
    assert.deepEqual(told, { kind: 'too-many', after: 5, limit: 1000 })
  })
})

describe('ctx.after', () => {
  test('starts a job after the commit, with the services of `implement`, for a caller without a grant', async () => {
    sentMails.length = 0
    const world = await startClinic()
    await world.ask(dora, 'HoldVisit', { id: 'v-2', ...input({ minutes: 10 }) })
    assert.deepEqual(sentMails, [])
    assert.equal(await world.runJob(), true)
    assert.deepEqual(sentMails, ['pat: Visit v-2'])
    assert.equal(await world.runJob(), false)
  })
  test('starts it later if a delay is given', async () => {
    const { world } = await inHandler(
      async ctx => void (await ctx.after('mails', { to: 'a', about: 'b' }, { delay: 60 })),
    )
    assert.equal(await world.runJob(), false)
    world.clock.now += 60_000
    assert.equal(await world.runJob(), true)
  })
  test('a step of a job creates and starts once, however often the job runs', async () => {
    let tries = 0
    const world = await startClinic({
      archives: {
        run: async ctx => {
          const id = await ctx.once('invoice', async step => {
            await step.after('mails', { to: 'x', about: 'step' })
            return (await step.items.create('invoices', { visit: 'v-1', amount: '2.00' })).id
          })
          await ctx.items.change('invoices', id, { paid: true })
          tries++
          await ctx.items.remove('visits', 'v-3')
          return { visits: 1 }
        },
      },
    })
    await world.ask(dora, 'StartArchive', input({ year: 2000 }))
    assert.equal(await world.runJob(), true)
    assert.equal(tries, 1, String(world.thrown))
    const changes = await world.kept(reader => reader.changes(0, 9))
    assert.deepEqual(
      changes.map(({ resource, what, operation }) => [resource, what, operation]),
      [
        ['invoices', 'created', 'archives'],
        ['invoices', 'changed', 'archives'],
        ['visits', 'removed', 'archives'],
      ],
    )
    const deeds = await world.kept(reader => reader.deeds(0, Number.MAX_SAFE_INTEGER, 9))
    assert.deepEqual(
      deeds.slice(1).map(({ face, subject }) => [face, subject]),
      Array(3).fill(['job', 'dora']),
    )
  })
})

describe('ctx.signal', () => {
  test('is that of the call, and never aborted if the carrier cannot detect it', async () => {
    const ended = new AbortController()
    const seen: boolean[] = []
    const world = await startClinic({
      visits: {
        cancel: async ctx => {
          seen.push(ctx.signal.aborted)
          ended.abort()
          seen.push(ctx.signal.aborted)
          ctx.signal.throwIfAborted()
        },
      },
    })
    const call: Partial<Call> = { id: 'v-1', gone: () => ended.signal, ...input({}) }
    await assert.rejects(world.ask(dora, 'CancelVisit', call), { name: 'AbortError' })
    assert.deepEqual(seen, [false, true])
  })
  test('in a job it ends with its lease', async () => {
    let signal: AbortSignal | undefined
    const world = await startClinic({
      archives: {
        run: async ctx => {
          signal = ctx.signal
          assert.equal(signal.aborted, false)
          return { visits: 1 }
        },
      },
    })
    await world.ask(dora, 'StartArchive', input({ year: 2000 }))
    await world.runJob()
    assert.equal(signal?.aborted, true)
  })
})
