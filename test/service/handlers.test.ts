/**
 * What handlers may rely on: whose permissions they read with, that no list is silently cut off,
 * and what a step of a job keeps.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { job } from '../../src/contract/job.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { anonymous, anyone, type Caller, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { viewOfVersion } from '../../src/contract/version-view.ts'
import { input } from './orders-service.ts'
import { startService } from './service-of.ts'

const member = role('member')
const boss = role('boss')
const own = member.owning({ owner: 'name' })
const papers = resource('papers', {
  fields: {
    id: t.id('p'),
    owner: t.string(),
    state: t.state(),
    about: t.ref('papers').optional(),
    code: t.ref('coupons').optional(),
    open: t.ref('coupons', { unseen: true }).optional(),
    codes: t.list(t.ref('coupons'), { max: 9 }).optional(),
  },
  states: ['kept', 'old'],
  actions: on => ({
    age: on('kept').to('old', { rel: 'ageing', input: { to: t.ref('coupons').optional() } }),
    ask: on('kept', 'old').read({ rel: 'answer', output: { text: t.string({ max: 500 }) } }),
  }),
}).rules({
  filter: ['owner', 'state'],
  bulk: true,
  remove: ['old'],
  precondition: false,
  allow: {
    read: [own, boss],
    create: [own, boss],
    change: [own, boss],
    age: [own, boss],
    remove: [own, boss],
    bulk: [own, boss],
  },
})
const coupons = resource('coupons', { fields: { id: t.id('c') } }).rules({ allow: { read: [boss], create: [boss] } })
const counts = job('counts', {
  input: { what: t.string() },
  output: { seen: t.int(), all: t.int() },
  allow: [member, boss],
  tries: 5,
})
const contract = service('desk', {
  namespace: 'urn:desk',
  resources: [papers, coupons],
  jobs: [counts],
  versions: { v1: {} },
})

type Handlers = Parameters<typeof implement<typeof contract>>[1]
const ann: Caller = { subject: 'ann', roles: ['member'], claims: { name: 'ann' } }
const bob: Caller = { subject: 'bob', roles: ['member'], claims: { name: 'bob' } }
const eve: Caller = { subject: 'eve', roles: ['boss'], claims: {} }
const paper = (id: string, owner: string, more: object = {}) => ({ id, owner, state: 'kept', ...more })

interface DeskHandlers {
  readonly ask?: Handlers['papers']['ask']
  readonly removing?: NonNullable<Handlers['papers']['removing']>
  readonly run?: Handlers['counts']['run']
}
const startDesk = async (given: DeskHandlers = {}) => {
  const desk = await startService(
    implement(contract, {
      papers: {
        age: () => {},
        ask: given.ask ?? (() => ({ text: '' })),
        ...(given.removing && { removing: given.removing }),
      },
      counts: { run: given.run ?? (async () => ({ seen: 0, all: 0 })) },
    }),
  )
  await desk.put('papers', [paper('p-a1', 'ann'), paper('p-a2', 'ann'), paper('p-b1', 'bob')])
  await desk.put('coupons', [{ id: 'c-1' }])
  return desk
}
const text = async (given: Handlers['papers']['ask'], caller: Caller) => {
  const { ask } = await startDesk({ ask: given })
  const told = await ask(caller, 'AskPaper', { id: 'p-a1' })
  return told.kind === 'output' ? told.output['text'] : told
}

describe('a handler reads', () => {
  test('A5.2 only what its caller may read, and everything through ctx.items.all', async () => {
    const listed: Handlers['papers']['ask'] = async ctx => {
      const names: string[] = []
      for await (const each of ctx.items.list('papers')) names.push(each.id)
      const all = (await ctx.items.all.list('papers').first(10)).items.length
      const other = await ctx.items.get('papers', 'p-b1')
      return { text: `${names.sort()} ${all} ${other?.id} ${(await ctx.items.all.get('papers', 'p-b1'))?.id}` }
    }
    assert.equal(await text(listed, ann), 'p-a1,p-a2 3 undefined p-b1')
    assert.equal(await text(listed, eve), 'p-a1,p-a2,p-b1 3 p-b1 p-b1')
  })
  test('nothing of a resource that its caller may never read: the error names the mistake and its cure', async () => {
    const reading: Handlers['papers']['ask'] = async ctx => {
      await ctx.items.get('coupons', 'c-1')
      return { text: 'read' }
    }
    await assert.rejects(
      text(reading, ann),
      /AskPaper reads coupons, which this caller may never read: use ctx\.items\.all/,
    )
    assert.equal(await text(reading, eve), 'read')
    const listing: Handlers['papers']['ask'] = async ctx => ({
      text: String((await ctx.items.list('coupons').first(1)).more),
    })
    await assert.rejects(text(listing, ann), /use ctx\.items\.all/)
  })
  test('all items of a list, however many, and learns if a limit left some out', async () => {
    const many = Array.from({ length: 2345 }, (_, i) => paper(`p-m${i}`, 'bob'))
    const desk = await startDesk({
      ask: async ctx => {
        const seen = new Set<string>()
        for await (const each of ctx.items.all.list('papers', { owner: 'bob' })) {
          seen.add(each.id)
          // An item changed meanwhile neither comes again nor hides another.
          await ctx.items.all.get('papers', each.id)
        }
        const few = await ctx.items.all.list('papers', { owner: 'bob' }).first(7)
        const two = await ctx.items.all.list('papers', { owner: 'ann' }).first(2)
        return { text: `${seen.size} ${few.items.length} ${few.more} ${two.items.length} ${two.more}` }
      },
    })
    await desk.put('papers', many)
    const told = await desk.ask(ann, 'AskPaper', { id: 'p-a1' })
    assert.ok(told.kind === 'output')
    assert.equal(told.output['text'], '2346 7 true 2 false')
  })
  test('in a job what the person may read that started it', async () => {
    const desk = await startDesk({
      run: async ctx => {
        const [seen, all] = await Promise.all([
          ctx.items.list('papers').first(10),
          ctx.items.all.list('papers').first(10),
        ])
        return { seen: seen.items.length, all: all.items.length }
      },
    })
    for (const [caller, expected] of [
      [ann, { seen: 2, all: 3 }],
      [bob, { seen: 1, all: 3 }],
      [eve, { seen: 3, all: 3 }],
    ] as const) {
      const started = await desk.ask(caller, 'StartCount', input({ what: 'x' }))
      assert.ok(started.kind === 'job')
      assert.ok(await desk.runJob())
      const done = await desk.ask(caller, 'GetCount', { id: started.job.id })
      assert.deepEqual(done.kind === 'result' && done.output, expected, String(desk.thrown[0]))
    }
  })
})

test('an output that breaks the contract is a bug of its handler, and is neither kept nor sent', async () => {
  await assert.rejects(
    text(() => ({ text: 'x'.repeat(501) }), ann),
    /AskPaper: invalid output of a handler: text/,
  )
  await assert.rejects(
    text(() => 'x' as never, ann),
    /AskPaper: invalid output of a handler: must be /,
  )
  const desk = await startDesk({ run: async () => ({ seen: 0.5, all: 1 }) })
  await desk.ask(ann, 'StartCount', input({ what: 'x' }))
  await desk.runJob()
  assert.match(String(desk.thrown[0]), /counts: invalid output of a handler: seen/)
})

test('ctx.invalid without a path and a text is a bug of its handler, which the error names', async () => {
  for (const given of [['name', 'is taken'], [['name']], [undefined, 'is taken']])
    await assert.rejects(
      text(ctx => (ctx.invalid as (...all: unknown[]) => never)(...given), ann),
      /AskPaper: ctx\.invalid\(\) needs a path and a text: ctx\.invalid\(\['name'\]/,
    )
})

describe('A5.2 a reference', () => {
  const refers = async (caller: Caller, more: object) =>
    (await startDesk()).ask(caller, 'CreatePaper', input({ owner: caller.claims['name'] ?? 'eve', ...more }))
  const cases = [
    ['to an item of one’s own', ann, { about: 'p-a1' }, 'item'],
    ['to another’s item', ann, { about: 'p-b1' }, 'invalid'],
    ['to what the caller may never read', ann, { code: 'c-1' }, 'invalid'],
    ['to what is not there', ann, { code: 'c-2' }, 'invalid'],
    ['to what the contract lets anyone name', ann, { open: 'c-1' }, 'item'],
    ['to what is not there, where anyone may name it', ann, { open: 'c-2' }, 'invalid'],
    ['of a caller who may read all', eve, { about: 'p-b1', code: 'c-1' }, 'item'],
  ] as const
  for (const [title, caller, more, expected] of cases)
    test(`${title} is ${expected === 'item' ? 'taken' : 'refused'}`, async () => {
      assert.equal((await refers(caller, more)).kind, expected)
    })
  test('to an item the caller may not know of is refused like one to an item that does not exist', async () => {
    const [hidden, absent] = await Promise.all([refers(ann, { code: 'c-1' }), refers(ann, { code: 'c-2' })])
    const said = (refusal: typeof hidden) => JSON.stringify(refusal).replaceAll(/c-\d/g, 'c')
    assert.equal(said(hidden), said(absent))
  })
  test('in the input of an action is checked likewise', async () => {
    const { ask } = await startDesk()
    assert.equal((await ask(ann, 'AgePaper', { id: 'p-a1', ...input({ to: 'c-1' }) })).kind, 'invalid')
    assert.equal((await ask(eve, 'AgePaper', { id: 'p-a1', ...input({ to: 'c-1' }) })).kind, 'item')
  })
  test('that the item already had is not checked again, however often it occurs', async () => {
    const desk = await startDesk()
    await desk.put('papers', [paper('p-old', 'ann', { code: 'c-9' })])
    const replace = (value: object) =>
      desk.ask(ann, 'ReplacePaper', { id: 'p-old', ...input({ owner: 'ann', ...value }) })
    assert.equal((await replace({ code: 'c-9' })).kind, 'item')
    assert.equal((await replace({ code: 'c-8' })).kind, 'invalid')
    await desk.put('papers', [paper('p-list', 'ann', { codes: ['c-7', 'c-7'] })])
    const list = (codes: string[]) => desk.ask(ann, 'ReplacePaper', { id: 'p-list', ...input({ owner: 'ann', codes }) })
    assert.equal((await list(['c-7', 'c-7', 'c-7'])).kind, 'invalid')
    assert.equal((await list(['c-7', 'c-7'])).kind, 'item')
  })
})

test('A5.2 a field that a claim fills may be left out only by a caller that has the claim', async () => {
  const { ask } = await startDesk()
  const made = await ask(ann, 'CreatePaper', input({}))
  assert.ok(made.kind === 'item' && made.item.value['owner'] === 'ann')
  const problems = [{ path: ['owner'], code: 'required', detail: 'is required' }]
  assert.deepEqual(await ask(eve, 'CreatePaper', input({})), { kind: 'invalid', problems })
  assert.deepEqual(await ask(ann, 'CreatePaper', input({ owner: 'bob' })), { kind: 'forbidden' })
})

test('A5.2 a change must be granted for the new value too: an owner cannot give an item away', async () => {
  const { ask } = await startDesk()
  for (const name of ['ReplacePaper', 'PatchPaper']) {
    assert.equal((await ask(ann, name, { id: 'p-a1', ...input({ owner: 'bob' }) })).kind, 'forbidden', name)
    const still = await ask(ann, 'GetPaper', { id: 'p-a1' })
    assert.equal(still.kind === 'item' && still.item.value['owner'], 'ann')
    assert.equal((await ask(ann, name, { id: 'p-a1', ...input({ owner: 'ann' }) })).kind, 'item', name)
    assert.equal((await ask(eve, name, { id: 'p-b1', ...input({ owner: 'bob' }) })).kind, 'item', name)
  }
})

describe('A4.7 bulk removal', () => {
  const remove = (desk: Awaited<ReturnType<typeof startDesk>>, caller: Caller) =>
    desk.ask(caller, 'DeletePapers', { query: { filters: [], sort: [], size: 1, counted: false } })
  const old = (id: string, owner: string, more: object = {}) => ({ ...paper(id, owner, more), state: 'old' })

  test('removes what the state and the policy allow, and counts what the caller sees but may not remove', async () => {
    const desk = await startDesk()
    await desk.put('papers', [old('p-1', 'ann'), old('p-2', 'bob'), old('p-3', 'ann')])
    assert.deepEqual(await remove(desk, ann), { kind: 'bulk', removed: 2, refused: 2, more: false })
    assert.deepEqual(await remove(desk, eve), { kind: 'bulk', removed: 1, refused: 3, more: false })
  })
  test('keeps items that others refer to', async () => {
    const desk = await startDesk()
    await desk.put('papers', [old('p-1', 'ann'), old('p-2', 'ann'), paper('p-3', 'ann', { about: 'p-1' })])
    assert.deepEqual(await remove(desk, ann), { kind: 'bulk', removed: 1, refused: 4, more: false })
  })
  test('G13 asks only whether a reference to an item exists: no such item is listed or read', async () => {
    const desk = await startDesk()
    await desk.put('papers', [old('p-1', 'ann'), paper('p-3', 'ann', { about: 'p-1' })])
    const asked: string[] = []
    const write = desk.store.write.bind(desk.store)
    desk.store.write = (work, turn) =>
      write(
        writer =>
          work(
            new Proxy(writer, {
              get: (target, name) => {
                asked.push(String(name))
                const member: unknown = Reflect.get(target, name)
                return typeof member === 'function' ? member.bind(target) : member
              },
            }),
          ),
        turn,
      )
    const refused = await desk.ask(ann, 'DeletePaper', { id: 'p-1' })
    assert.equal(refused.kind, 'conflict')
    assert.ok(asked.includes('has'))
    assert.deepEqual(
      asked.filter(name => name === 'list' || name === 'getAll'),
      [],
    )
  })
  test('finds the old items behind any number of new ones that must stay, and says when more can be removed', async () => {
    const desk = await startDesk()
    await desk.put(
      'papers',
      Array.from({ length: 5010 }, (_, i) => old(`p-o${i}`, 'bob')),
    )
    await desk.put(
      'papers',
      Array.from({ length: 700 }, (_, i) => paper(`p-k${i}`, 'bob')),
    )
    assert.deepEqual(await remove(desk, bob), { kind: 'bulk', removed: 5000, refused: 701, more: true })
    assert.deepEqual(await remove(desk, bob), { kind: 'bulk', removed: 10, refused: 701, more: false })
  })
  /** The last item put is removed first. */
  const startFilled = async (count: number, given: DeskHandlers = {}) => {
    const desk = await startDesk(given)
    for (let i = count; i > 0; i--) {
      desk.clock.now++
      await desk.put('papers', [old(`p-o${i}`, 'bob')])
    }
    return desk
  }
  test('B2 lets other writers in between its batches, each of which has its line in the audit', async () => {
    const desk = await startFilled(120)
    const ends: string[] = []
    const removing = remove(desk, bob).then(() => ends.push('removal'))
    const create = async () => {
      await desk.ask(ann, 'CreatePaper', input({ owner: 'ann' }))
      ends.push('paper')
    }
    for (let i = 0; i < 2; i++) await create()
    await removing
    assert.deepEqual(ends, ['paper', 'paper', 'removal'])
    const deeds = await desk.store.read(reader => reader.deeds(0, Infinity, 100))
    assert.equal(deeds.filter(({ operation }) => operation === 'DeletePapers').length, 3)
  })
  test('if two run at once, each item is removed once', async () => {
    const desk = await startFilled(230)
    const both = await Promise.all([remove(desk, bob), remove(desk, eve)])
    const removed = both.map(each => (each.kind === 'bulk' ? each.removed : 0))
    assert.equal((removed[0] ?? 0) + (removed[1] ?? 0), 230)
    // Items that the other call removed are gone: they were not changed, and cannot go again.
    const left = both.map(each => each.kind === 'bulk' && [each.refused, each.more])
    assert.deepEqual(left, [
      [1, false],
      [3, false],
    ])
  })
  test('leaves an item that was changed since it was selected, and says that more can be removed', async () => {
    const desk = await startFilled(3, {
      removing: async (ctx, paper) => {
        if (paper.id === 'p-o1') await ctx.items.change('papers', 'p-o2', { owner: 'ann' })
      },
    })
    assert.deepEqual(await remove(desk, bob), { kind: 'bulk', removed: 2, refused: 1, more: true })
  })
  test('a refusal in a later batch undoes only that batch; a repeated call says why', async () => {
    const desk = await startFilled(70, {
      removing: (ctx, paper) => {
        if (paper.id === 'p-o60') ctx.conflict('this one stays')
      },
    })
    const once = { once: { key: 'k', fingerprint: 'f', space: 'idempotency' } } as const
    const query = { filters: [], sort: [], size: 1, counted: false }
    const told = { kind: 'bulk', removed: 50, refused: 1, more: true }
    assert.deepEqual(await desk.ask(bob, 'DeletePapers', { query, ...once }), told)
    assert.deepEqual(await desk.ask(bob, 'DeletePapers', { query, ...once }), told, 'a replay removes nothing')
    assert.deepEqual(await remove(desk, bob), { kind: 'conflict', detail: 'this one stays' })
  })
})

