/**
 * A store that behaves as one on a database server does, on top of the one on SQLite: a transaction
 * collides and runs again, a connection is lost with the answer to a commit, an answer comes late.
 */
import { type Store, Unavailable, type WriteTurn, type WriteWork } from '../../src/service/store.ts'
import type { Scheduler } from './virtual-time.ts'

export interface ServerTroubles {
  collision: number
  lostCommit: number
}

const collision = Symbol('collision')
const delays = [0.2, 30] as const

export function behaveAsServer(store: Store, scheduler: Scheduler, troubles: ServerTroubles): Store {
  const { random } = scheduler
  const pass = (): Promise<void> => new Promise(resolve => setTimeout(resolve, random.between(...delays)))
  const write = async <T>(work: WriteWork<T>, turn?: WriteTurn): Promise<T> => {
    await pass()
    for (;;) {
      try {
        const result = await store.write(async writer => {
          const made = await work(writer)
          if (random.chance(troubles.collision)) throw collision
          return made
        }, turn)
        await pass()
        if (random.chance(troubles.lostCommit)) throw new Unavailable(1, 'the connection was lost with the commit')
        return result
      } catch (thrown) {
        if (thrown !== collision) throw thrown
      }
    }
  }
  return new Proxy(store, {
    get(target, name) {
      if (name === 'write') return write
      const member = target[name as keyof Store]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
