/**
 * A refusal outside a face: by the server before any door, by the door, by a page, by a binding
 * that has no message to answer with. A face with a contract has problems of its own
 * (`rest/problem.ts`).
 */
import type { Response } from './message.ts'
import { writeProblemJson } from './problem.ts'
import { reasonPhrases } from './status.ts'

export interface RefusalParts {
  /** What is wrong with this request, then what to do. Nothing of the inside. */
  readonly detail?: string | undefined
  /**
   * What the status calls for (`allow`, `retry-after`, `www-authenticate`); they win over the
   * usual.
   */
  readonly fields?: Response['fields'] | undefined
}

/** RFC 9457 §4.2.1: `about:blank`, which means no more than the status. Its title is the phrase. */
export function respond(status: number, { detail, fields }: RefusalParts = {}): Response {
  return {
    status,
    fields: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...fields },
    content: writeProblemJson({ type: 'about:blank', title: reasonPhrases[status], status, detail }),
  }
}