describe('A8.1 jobs of several callers', () => {
  const start = (desk: Awaited<ReturnType<typeof startDesk>>, caller: Caller) =>
    desk.ask(caller, 'StartCount', input({ what: 'x' }))
  test("take turns: a caller's queue delays another caller by one job", async () => {
    const order: string[] = []
    const desk = await startDesk({
      run: async ctx => {
        order.push(ctx.caller.subject ?? '')
        return { seen: 0, all: 0 }
      },
    })
    for (const caller of [ann, ann, ann, ann, bob, bob, eve]) await start(desk, caller)
    for (let i = 0; i < 3; i++) await desk.runJob()
    await start(desk, bob)
    while (await desk.runJob());
    assert.deepEqual(order, ['ann', 'bob', 'eve', 'ann', 'bob', 'ann', 'bob', 'ann'])
  })
  test('wait, a hundred of each: the next is refused with a time to retry, and other callers are not', async () => {
    const desk = await startDesk()
    for (let i = 0; i < 100; i++) assert.equal((await start(desk, ann)).kind, 'job')
    assert.deepEqual(await start(desk, ann), { kind: 'too-many', after: 5, limit: 100 })
    assert.equal((await start(desk, bob)).kind, 'job')
    await desk.runJob()
    assert.equal((await start(desk, ann)).kind, 'job', 'a place is free again')
  })
})

