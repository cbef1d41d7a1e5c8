/**
 * The figures about the backend in `/metrics` of a bridge: calls, outcomes, and whether it is
 * called.
 */
import type { Figure } from '../contract/implement.ts'
import type { WaitingLines } from '../service/waiting-lines.ts'
import type { Circuit } from './circuit.ts'
import type { PortAnswer } from './port-caller.ts'

export class BackendFigures {
  readonly #counts = new Map<string, number>()

  count(answer: PortAnswer): void {
    const outcome = answer.kind === 'silence' ? answer.why : answer.kind
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1)
  }

  listFigures(lines: WaitingLines, circuit: Circuit): readonly Figure[] {
    return [
      {
        name: 'diglot_behind_calls',
        help: 'Calls to the backend that are in progress, and that wait for their turn.',
        type: 'gauge',
        aggregator: 'sum',
        read: () => [
          { labels: { state: 'running' }, value: lines.running },
          { labels: { state: 'waiting' }, value: lines.waiting },
        ],
      },
      {
        name: 'diglot_behind_answers_total',
        help: 'Calls to the backend by their outcome: answer, accepted, fault, garbage, or why no complete response arrived.',
        type: 'counter',
        aggregator: 'sum',
        read: () => [...this.#counts].map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
      {
        name: 'diglot_behind_left_alone',
        help: '1 while the backend is not called, since it has not responded.',
        type: 'gauge',
        aggregator: 'max',
        read: () => [{ labels: {}, value: circuit.isOpen ? 1 : 0 }],
      },
    ]
  }
}
