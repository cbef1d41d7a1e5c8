/**
 * Heads that come again. A connection that repeats its field lines has one object for them (`server/http1/connection.ts`), so what a
 * head says is remembered for as long as that object lives, and credentials no longer than their connection. Only what was
 * asked of the head is remembered; who it is and whether they may is asked each time.
 */
import type { HttpFields, Request } from '../http/message.ts'

/** Targets of one connection. */
const most = 16

export class HeadMemory<Said> {
  readonly #known = new WeakMap<HttpFields, Map<string, Said>>()

  find({ fields, method, target }: Request): Said | undefined {
    return this.#known.get(fields)?.get(`${method} ${target}`)
  }

  /** Of a request that was asked all rows of the plan, and has no content. HTTP/1.0 is asked for less: it may lack a Host. */
  keep({ fields, method, target, version, content }: Request, said: Said): void {
    if (version !== '1.1' || content.length !== 0) return
    let targets = this.#known.get(fields)
    if (!targets) this.#known.set(fields, (targets = new Map()))
    if (targets.size >= most) targets.clear()
    targets.set(`${method} ${target}`, said)
  }
}