describe('a step of a job', () => {
  const startCounting = async (afterwards: (run: number) => void, inside: (run: number) => void = () => {}) => {
    let runs = 0
    let works = 0
    const desk = await startDesk({
      run: async ctx => {
        const run = ++runs
        const made = await ctx.once('age', async step => {
          works++
          await step.items.change('papers', 'p-a1', { owner: `owner ${works}` })
          inside(run)
          return { works }
        })
        afterwards(run)
        return { seen: made.works, all: runs }
      },
    })
    const started = await desk.ask(eve, 'StartCount', input({ what: 'x' }))
    assert.ok(started.kind === 'job')
    const { id } = started.job
    const again = () =>
      desk.store.write(async writer => {
        const row = await writer.job(id)
        if (row) await writer.putJob({ ...row, due: 0 })
      })
    return { desk, id, again }
  }
  const owner = async (desk: Awaited<ReturnType<typeof startDesk>>) => {
    const found = await desk.ask(eve, 'GetPaper', { id: 'p-a1' })
    return found.kind === 'item' ? found.item.value['owner'] : found
  }

  test('happens once, and gives the same result in each run of the job', async () => {
    const { desk, id, again } = await startCounting(run => {
      if (run < 3) throw new Error('the worker dies here')
    })
    for (let run = 0; run < 3; run++) {
      await desk.runJob()
      await again()
    }
    const done = await desk.ask(eve, 'GetCount', { id })
    assert.deepEqual(done.kind === 'result' && done.output, { seen: 1, all: 3 })
    assert.equal(await owner(desk), 'owner 1')
  })
  test('that throws leaves nothing behind, and happens in the next run', async () => {
    const { desk, id, again } = await startCounting(
      () => {},
      run => {
        if (run === 1) throw new Error('in the step')
      },
    )
    await desk.runJob()
    assert.equal(await owner(desk), 'ann')
    await again()
    await desk.runJob()
    const done = await desk.ask(eve, 'GetCount', { id })
    assert.deepEqual(done.kind === 'result' && done.output, { seen: 2, all: 2 })
  })
  test("does nothing once the job's lease is lost", async () => {
    let id = ''
    const desk = await startDesk({
      run: async ctx => {
        await desk.ask(eve, 'CancelCountJob', { id })
        await ctx.once('late', step => step.items.change('papers', 'p-a1', { owner: 'nobody' }))
        return { seen: 0, all: 0 }
      },
    })
    const started = await desk.ask(eve, 'StartCount', input({ what: 'x' }))
    id = started.kind === 'job' ? started.job.id : ''
    await desk.runJob()
    assert.equal(await owner(desk), 'ann')
  })
  test("writes through its own context: a write through the job's would wait for it", async () => {
    const desk = await startDesk({
      run: async ctx => {
        await ctx.once('wrong', () => ctx.items.change('papers', 'p-a1', { owner: 'x' }))
        return { seen: 0, all: 0 }
      },
    })
    await desk.ask(eve, 'StartCount', input({ what: 'x' }))
    await desk.runJob()
    assert.match(String(desk.thrown[0]), /a step is running: read and change through the context that it receives/)
  })
})

