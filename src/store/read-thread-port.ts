/** The messages to and from a thread that reads: one reply for each request, in order. */
import type { Cells } from './connection.ts'
import type { Cell } from './dialect.ts'

export type ThreadRequest =
  /** Begins a snapshot of what is committed by now, which lasts for this time. */
  | { readonly kind: 'begin'; readonly timeMs: number }
  | { readonly kind: 'rows'; readonly text: string; readonly values: readonly Cell[]; readonly octets: number }
  | { readonly kind: 'end' }

export type ThreadReply =
  | { readonly rows: readonly Cells[] }
  | { readonly error: string; readonly errcode: unknown }
  /** The time of the snapshot is over. */
  | { readonly isOver: true }

/** Of a thread that moves the log into the file: the pages of it that something still reads. */
export interface CheckpointReply {
  readonly leftPages: number
}

/** In a condition it is called for each row that is looked at, and throws when the time is over. */
export const goesOnFunction = 'diglot_goes_on'
