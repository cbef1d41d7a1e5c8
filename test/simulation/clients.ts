/** Clients of the ledger: each does a few things, whatever it takes, and notes what it was told. */
import { type Deed, outcomeOf, type QuotedPosition, readWholeFeed, type ToldChange } from '../support/history.ts'
import { replyAddress } from './partner.ts'
import { type Answer, Lost, type World } from './world.ts'

export const registers = ['r-1', 'r-2']
export const accounts = ['a-1', 'a-2', 'a-3']

/** What clients were told, for the judge. */
export class Told {
  readonly deeds: Deed[] = []
  readonly quoted: QuotedPosition[] = []
  readonly transfers: { readonly mark: string; readonly id: string; settled: boolean }[] = []
  readonly audits: { readonly id: string; readonly sum: number; readonly count: number }[] = []
  readonly followed: ToldChange[] = []
  /** By the instance: when answers came to a client that asks for more than it may. */
  readonly granted = new Map<string, number[]>()
  /** Names of messages whose replies go to the partner. */
  readonly messages: string[] = []
}

const json = { 'content-type': 'application/json' }
const once = (key: string) => ({ ...json, 'idempotency-key': `"${key}"` })
const addressing = 'http://www.w3.org/2005/08/addressing'
const envelopeUri = 'http://www.w3.org/2003/05/soap-envelope'

/** @param more blocks of the header */
function createEnvelope(operation: string, content: string, id: string, more = '') {
  const action = `urn:ledger:v1/${operation}`
  return {
    method: 'POST',
    target: '/soap/v1',
    fields: { 'content-type': `application/soap+xml; charset=utf-8; action="${action}"` },
    content: `<s:Envelope xmlns:s="${envelopeUri}" xmlns:w="${addressing}"><s:Header><w:MessageID>${id}</w:MessageID><w:Action>${action}</w:Action>${more}</s:Header><s:Body><${operation} xmlns="urn:ledger:v1">${content}</${operation}></s:Body></s:Envelope>`,
  }
}

export class Clients {
  readonly told = new Told()
  readonly #world: World
  constructor(world: World) {
    this.#world = world
  }

