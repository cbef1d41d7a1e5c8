/**
 * Connections are files to the system, and a process that has as many as it may is not asked: new
 * ones are closed without a word, those of health checks too, and no database file can be opened.
 * So fewer connections are let in than files may be open, and the next one is told.
 */
import { readFileSync } from 'node:fs'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { defaultLimits } from './limits.ts'

/** Of the database, read threads, logs, connections to others, and refused ones that linger. */
const otherFiles = 1256

/** @returns fewer connections than the default, where the system allows few files; else none */
export function boundConnections(openFiles: number): number | undefined {
  const connections = Math.max(Math.floor(openFiles / 2), openFiles - otherFiles)
  return connections < defaultLimits.connections ? connections : undefined
}

/** Linux, proc_pid_limits(5): the soft limit, which Node raises to the hard one. */
export function readOpenFiles(path = '/proc/self/limits'): number {
  const text = attempt(
    () => readFileSync(path, 'latin1'),
    thrown => errorCodeOf(thrown) !== '',
  )
  const [, soft] = /^Max open files +(\d+)/m.exec(text ?? '') ?? []
  return soft === undefined ? Infinity : Number(soft)
}
