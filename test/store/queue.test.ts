import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../src/service/store.ts'
import { toLossError } from '../../src/store/sqlite-connections.ts'
import { defaultBounds, Queue, type Transaction } from '../../src/store/write-queue.ts'

/** A transaction that records the steps of its use; `fails` says which steps throw. */
class Noted implements Transaction {
  readonly log: string[] = []
  readonly fails: (step: string) => boolean
  #open = false
  constructor(fails: (step: string) => boolean = () => false) {
    this.fails = fails
  }
  #do(step: string): void {
    this.log.push(step)
    if (this.fails(step)) throw Object.assign(new Error(`${step} failed`), { code: 'ERR_SQLITE_ERROR' })
  }
  async begin() {
    this.#do('begin')
    this.#open = true
  }
  commit() {
    this.#do('commit')
    this.#open = false
  }
  rollback() {
    this.#do('rollback')
    this.#open = false
  }
  isOpen() {
    return this.#open
  }
  explainLoss(thrown: unknown, works: number) {
    return toLossError(thrown, works)
  }
  save() {
    this.#do('save')
  }
  release() {
    this.#do('release')
  }
  undo() {
    this.#do('undo')
  }
}

const work = <T>(run: () => T | Promise<T>) => [{ end: () => {} }, run] as const
const told = async (all: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(all)).map(each => (each.status === 'fulfilled' ? each.value : each.reason))

test('works that come together share one transaction, each with its savepoint; a single one has its own', async () => {
  const noted = new Noted()
  const queue = new Queue(noted)
  assert.deepEqual(await told([1, 2].map(each => queue.add(...work(() => each)))), [1, 2])
  await queue.add(...work(async () => 3))
  const one = ['save', 'release']
  assert.deepEqual(noted.log, ['begin', ...one, ...one, 'commit', 'begin', ...one, 'commit'])
})

test("callers take turns: a caller's queue delays another caller by one work", async () => {
  const queue = new Queue(new Noted())
  const order: string[] = []
  const add = (caller: string) => queue.add(...work(() => void order.push(caller)), caller)
  await Promise.all(['ann', 'ann', 'ann', 'bob', 'bob', 'eve'].map(add))
  assert.deepEqual(order, ['ann', 'bob', 'eve', 'ann', 'bob', 'ann'])
})

test('each work of a group runs in the asynchronous context of its own caller', async () => {
  const queue = new Queue(new Noted())
  const user = new AsyncLocalStorage<string>()
  const seen = async () => {
    const first = user.getStore()
    await Promise.resolve()
    return [first, user.getStore()]
  }
  const names = ['clara', 'maria', 'nobody']
  const all = names.map(name => user.run(name, () => queue.add(...work(seen))))
  assert.deepEqual(
    await Promise.all(all),
    names.map(name => [name, name]),
  )
})

test('works of successive turns of the event loop join a group, which waits for a few turns at most', async () => {
  const noted = new Noted()
  const queue = new Queue(noted)
  const all: Promise<unknown>[] = []
  /** Ends when all have been added. */
  const addInTurns = (count: number): Promise<void> =>
    new Promise(resolve => {
      setImmediate(() => {
        // The next turn is arranged first, so that its work is there when the queue looks again.
        if (count > 1) resolve(addInTurns(count - 1))
        else resolve()
        all.push(queue.add(...work(() => count)))
      })
    })
  const added = addInTurns(3)
  all.push(queue.add(...work(() => 0)))
  await added
  assert.deepEqual(await told(all), [0, 3, 2, 1])
  assert.equal(noted.log.filter(each => each === 'begin').length, 1)
  noted.log.length = 0
  await addInTurns(100)
  await told(all)
  assert.equal(all.length, 104)
  assert.ok(noted.log.filter(each => each === 'begin').length > 5, 'it waited for them all')
})

test('(1) a work that throws undoes only itself', async () => {
  const noted = new Noted()
  const queue = new Queue(noted)
  const problem = new Error('no')
  const fails = () => {
    throw problem
  }
  assert.deepEqual(
    await told([queue.add(...work(() => 1)), queue.add(...work(fails)), queue.add(...work(async () => fails()))]),
    [1, problem, problem],
  )
  assert.deepEqual(noted.log, ['begin', 'save', 'release', 'save', 'undo', 'save', 'undo', 'commit'])
})