describe('A9.3 a search in a version', () => {
  const people = resource('people', {
    fields: { id: t.id('n'), name: t.string(), secret: t.string().optional() },
  }).rules({
    allow: { read: [anyone] },
  })
  const letters = resource('letters', {
    fields: { id: t.id('l'), text: t.string(), note: t.string().optional(), by: t.ref('people') },
  }).rules({ search: ['text', 'note', 'by.name', 'by.secret'], allow: { read: [anyone] } })
  const post = service('post', {
    namespace: 'urn:post',
    resources: [letters, people],
    versions: { v1: { without: { letters: ['note'], people: ['secret'] } }, v2: {} },
  })
  const start = async (keep: boolean) => {
    const rows = [{ id: 'l-1', text: 'letter one', note: 'fragile', by: 'n-1' }]
    const kept = {
      list: () => rows.map(value => ({ value, version: 1, modified: 1 })),
      load: () => undefined,
      save: () => 1,
      remove: () => true,
    }
    const app = implement(post, keep ? { letters: { keep: kept } } : {})
    const started = await startService(app)
    await started.put('people', [{ id: 'n-1', name: 'Ann', secret: 'spy' }])
    if (!keep) await started.put('letters', rows)
    return started
  }
  for (const keep of [false, true])
    test(`looks in the fields that it has, ${keep ? 'of a provider' : 'in the store'}`, async () => {
      const { calls } = await start(keep)
      const found = async (version: string, word: string) => {
        const operation = listOperations(viewOfVersion(post, version)).find(each => each.kind === 'search')
        assert.ok(operation)
        const admitted = await calls.admit(operation, ann, '127.0.0.1', 'rest')
        const query = { filters: [], sort: [], size: 9, counted: false, words: [word] }
        const answer = await calls.perform({ admitted, face: 'rest', request: 'r', query })
        return answer.kind === 'page' ? answer.page.items.length : answer
      }
      for (const [word, v1, v2] of [
        ['letter', 1, 1],
        ['fragile', 0, 1],
        ['ann', 1, 1],
        ['spy', 0, 1],
      ] as const) {
        assert.deepEqual([await found('v1', word), await found('v2', word)], [v1, v2], word)
      }
    })
})

test('A1.8 a key of a caller without credentials belongs to their address', async () => {
  const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone], create: [anyone] } })
  const open = service('open', { namespace: 'urn:open', resources: [notes], versions: { v1: {} } })
  const { calls } = await startService(implement(open, {}))
  const operation = listOperations(open).find(each => each.kind === 'create')
  assert.ok(operation)
  const create = async (caller: Caller, from: string) => {
    const admitted = await calls.admit(operation, caller, from, 'soap')
    const once = { key: 'k', fingerprint: 'f', space: 'message' } as const
    const made = await calls.perform({ admitted, face: 'soap', request: 'r', once, ...input({}) })
    return made.kind === 'item' && made.item.id
  }
  const first = await create(anonymous, '192.0.2.1')
  assert.equal(await create(anonymous, '192.0.2.1'), first)
  assert.notEqual(await create(anonymous, '192.0.2.2'), first)
  const mine = await create(ann, '192.0.2.1')
  assert.equal(await create(ann, '192.0.2.2'), mine)
})
