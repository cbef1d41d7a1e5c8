/** The life of one world, by its seed. */
import { join } from 'node:path'
import { createItemIdentifier } from '../../src/host/item-identifier.ts'
import { openService } from '../../src/host/open-service.ts'
import { quietLogger } from '../../src/host/operations/log.ts'
import { openAllOrNothing } from '../../src/host/options.ts'
import { Clients } from './clients.ts'
import { judge } from './judge.ts'
import { ledgerApp, readLimit } from './ledger.ts'
import type { Scheduler } from './virtual-time.ts'
import { World } from './world.ts'

export interface Outcome {
  readonly seed: number
  readonly problems: readonly string[]
  /** Of all that was noted: the same for the same seed. */
  readonly digest: string
  readonly steps: number
}

/** Steps after which a world is taken for one that stands still. */
const stepsMax = 400_000
/** By which a clock jumps at most: leases are longer by as much. */
const clockMs = 120_000
/** In which all is delivered once everything works again: a delivery that failed often waits. */
const deliveredMs = 1_200_000

/** Makes the database that each world begins with. */
export async function createBase(folder: string): Promise<void> {
  const options = {
    data: join(folder, 'base.sqlite'),
    key: join(folder, 'key'),
    logger: quietLogger,
    work: false as const,
  }
  const open = await openAllOrNothing(opened => openService(ledgerApp, options, opened, { withoutPeople: true }))
  await open.close(0)
}

export async function simulate(
  scheduler: Scheduler,
  seed: number,
  folder: string,
  { enter, trace }: { readonly enter: (world: World) => void; readonly trace?: (line: string) => void },
): Promise<Outcome> {
  scheduler.begin(seed)
  dropIdentifiers(scheduler)
  const world = new World(scheduler, folder, trace)
  enter(world)
  let isOver = false
  world
    .as('world', () => live(world))
    .catch((thrown: unknown) => world.fail(`the world ended: ${thrown instanceof Error ? thrown.stack : thrown}`))
    .finally(() => (isOver = true))
  const end = await scheduler.run(() => isOver, stepsMax)
  if (end !== 'done') world.fail(`the world stands still (${end})`)
  return { seed, problems: world.problems, digest: world.digest(), steps: scheduler.steps }
}

async function live(world: World): Promise<void> {
  await Promise.all([world.start(0), world.start(1)])
  const clients = new Clients(world)
  await world.as('first', () => clients.prepare())
  const { random } = world.scheduler
  let isQuiet = false
  const working = [
    ...Array.from({ length: 3 }, (_, i) => world.as(`counter ${i}`, () => clients.count(`c${i}`, 3))),
    ...Array.from({ length: 3 }, (_, i) => world.as(`payer ${i}`, () => clients.transfer(`p${i}`, 2))),
    world.as('quoter', () => clients.quote('q', 2)),
    world.as('auditor', () => clients.audit('u', 1 + random.below(2))),
    ...(random.chance(0.2) ? [world.as('greedy', () => clients.greed(3 * readLimit.count))] : []),
    world.as('teller', () => clients.tellPartner('s', 1 + random.below(2))),
  ]
  const following = world.as('follower', () => clients.follow(() => isQuiet))
  const work = Promise.all(working).then(() => (isQuiet = true))
  await causeTrouble(world, () => isQuiet)
  await endTrouble(world)
  await work
  await following
  await untilDelivered(world, clients)
  await world.as('judge', () => judge(world, clients))
  await Promise.all([world.stop(0), world.stop(1)])
}

/** One trouble after the other, some for a while. */
async function causeTrouble(world: World, isOver: () => boolean): Promise<void> {
  const { random } = world.scheduler
  const draw = () => random.below(2)
  const forAWhile = async (begin: (at: number) => void, end: (at: number) => void): Promise<void> => {
    const at = draw()
    begin(at)
    await world.pause(random.between(50, 4000))
    end(at)
  }
  const restart = async (at: number): Promise<void> => {
    await world.pause(random.between(5, 3000))
    await world.start(at)
  }
  const setTroubles = (at: number, troubles: object): void => {
    const instance = world.instances[at]
    if (instance) Object.assign(instance.troubles, troubles)
  }
  const troubles: readonly (() => Promise<void>)[] = [
    async () => {
      const at = draw()
      world.instances[at]?.crash()
      world.note(`killed instance ${at + 1}`)
      await restart(at)
    },
    // At the next step of the database, or at one of the next.
    async () => {
      const at = draw()
      setTroubles(at, { crash: random.between(0.005, 0.3) })
      await world.pause(random.between(20, 2000))
      setTroubles(at, { crash: 0 })
      if (world.instances[at]?.isGone) await restart(at)
    },
    async () => {
      const at = draw()
      if (world.instances[at]?.open) await world.stop(at)
      await restart(at)
    },
    async () => world.moveClock(draw(), random.pick([-1, 1]) * random.between(500, clockMs)),
    () =>
      forAWhile(
        at => setTroubles(at, { stall: 0.01 }),
        at => setTroubles(at, { stall: 0 }),
      ),
    () =>
      forAWhile(
        at => setTroubles(at, { fail: 0.05 }),
        at => setTroubles(at, { fail: 0 }),
      ),
    () =>
      forAWhile(
        () => setFull(world, true),
        () => setFull(world, false),
      ),
    () =>
      forAWhile(
        () => void (world.partner.failing = 0.5),
        () => void (world.partner.failing = 0),
      ),
    () =>
      forAWhile(
        () => void (world.loss = 0.2),
        () => void (world.loss = 0),
      ),
    () =>
      forAWhile(
        () => world.setServerTroubles({ collision: 0.3, lostCommit: 0.1 }),
        () => world.setServerTroubles({ collision: 0, lostCommit: 0 }),
      ),
  ]
  const count = 1 + random.below(5)
  for (let n = 0; n < count && !isOver(); n++) {
    await world.pause(random.between(20, 1500))
    await random.pick(troubles)()
    for (const at of [0, 1]) if (world.instances[at]?.isGone) await world.start(at)
  }
}

function setFull(world: World, isFull: boolean): void {
  for (const instance of world.instances) if (instance) instance.isFull = isFull
}

/** Everything works again. */
async function endTrouble(world: World): Promise<void> {
  world.note('quiet')
  world.loss = 0
  world.partner.failing = 0
  world.setServerTroubles({ collision: 0, lostCommit: 0 })
  for (const at of [0, 1]) {
    const instance = world.instances[at]
    if (instance) Object.assign(instance, { isFull: false, troubles: { crash: 0, stall: 0, fail: 0 } })
    if (!instance?.open) await world.start(at)
  }
}

/** Until the partner has all, or had time enough. */
async function untilDelivered(world: World, clients: Clients): Promise<void> {
  const until = world.scheduler.nowMs + deliveredMs
  const isDelivered = async (): Promise<boolean> => {
    const changes = await world.as('watcher', () => clients.followToEnd())
    const { events, replies } = world.partner
    return (
      new Set(events.map(each => each.id)).size >= changes &&
      clients.told.messages.every(id => replies.some(text => text.includes(`>${id}<`)))
    )
  }
  while (world.scheduler.nowMs < until && !(await isDelivered())) await world.pause(2000)
}

/** Uses up the characters that were drawn for identifiers of the world before. */
function dropIdentifiers(scheduler: Scheduler): void {
  for (const before = scheduler.fills; scheduler.fills === before; ) createItemIdentifier('x')
}