for (const step of ['commit', 'release', 'undo', 'save'])
  test(`(2) when ${step} fails, all of the group are unavailable, also those that refused, and the next group runs`, async () => {
    let broken = true
    const noted = new Noted(each => broken && each === step)
    const queue = new Queue(noted)
    const refuses = () => {
      throw new Error('refused')
    }
    const all = await told([queue.add(...work(refuses)), queue.add(...work(() => 1))])
    assert.ok(all.some(each => each instanceof Unavailable))
    assert.ok(all.every(each => each instanceof Unavailable || each === 1))
    if (step === 'commit') assert.ok(all.every(each => each instanceof Unavailable))
    assert.ok(noted.log.includes('rollback'))
    broken = false
    assert.equal(await queue.add(...work(() => 2)), 2)
  })

test('(2) no result is reported before the transaction is committed', async () => {
  const noted = new Noted()
  const queue = new Queue(noted)
  const order: string[] = []
  const first = queue.add(...work(() => 1)).then(() => order.push(`told after ${noted.log.at(-1)}`))
  const second = queue.add(...work(() => sleep(5)))
  await Promise.all([first, second])
  assert.deepEqual(order, ['told after commit'])
})

test('if no transaction can begin, the waiting works get the reason, and later ones may try', async () => {
  let broken = true
  const queue = new Queue(new Noted(step => broken && step === 'begin'))
  const [why] = await told([queue.add(...work(() => 1))])
  assert.ok(why instanceof Error && why.message === 'begin failed')
  broken = false
  assert.equal(await queue.add(...work(() => 2)), 2)
})

test('(3) a work that hangs is unavailable when its time is up, and learns that it is over', async () => {
  const noted = new Noted()
  const queue = new Queue(noted, { ...defaultBounds, open: 1000, work: 10 })
  let over = false
  const hanging = queue.add({ end: () => (over = true) }, () => new Promise<never>(() => {}))
  assert.deepEqual((await told([hanging, queue.add(...work(() => 2))])).map(String), [String(new Unavailable()), '2'])
  assert.ok(over)
  assert.deepEqual(noted.log, ['begin', 'save', 'undo', 'save', 'release', 'commit'])
})

test('(3) the time of a work begins with the work, not with its group', async () => {
  const queue = new Queue(new Noted(), { ...defaultBounds, open: 1000, work: 60 })
  const pauses = [40, 40, 1000].map(ms => queue.add(...work(() => sleep(ms, ms, { ref: false }))))
  const [first, second, third] = await told(pauses)
  assert.deepEqual([first, second], [40, 40])
  assert.ok(third instanceof Unavailable && /more than 60 ms/.test(String(third.cause)), String(third))
})

test('a group is bounded in number and in time', async () => {
  const noted = new Noted()
  const few = new Queue(noted, { ...defaultBounds, group: 2 })
  await told([1, 2, 3].map(each => few.add(...work(() => each))))
  assert.equal(noted.log.filter(each => each === 'commit').length, 2)
  const short = new Queue(noted, { ...defaultBounds, open: 100 })
  await told([1, 2, 3].map(() => short.add(...work(() => sleep(60)))))
  assert.equal(noted.log.filter(each => each === 'commit').length, 4)
})

test('a look waits for the open transaction, and none begins while it looks', async () => {
  const noted = new Noted()
  const queue = new Queue(noted)
  assert.equal(queue.look(...work(() => 1)), 1)
  const looking = queue.look(...work(() => sleep(5).then(() => noted.log.length)))
  const writing = queue.add(...work(() => sleep(5)))
  assert.equal(await looking, 0)
  await sleep(2)
  const later = queue.look(...work(() => noted.log.at(-1)))
  assert.ok(later instanceof Promise)
  await writing
  assert.equal(await later, 'save')
})

test('once closed it finishes waiting works and accepts no more', async () => {
  const queue = new Queue(new Noted())
  const last = queue.add(...work(() => sleep(2).then(() => 1)))
  await queue.close()
  assert.equal(await last, 1)
  assert.ok((await told([queue.add(...work(() => 2))]))[0] instanceof Unavailable)
})

test('a writer that writes again at once leaves the event loop to others between groups', async () => {
  const queue = new Queue(new Noted())
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  for (let i = 0; i < 50; i++) await queue.add(...work(() => i))
  isDone = true
  assert.ok(turns >= 50, `${turns} turns of the loop in 50 groups`)
})
