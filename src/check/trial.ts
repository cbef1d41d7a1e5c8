/** One rule on trial: what its probe sends, what it compares and what it cannot see. */
import type { Bench, Sending } from './bench.ts'
import type { ProbeExchange } from './probe-message.ts'
import { type Finding, NotApplicable, NotObservable } from './verdict.ts'

export class Trial {
  readonly bench: Bench
  readonly #findings: Finding[] = []
  #last: ProbeExchange | undefined = undefined

  constructor(bench: Bench) {
    this.bench = bench
  }

  async send(method: string, target: string, sending: Sending = {}): Promise<ProbeExchange> {
    this.#last = await this.bench.send(method, target, sending)
    return this.#last
  }

  /** @param evidence default: the last exchange of this trial */
  expect(holds: boolean, says: string, ...evidence: readonly (ProbeExchange | undefined)[]): void {
    const exchanges = evidence.filter(each => each !== undefined)
    this.#findings.push({ holds, says, evidence: exchanges.length > 0 || !this.#last ? exchanges : [this.#last] })
  }

  /** @param what the request, as a phrase before "is answered" */
  expectStatus(exchange: ProbeExchange, statuses: readonly number[], subject: string): void {
    const isOne = statuses.includes(exchange.status)
    const expected = statuses.join(' or ')
    this.expect(isOne, `${subject} is answered ${expected}${isOne ? '' : `, not ${exchange.status}`}`, exchange)
  }

  /** Ends the trial: the rule does not concern this service. */
  skip(reason: string): never {
    throw new NotApplicable(reason)
  }

  /** Ends the trial, which cannot continue without this. */
  lack(needed: string): never {
    throw new NotObservable(needed)
  }

  /** Ends the trial if the caller may not do this: the refusal says nothing about the rule. */
  requireAllowed({ status, request }: ProbeExchange): void {
    if (status === 401 || status === 403) this.lack(`a caller that may ${request.method} ${request.target}: --caller`)
  }

  get findings(): readonly Finding[] {
    return this.#findings
  }
}