  #drawAccounts(): readonly [string, string] {
    const { random } = this.#world.scheduler
    const from = random.below(accounts.length)
    const to = (from + 1 + random.below(accounts.length - 1)) % accounts.length
    return [accounts[from] ?? '', accounts[to] ?? '']
  }

  #require(what: string, answer: Answer, ...statuses: readonly number[]): boolean {
    this.#world.note(`${what}: ${answer.status}`)
    if (statuses.includes(answer.status)) return true
    this.#world.fail(`${what}: ${answer.status} ${answer.text}`)
    return false
  }

  async #read(key: string): Promise<Deed | undefined> {
    const world = this.#world
    const began = world.scheduler.nowMs
    const answer = await world.ask({ method: 'GET', target: `/api/registers/${key}` }).catch(giveUpLost)
    if (answer?.status !== 200) return undefined
    const { position, mark } = JSON.parse(answer.text)
    const ended = world.scheduler.nowMs
    const tag = String(answer.fields['etag'])
    const deed: Deed = { key, kind: 'read', began, ended, outcome: 'done', position, mark, tag }
    this.told.deeds.push(deed)
    world.note(`read ${key}: ${position} ${mark} ${tag}`)
    return deed
  }

  /** Makes what the others use. */
  async prepare(): Promise<void> {
    for (const key of registers) {
      const content = JSON.stringify({ position: 0, mark: 'start' })
      const message = { method: 'PUT', target: `/api/registers/${key}`, fields: json, content }
      this.#require(`make ${key}`, await this.#world.insist(message), 201)
    }
  }

  /** Reads a register and writes the next position, if it is still the next one. */
  async count(name: string, times: number): Promise<void> {
    const world = this.#world
    for (let n = 0; n < times; n++) {
      const seen = await this.#read(world.scheduler.random.pick(registers))
      if (!seen) {
        await world.pause(50)
        continue
      }
      const { key, position: before, tag = '' } = seen
      const [position, mark, began] = [before + 1, `${name}-${n}`, world.scheduler.nowMs]
      const answer = await world
        .ask({
          method: 'PUT',
          target: `/api/registers/${key}`,
          fields: { ...json, 'if-match': tag },
          content: JSON.stringify({ position, mark }),
        })
        .catch(giveUpLost)
      const outcome = outcomeOf(answer?.status ?? 599)
      const ended = outcome === 'unknown' ? Number.POSITIVE_INFINITY : world.scheduler.nowMs
      this.told.deeds.push({ key, kind: 'set', began, ended, outcome, position, mark })
      world.note(`set ${key} to ${position} ${mark}: ${outcome}`)
    }
  }

  /** A quote takes the position of a register as it is when it is made. */
  async quote(name: string, times: number): Promise<void> {
    for (let n = 0; n < times; n++) {
      const key = this.#world.scheduler.random.pick(registers)
      const content = JSON.stringify({ register: key })
      const message = { method: 'POST', target: '/api/quotes', fields: once(`${name}-${n}`), content }
      const answer = await this.#world.insist(message)
      if (!this.#require(`quote ${name}-${n}`, answer, 201)) continue
      const { id, position } = JSON.parse(answer.text)
      this.told.quoted.push({ id, key, position })
    }
  }

  /** A transfer is made by either face, then settled; what is not covered is refused after it was written. */
  async transfer(name: string, times: number): Promise<void> {
    const { random } = this.#world.scheduler
    for (let n = 0; n < times; n++) {
      const mark = `${name}-${n}`
      const id = random.chance(0.5) ? await this.#makeByRest(mark) : await this.#makeBySoap(mark)
      if (id === undefined) continue
      const transfer = { mark, id, settled: false }
      this.told.transfers.push(transfer)
      transfer.settled = random.chance(0.5) ? await this.#settleByRest(mark, id) : await this.#settleBySoap(mark, id)
    }
  }

  #drawTransfer(mark: string) {
    const [from, to] = this.#drawAccounts()
    return { from, to, amount: 1 + this.#world.scheduler.random.below(80), mark }
  }

  async #makeByRest(mark: string): Promise<string | undefined> {
    const content = JSON.stringify(this.#drawTransfer(mark))
    const answer = await this.#world.insist({ method: 'POST', target: '/api/transfers', fields: once(mark), content })
    return this.#require(`make ${mark}`, answer, 201) ? JSON.parse(answer.text).id : undefined
  }

  async #makeBySoap(mark: string): Promise<string | undefined> {
    const { from, to, amount } = this.#drawTransfer(mark)
    const content = `<transfer><from>${from}</from><to>${to}</to><amount>${amount}</amount><mark>${mark}</mark></transfer>`
    const answer = await this.#world.insist(createEnvelope('CreateTransfer', content, `urn:make:${mark}`))
    if (!this.#require(`make ${mark} by SOAP`, answer, 200)) return undefined
    return /<id>([^<]+)<\/id>/.exec(answer.text)?.[1]
  }

  async #settleByRest(mark: string, id: string): Promise<boolean> {
    const target = `/api/transfers/${id}/settlement`
    const fields = once(`settle ${mark}`)
    const answer = await this.#world.insist({ method: 'POST', target, fields, content: '{}' })
    this.#require(`settle ${mark}`, answer, 200, 409)
    return answer.status === 200
  }

  async #settleBySoap(mark: string, id: string): Promise<boolean> {
    const answer = await this.#world.insist(createEnvelope('SettleTransfer', `<id>${id}</id>`, `urn:settle:${mark}`))
    this.#require(`settle ${mark} by SOAP`, answer, 200, 500)
    if (answer.status === 500 && !answer.text.includes('InsufficientFunds'))
      this.#world.fail(`settle ${mark}: ${answer.text}`)
    return answer.status === 200
  }

  /** The reply to a message goes to the partner. */
  async tellPartner(name: string, times: number): Promise<void> {
    const world = this.#world
    for (let n = 0; n < times; n++) {
      const mark = `${name}-${n}`
      const id = `urn:tell:${mark}`
      const { from, to, amount } = this.#drawTransfer(mark)
      const content = `<transfer><from>${from}</from><to>${to}</to><amount>${amount}</amount><mark>${mark}</mark></transfer>`
      const replyTo = `<w:ReplyTo><w:Address>${replyAddress}</w:Address></w:ReplyTo>`
      const answer = await world.insist(createEnvelope('CreateTransfer', content, id, replyTo))
      if (this.#require(`tell ${mark}`, answer, 202)) this.told.messages.push(id)
    }
  }

  /** An audit is started, and asked for until it is over. */
  async audit(name: string, times: number): Promise<void> {
    const world = this.#world
    for (let n = 0; n < times; n++) {
      const content = JSON.stringify({ mark: `${name}-${n}` })
      const message = { method: 'POST', target: '/api/audits', fields: once(`audit ${name}-${n}`), content }
      const started = await world.insist(message)
      if (!this.#require(`audit ${name}-${n}`, started, 202)) continue
      const { id } = JSON.parse(started.text)
      for (;;) {
        const answer = await world.insist({ method: 'GET', target: `/api/audits/jobs/${id}` })
        if (!this.#require(`ask for ${id}`, answer, 200)) break
        const { state } = JSON.parse(answer.text)
        if (state === 'completed') await this.#noteAudit(id)
        if (state === 'failed' || state === 'cancelled') world.fail(`${id} ended: ${answer.text}`)
        if (!['queued', 'running'].includes(state)) break
        await world.pause(500)
      }
    }
  }

  /** Asks more often than the limit allows. */
  async greed(times: number): Promise<void> {
    for (let n = 0; n < times; n++) {
      const message = { method: 'GET', target: '/api/registers/r-1' }
      const answer = await this.#world.ask(message).catch(giveUpLost)
      if (answer?.status !== 200) continue
      const granted = this.told.granted.get(answer.by) ?? []
      this.told.granted.set(answer.by, [...granted, this.#world.scheduler.nowMs])
    }
  }

  async #noteAudit(id: string): Promise<void> {
    const answer = await this.#world.insist({ method: 'GET', target: `/api/audits/${id}` })
    if (this.#require(`result of ${id}`, answer, 200)) this.told.audits.push({ id, ...JSON.parse(answer.text) })
  }

  async changesAfter(after: number): Promise<readonly ToldChange[]> {
    const answer = await this.#world.insist({ method: 'GET', target: `/changes?after=${after}&limit=100` })
    return this.#require(`changes after ${after}`, answer, 200) ? JSON.parse(answer.text).items : []
  }

  allChanges(): Promise<readonly ToldChange[]> {
    return readWholeFeed(sequence => this.changesAfter(sequence))
  }

  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#followOn()
      await this.#world.pause(400)
    }
  }
  /** The number of all changes until now. */
  async followToEnd(): Promise<number> {
    while ((await this.#followOn()) > 0);
    return this.told.followed.length
  }
  async #followOn(): Promise<number> {
    const found = await this.changesAfter(this.told.followed.at(-1)?.sequence ?? 0)
    this.told.followed.push(...found)
    return found.length
  }

  async readRegisters(): Promise<ReadonlyMap<string, number>> {
    const last = new Map<string, number>()
    for (const key of registers) {
      let seen: Deed | undefined
      while (!seen) seen = await this.#read(key)
      last.set(key, seen.position)
    }
    return last
  }
}

function giveUpLost(thrown: unknown): undefined {
  if (!(thrown instanceof Lost)) throw thrown
}
