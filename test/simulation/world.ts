/**
 * Two instances of the ledger on one file, their clients and their partner, in virtual time. A seed
 * says what happens: how long everything takes, what is lost, who crashes when, and what the disk,
 * the clocks and the partner do.
 */
import { createHash, type Hash } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inspect } from 'node:util'
import type { Caller } from '../../src/contract/policy.ts'
import { type OpenService, openService } from '../../src/host/open-service.ts'
import { quietLogger } from '../../src/host/operations/log.ts'
import { openAllOrNothing, type ServiceOptions } from '../../src/host/options.ts'
import { contentOf, noContent, type Response } from '../../src/http/message.ts'
import { Unavailable } from '../../src/service/store.ts'
import type { Machine } from './disk.ts'
import { ledgerApp } from './ledger.ts'
import { Partner, PartnerFailure, replyAddress } from './partner.ts'
import { behaveAsServer, type ServerTroubles } from './server-store.ts'
import { type Owner, owners, type Scheduler } from './virtual-time.ts'

/** A message did not arrive, or its answer did not. */
export class Lost extends Error {}

export interface Message {
  readonly method: string
  readonly target: string
  readonly fields?: Readonly<Record<string, string>>
  readonly content?: string
}
export interface Answer {
  /** The instance that gave it, in its life from one start to the next end. */
  readonly by: string
  readonly status: number
  readonly fields: Response['fields']
  readonly text: string
}

const noTroubles = { crash: 0, stall: 0, fail: 0 }

class Instance implements Machine {
  readonly name: string
  isGone = false
  isFull = false
  readonly databases = new Set<DatabaseSync>()
  readonly troubles = { ...noTroubles }
  /** Ends what clients wait for. */
  readonly exchanges = new Set<(why: Lost) => void>()
  open: OpenService | undefined

  constructor(name: string) {
    this.name = name
  }

  /** All at once: connections to the database and to clients end. */
  crash(): void {
    this.isGone = true
    this.open = undefined
    for (const database of this.databases) if (database.isOpen) database.close()
    for (const end of this.exchanges) end(new Lost('the connection was reset'))
  }
}

const latencies = [0.001, 20] as const
/** Milliseconds for which a client waits for an answer. */
const patienceMs = 30_000

export class World {
  readonly scheduler: Scheduler
  readonly partner: Partner
  readonly problems: string[] = []
  /** Probability that a message is lost on its way, in each direction. */
  loss = 0
  readonly instances: (Instance | undefined)[] = []
  readonly #folder: string
  readonly #hash: Hash = createHash('sha256')
  readonly #skewsMs: number[] = []
  readonly #server: ServerTroubles | undefined
  readonly #trace: ((line: string) => void) | undefined
  #starts = 0
  /** How often a clock has jumped. */
  clockMoves = 0

