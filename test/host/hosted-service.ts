/** The whole service on a free port, with its log in a list. */
import { request as ask } from 'node:http'
import { after } from 'node:test'
import orders from '../../examples/orders/service.ts'
import type { Implementation } from '../../src/contract/implement.ts'
import { type ServeOptions, type Server, startService } from '../../src/host/serve.ts'

export interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

export interface Answer {
  readonly status: number
  readonly fields: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

type Fields = Readonly<Record<string, string>>

export interface Hosted {
  readonly server: Server
  readonly lines: Line[]
  /** Sends a request by node:http, which adds only Host and Connection. */
  ask(method: string, path: string, fields?: Fields, content?: string | Uint8Array): Promise<Answer>
  /** The cookie of a person after signing in, or '' if it was refused. */
  signIn(name: string, password: string): Promise<string>
}

export async function startHosted(options: ServeOptions = {}, app: Implementation = orders): Promise<Hosted> {
  const lines: Line[] = []
  const line = (level: Line['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  const logger = { info: line('info'), warn: line('warn'), error: line('error') }
  const server = await startService(app, { port: 0, data: ':memory:', logger, ...options })
  after(() => server.close(0))
  const hosted: Hosted = {
    server,
    lines,
    ask: (method, path, fields, content) => sendRequest(server.port, method, path, fields, content),
    signIn: async (name, password) => {
      const { fields } = await hosted.ask('POST', '/login', form, new URLSearchParams({ name, password }).toString())
      return fields['set-cookie']?.[0]?.split(';')[0] ?? ''
    },
  }
  return hosted
}

export const form: Fields = { 'content-type': 'application/x-www-form-urlencoded' }
export const json: Fields = { 'content-type': 'application/json' }
export const basic = (name: string, password: string): Fields => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})
export const bearer = (token: string): Fields => ({ authorization: `Bearer ${token}` })

export function sendRequest(
  port: number,
  method: string,
  path: string,
  headers: Fields = {},
  content?: string | Uint8Array,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = ask({ port, host: '127.0.0.1', method, path, headers, agent: false }, reply => {
      let text = ''
      reply.setEncoding('utf8').on('data', piece => (text += piece))
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, fields: reply.headers, text }))
      reply.on('error', reject)
    })
    asking.on('error', reject).end(content)
  })
}
