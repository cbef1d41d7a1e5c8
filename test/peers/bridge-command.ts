/** `diglot bridge` as a process of its own, on a free port. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atEnd, root } from './peer.ts'

/** What a program says until a line fits. */
export async function hearProgram(
  program: string,
  words: readonly string[],
  env: object,
  ready: RegExp,
): Promise<string> {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  atEnd(() => void child.kill('SIGKILL'))
  let said = ''
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        said += piece
        if (ready.test(said)) resolve(said)
      })
    void once(child, 'exit').then(() => reject(new Error(`${program} ended: ${said}`)))
  })
}

export interface BridgeCommand {
  /** The address of its REST face. */
  readonly url: string
  /** What it says when it starts. */
  readonly said: string
}

/** With these words, for anyone. */
export async function startBridgeCommand(words: readonly string[]): Promise<BridgeCommand> {
  const command = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'bridge', ...words]
  const said = await hearProgram(process.execPath, [...command, '--anyone', '--port', '0'], {}, /bridging \S+ to/)
  return { url: /bridging (\S+) to/.exec(said)?.[1] ?? '', said }
}
