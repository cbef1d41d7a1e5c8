/**
 * A peer as a program: it reads the WSDL, then for each line of its standard input, `{ operation, input, as }`, calls the
 * operation with the values by name and prints one line: `{ output }`, `{ fault: { code, reason, detail } }` or `{ error }`.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { atEnd } from './peer.ts'

/** What the peer made of an answer. `error` is the peer's own failure: the message was no answer to it. */
export interface Said {
  readonly output?: unknown
  readonly fault?: { readonly code: string; readonly reason: string; readonly detail: string }
  readonly error?: string
}

export type Input = Readonly<Record<string, unknown>>

export interface Driver {
  call(operation: string, input: Input, as?: Caller): Promise<Said>
  end(): void
}

export type Caller = 'alice' | 'clara' | 'maria'

export function driver(program: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Driver {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  let said = ''
  child.stderr.on('data', part => {
    said += part
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const end = (): void => void child.kill()
  child.stdin.on('error', () => undefined) // a program that ended early has said why on standard error
  atEnd(end)
  return {
    async call(operation, input, as = 'maria') {
      child.stdin.write(`${JSON.stringify({ operation, input, as, password: `${as}-secret` })}\n`)
      const line = await lines.next()
      if (line.done) throw new Error(`${program} ended at ${operation}: ${said}`)
      try {
        return JSON.parse(line.value)
      } catch {
        throw new Error(`${program} at ${operation} said: ${line.value}\n${said}`)
      }
    },
    end,
  }
}
