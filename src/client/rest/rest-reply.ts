/**
 * A response whose content is text, and the error that explains why it is not a reply to the call.
 */
import type { HttpFields } from '../../http/message.ts'
import { AnswerError, type FailureReason } from '../errors.ts'

export interface ReceivedText {
  readonly status: number
  readonly fields: HttpFields
  readonly text: string
}

export interface RestReply extends ReceivedText {
  /** Its address after redirections: links are relative to it. */
  readonly target: URL
  /** Keeps it for reuse, once its content has turned out to be JSON. */
  readonly keep?: () => void
}

export const fieldsOf = (response: Response): HttpFields => Object.fromEntries(response.headers)

export function createAnswerError(
  operation: string,
  why: FailureReason,
  detail: string,
  { status, fields, text }: ReceivedText,
  problems?: AnswerError['problems'],
): AnswerError {
  return new AnswerError(operation, why, detail, { status, fields, content: new TextEncoder().encode(text) }, problems)
}

export function refuseReply(...given: Parameters<typeof createAnswerError>): never {
  throw createAnswerError(...given)
}
