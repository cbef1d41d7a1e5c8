/** A program that runs while the services of this process answer. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

interface SpawnedText {
  readonly input?: string
  readonly mayFail?: boolean
}

/** What it prints. Within four minutes. */
export async function spawnText(
  program: string,
  words: readonly string[],
  { input = '', mayFail = false }: SpawnedText = {},
): Promise<string> {
  const child = spawn(program, words, { timeout: 240_000 })
  child.stdin.end(input)
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.ok(mayFail || child.exitCode === 0, `${program} ${words.join(' ')}: ${complaint}${said}`)
  return said
}
