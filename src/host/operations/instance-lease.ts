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
  readonly #store: Pick<Store, 'write'>
  readonly #world: Pick<World, 'clock' | 'failed'>
  readonly #id: string
  readonly #value: string
  #timer: NodeJS.Timeout | undefined

  /** @param id the id of the instance, unique on the database */
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
