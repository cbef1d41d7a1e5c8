/**
 * To the system, connections are files. Once a process has reached its file limit, the system
 * closes new connections silently, even those of health checks, and no database file can be opened.
 * So fewer connections are admitted than files may be open, and any further client gets a response.
 */
import { readFileSync } from 'node:fs'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import { defaultLimits } from './limits.ts'

/** For the database, read threads, logs, outgoing connections, and refused ones that linger. */
const otherFiles = 1256

/** @returns fewer connections than the default if the system allows few files, else undefined */
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
