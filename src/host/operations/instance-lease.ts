/**
 * Tells other programs on the database what this instance needs of it, for as long as it runs: what
 * it declares is not dropped meanwhile (`diglot migrate --drop`).
 */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../contract/service.ts'
import type { Store } from '../../service/store.ts'
import { type InstanceNeeds, instanceSpace, neededNames } from '../../store/instance-needs.ts'
import type { World } from '../world.ts'

/** After so long the needs of an instance that was killed count no more. */
const leaseMs = 180_000
const renewEveryMs = 60_000
/** A stop waits no longer for a store. */
const endMs = 2000

export class InstanceLease {
  readonly #store: Pick<Store, 'write'>
  readonly #world: Pick<World, 'clock' | 'failed'>
  readonly #id: string
  readonly #value: string
  #timer: NodeJS.Timeout | undefined

  /** @param id of the instance, among all on the database */
  constructor(store: Pick<Store, 'write'>, contract: Service, world: Pick<World, 'clock' | 'failed'>, id: string) {
    const needs: InstanceNeeds = { instance: `${hostname()}, process ${process.pid}`, names: neededNames(contract) }
    this.#store = store
    this.#world = world
    this.#id = id
    this.#value = JSON.stringify(needs)
  }

  async begin(): Promise<void> {
    this.#timer = setInterval(() => void this.#renew(), renewEveryMs).unref()
    await this.#renew()
  }

  /** Leaves nothing behind; a store that is out of reach for a while forgets it in its time. */
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
