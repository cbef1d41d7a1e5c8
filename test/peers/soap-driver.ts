/**
 * A peer as a program: it reads the WSDL, then for each line of its standard input, `{ operation, input, as, password }`, calls
 * the operation with the values by name and prints one line: `{ output }`, `{ fault: { code, reason, detail } }` or `{ error }`.
 * For peers of compiled languages the values are there as the element of a literal message too, `xml`, and the output may be
 * one.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { atEnd } from './peer.ts'
import { fromXml, toRpcXml, toXml } from './soap-xml.ts'

/** What the peer made of an answer. `error` is the peer's own failure: the message was no answer to it. */
export interface Said {
  readonly output?: unknown
  /** Without a code where the peer's API does not show it. */
  readonly fault?: { readonly code?: string; readonly reason: string; readonly detail: string }
  readonly error?: string
}

export type Input = Readonly<Record<string, unknown>>

export interface Driver {
  /**
   * @param password the caller's own by default
   * @param more of a line, for programs that call several services
   */
  call(operation: string, input: Input, as?: Caller, password?: string, more?: Input): Promise<Said>
  end(): void
}

export type Caller = 'alice' | 'clara' | 'maria'

/** A program that reads one JSON object a line and prints another for each. */
export interface LineProgram {
  ask(asked: object): Promise<Record<string, unknown>>
  end(): void
}

export function startLineProgram(program: string, words: readonly string[]): LineProgram {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', part => {
    said += part
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const end = (): void => void child.kill()
  child.stdin.on('error', () => undefined) // a program that ended early has said why on standard error
  atEnd(end)
  return {
    async ask(asked) {
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      const line = await lines.next()
      const { operation = program } = asked as { operation?: string }
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

/** @param rpc the WSDL, where messages are RPC/literal */
export function driver(program: string, words: readonly string[], namespace: string, rpc?: string): Driver {
  const { ask, end } = startLineProgram(program, words)
  return {
    async call(operation, input, as = 'maria', password = `${as}-secret`, more = {}) {
      const xml = rpc ? toRpcXml(namespace, operation, input, rpc) : toXml(namespace, operation, input)
      const { xml: output, ...rest } = await ask({ ...more, operation, input, as, password, namespace, xml })
      return output === undefined ? rest : { output: fromXml(String(output)) }
    },
    end,
  }
}
