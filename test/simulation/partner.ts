/**
 * What is on the other side of the network: a sink that gets the feed, and a host that gets replies
 * of SOAP. Both are slow, fail or are away as a seed draws it, and keep what reached them.
 */
import { EventEmitter } from 'node:events'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { EventSink } from '../../src/host/delivery/sinks.ts'
import { owners, type Scheduler } from './virtual-time.ts'

export const replyAddress = 'http://partner.test/replies'

/** A delivery that failed, or whose answer was lost. */
export class PartnerFailure extends Error {}

export class Partner {
  readonly #scheduler: Scheduler
  readonly events: { readonly id: string; readonly text: string }[] = []
  readonly replies: string[] = []
  /** Probability that a delivery fails. */
  failing = 0

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** Whether what was sent arrives; and then whether its sender learns of it. */
  async #receive(take: () => void): Promise<void> {
    const { random } = this.#scheduler
    const sender = owners.getStore()
    await new Promise(resolve => setTimeout(resolve, random.between(0.5, random.chance(0.02) ? 40_000 : 80)))
    if (sender?.isGone) throw new PartnerFailure('the sender has crashed')
    const isLost = random.chance(this.failing)
    if (isLost && random.chance(0.5)) throw new PartnerFailure('the partner does not answer')
    take()
    if (isLost) throw new PartnerFailure('the answer of the partner was lost')
  }

  readonly sink: EventSink = {
    name: 'partner',
    deliver: event => this.#receive(() => void this.events.push({ id: event.id, text: JSON.stringify(event) })),
  }

  /** In place of `request` of node:http, for `postContent`. */
  readonly request = (answered: (answer: object) => void): object => {
    const asking = new EventEmitter()
    const end = (content: string): void => {
      this.#receive(() => void this.replies.push(content)).then(
        () => answered(Object.assign(new EventEmitter(), { statusCode: 202, destroy: () => {} })),
        thrown => asking.emit('error', thrown),
      )
    }
    return Object.assign(asking, { end })
  }
}

/** Connects the processes of the world with its partner, whatever its name resolves to. */
export function installNetwork(partnerOf: () => Partner): void {
  const require = createRequire(import.meta.url)
  Object.assign(require('node:http'), {
    request: (_target: URL, _options: object, answered: (answer: object) => void) => partnerOf().request(answered),
  })
  Object.assign(require('node:dns/promises'), { lookup: async () => [{ address: '93.184.215.14', family: 4 }] })
  syncBuiltinESMExports()
}
