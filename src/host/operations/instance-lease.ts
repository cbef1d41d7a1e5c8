/**
 * Announces the needs of this instance to other programs on the database while it runs, so that
 * they drop nothing that it declares (`diglot migrate --drop`).
 */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../contract/service.ts'
import type { Store } from '../../service/store.ts'
import { type InstanceNeeds, instanceSpace, neededNames } from '../../store/instance-needs.ts'
import type { World } from '../world.ts'

/** After this time the needs of a killed instance no longer count. */
const leaseMs = 180_000
const renewEveryMs = 60_000
/** A stop waits no longer than this for a store. */
const endMs = 2000

export class InstanceLease {
  readonly #store: Pick<Store, 'read' | 'write'>
  readonly #world: Pick<World, 'clock' | 'failed'>
  readonly #id: string
  readonly #service: string
  readonly #value: string
  #timer: NodeJS.Timeout | undefined

  /** @param id the id of the instance, unique on the database */
  constructor(
    store: Pick<Store, 'read' | 'write'>,
    contract: Service,
    world: Pick<World, 'clock' | 'failed'>,
    id: string,
  ) {
    const { service } = contract
    const instance = `${hostname()}, process ${process.pid}`
    const needs: InstanceNeeds = { instance, service, names: neededNames(contract) }
    this.#service = service
    this.#store = store
    this.#world = world
    this.#id = id
    this.#value = JSON.stringify(needs)
  }

  async begin(): Promise<void> {
    this.#timer = setInterval(() => void this.#renew(), renewEveryMs).unref()
    await this.#renew()
  }

  /** Running instances of other services on this database. */
  async findStrangers(): Promise<readonly InstanceNeeds[]> {
    const now = this.#world.clock()
    const records = await this.#store.read(reader => reader.recallAll(instanceSpace))
    return [...records.values()]
      .filter(({ expires }) => expires > now)
      .map(({ value }) => JSON.parse(value) as InstanceNeeds) // as `#renew` writes them
      .filter(({ service }) => service !== undefined && service !== this.#service)
  }

  /** Removes its entry; a store that is out of reach forgets it in time. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    const ended = this.#store.write(writer => writer.forget(instanceSpace, this.#id)).catch(this.#world.failed)
    await Promise.race([ended, sleep(endMs, undefined, { ref: false })])
  }

  async #renew(): Promise<void> {
    const now = this.#world.clock()
    const memo = { value: this.#value, expires: now + leaseMs }
    await this.#store
      .write(async writer => {
        await writer.forget(instanceSpace, this.#id)
        await writer.remember(instanceSpace, this.#id, memo, now)
      })
      .catch(this.#world.failed)
  }
}
