/**
 * A refusal outside a face: by the server before the front door, by the front door, by a page, or
 * by a binding that has no message to reply to. A face with a contract has its own problems
 * (`rest/problem.ts`).
 */
import type { Response } from './message.ts'
import { writeProblemJson } from './problem.ts'
import { reasonPhrases } from './status.ts'

export interface RefusalParts {
  /** What is wrong with this request, then what to do. Nothing about internals. */
  readonly detail?: string | undefined
  /**
   * Fields that the status requires (`allow`, `retry-after`, `www-authenticate`); they override the
   * defaults.
   */
  readonly fields?: Response['fields'] | undefined
}

/** RFC 9457 §4.2.1: `about:blank`, which means no more than the status. The title is its phrase. */
export function respond(status: number, { detail, fields }: RefusalParts = {}): Response {
  return {
    status,
    fields: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...fields },
    content: writeProblemJson({ type: 'about:blank', title: reasonPhrases[status], status, detail }),
  }
}
