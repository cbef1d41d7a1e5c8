/** What `/metrics` of a bridge reports about calls whose responses come later. */
import type { Figure } from '../contract/implement.ts'
import type { ReceiptRefusal } from './reply-receipt.ts'

/** How a call that waited for its response ended. */
export type LaterOutcome = 'answer' | 'fault' | 'garbage' | 'late' | 'cancelled'

export class LaterFigures {
  readonly #ended = new Map<LaterOutcome, number>()
  readonly #refused = new Map<ReceiptRefusal, number>()

  countEnd(outcome: LaterOutcome): void {
    this.#ended.set(outcome, (this.#ended.get(outcome) ?? 0) + 1)
  }
  countRefusal(why: ReceiptRefusal): void {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1)
  }

  listFigures(countWaiting: () => number): readonly Figure[] {
    return [
      {
        name: 'diglot_later_calls',
        help: 'Calls that wait for an answer that comes later.',
        type: 'gauge',
        aggregator: 'sum',
        read: () => [{ labels: {}, value: countWaiting() }],
      },
      {
        name: 'diglot_later_answers_total',
        help: 'Calls that waited, by how they ended: answer, fault, garbage, late, cancelled.',
        type: 'counter',
        aggregator: 'sum',
        read: () => [...this.#ended].map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
      {
        name: 'diglot_later_refused_total',
        help: 'Messages to addresses of later answers that were refused, by the reason.',
        type: 'counter',
        aggregator: 'sum',
        read: () => [...this.#refused].map(([why, value]) => ({ labels: { why }, value })),
      },
    ]
  }
}