  /** @param folder has `base.sqlite`, the database of a ledger that was never used */
  constructor(scheduler: Scheduler, folder: string, trace?: (line: string) => void) {
    this.scheduler = scheduler
    this.#folder = folder
    this.#trace = trace
    this.partner = new Partner(scheduler)
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `data.sqlite${end}`), { force: true })
    copyFileSync(join(folder, 'base.sqlite'), join(folder, 'data.sqlite'))
    this.#server = scheduler.random.chance(0.5) ? { collision: 0, lostCommit: 0 } : undefined
  }

  /** The digest of all that was noted. */
  digest(): string {
    return this.#hash.digest('hex')
  }
  note(what: string): void {
    const line = `${this.scheduler.nowMs.toFixed(4)} ${owners.getStore()?.name ?? ''}: ${what}`
    this.#hash.update(`${line}\n`)
    this.#trace?.(line)
  }
  fail(problem: string): void {
    this.note(`PROBLEM ${problem}`)
    this.problems.push(problem)
  }

  pause(ms: number): Promise<void> {
    return new Promise(resolve => setTimeout(resolve, ms))
  }
  /** In a process of its own. */
  as<T>(name: string, work: () => T): T {
    const owner: Owner = { name, isGone: false }
    return owners.run(owner, work)
  }

  async start(at: number): Promise<void> {
    const instance = new Instance(`instance ${at + 1} (${++this.#starts})`)
    this.instances[at] = instance
    this.#skewsMs[at] ??= 0
    try {
      await owners.run(instance, () => this.#open(instance, at))
      this.note(`started ${instance.name}`)
    } catch (thrown) {
      if (!instance.isGone) instance.crash() // it gives up
      this.note(`did not start ${instance.name}: ${thrown}`)
    }
  }

  async #open(instance: Instance, at: number): Promise<void> {
    const options: ServiceOptions = {
      data: join(this.#folder, 'data.sqlite'),
      key: join(this.#folder, 'key'),
      clock: () => Date.now() + Math.round(this.#skewsMs[at] ?? 0),
      sinks: [this.partner.sink],
      sinkBackOff: 500,
      replies: [replyAddress],
      flood: 0,
      logger: quietLogger,
      onError: (_incident, thrown) => {
        if (!instance.isGone && !(thrown instanceof Unavailable || thrown instanceof PartnerFailure))
          this.fail(`incident: ${inspect(thrown)}`)
      },
    }
    const hosted = (carrier: object): Caller => carrier as Caller // made by `ask`
    const server = this.#server
    instance.open = await openAllOrNothing(opened =>
      openService(ledgerApp, options, opened, {
        hosted,
        withoutPeople: true,
        ...(server && { store: store => behaveAsServer(store, this.scheduler, server) }),
      }),
    )
  }

  /** Its clients get their answers, where they come in time. */
  async stop(at: number): Promise<void> {
    const instance = this.instances[at]
    await owners.run(instance as Instance, async () => instance?.open?.close(1000))
    instance?.crash()
    this.note(`stopped ${instance?.name}`)
  }

  moveClock(at: number, byMs: number): void {
    this.clockMoves++
    this.#skewsMs[at] = (this.#skewsMs[at] ?? 0) + byMs
  }
  setServerTroubles(troubles: ServerTroubles): void {
    if (this.#server) Object.assign(this.#server, troubles)
  }

  /** One message of a client to one of the instances, and its answer; rejects with `Lost`. */
  async ask(message: Message, subject = owners.getStore()?.name ?? ''): Promise<Answer> {
    const { random } = this.scheduler
    await this.pause(random.between(...latencies))
    const running = this.instances.filter(each => each?.open)
    const instance = running.length > 0 ? random.pick(running) : undefined
    if (!instance?.open || random.chance(this.loss)) {
      await this.pause(random.between(10, 1000))
      throw new Lost('no connection')
    }
    const { answer } = instance.open
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    instance.exchanges.add(reject)
    const late = setTimeout(() => reject(new Lost('no answer in time')), patienceMs)
    owners
      .run(instance, () => exchange(answer, message, subject))
      .then(answered => resolve({ ...answered, by: instance.name }), reject)
    try {
      const answered = await promise
      await this.pause(random.between(...latencies))
      if (random.chance(this.loss)) throw new Lost('the answer was lost')
      return answered
    } finally {
      clearTimeout(late)
      instance.exchanges.delete(reject)
    }
  }

  /** Until it is answered by something else than 409 for a key in use, 429 or 5xx. */
  async insist(message: Message): Promise<Answer> {
    for (;;) {
      const answer = await this.ask(message).catch((thrown: unknown) => {
        if (thrown instanceof Lost) return undefined
        throw thrown
      })
      if (answer && !isPassing(answer)) return answer
      await this.pause(this.scheduler.random.between(20, 500))
    }
  }
}

/** A key whose first request is still being performed; and what may come for another try. */
const isPassing = ({ status, text }: Answer): boolean =>
  status === 429 || status === 503 || (status === 409 && text.includes('/in-flight')) || text.includes(':Receiver<')

async function exchange(answer: OpenService['answer'], message: Message, subject: string): Promise<Omit<Answer, 'by'>> {
  const content = message.content === undefined ? noContent : contentOf(message.content)
  const gone = new AbortController().signal
  const response = await answer({
    method: message.method,
    target: message.target,
    fields: {
      host: 'ledger.test',
      ...(content.length && { 'content-length': String(content.length) }),
      ...message.fields,
    },
    content,
    scheme: 'http',
    version: '1.1',
    from: '192.0.2.1',
    gone: () => gone,
    carrier: { subject, roles: [], claims: {} },
  })
  return { status: response.status, fields: response.fields, text: await readText(response) }
}

async function readText({ content }: Response): Promise<string> {
  if (content === undefined) return ''
  if (typeof content === 'string') return content
  if (content instanceof Uint8Array) return Buffer.from(content).toString()
  const pieces: Buffer[] = []
  for await (const piece of content as AsyncIterable<string | Uint8Array>) pieces.push(Buffer.from(piece as string))
  return Buffer.concat(pieces).toString()
}
