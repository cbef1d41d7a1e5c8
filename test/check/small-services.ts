/** Services of a few lines in memory, each sound, and the verdicts on them. */
import type { Json } from '../../src/base/objects.ts'
import {
  type CheckOptions,
  type CheckReport,
  checkRules,
  createMemoryTransport,
  parseCaller,
  runCheck,
} from '../../src/check/index.ts'
import { writeJson } from '../../src/http/json.ts'
import type { Request, Response } from '../../src/http/message.ts'

export interface SmallRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  /** The name of the caller, as Basic has it; undefined: anonymous. */
  readonly caller: string | undefined
  readonly fields: Request['fields']
  readonly text: string
}
export interface SmallAnswer {
  readonly status: number
  readonly json?: Json
  readonly fields?: Readonly<Record<string, string>>
}
export type SmallService = (asked: SmallRequest) => SmallAnswer

export const [ann, bob] = ['ann:a', 'bob:b'].map(parseCaller) as [ReturnType<typeof parseCaller>, ReturnType<typeof parseCaller>] // biome-ignore format: one row

async function readRequest({ method, target, fields, content }: Request): Promise<SmallRequest> {
  const [path = '', query = ''] = target.split('?')
  const [, credentials] = (fields['authorization'] ?? '').split(' ')
  const [caller] = Buffer.from(credentials ?? '', 'base64')
    .toString()
    .split(':')
  const text = new TextDecoder().decode((await content.bytes(1e6)) ?? new Uint8Array(0))
  return { method, path, query, caller: caller === '' ? undefined : caller, fields, text }
}

const writeAnswer = ({ status, json, fields }: SmallAnswer): Response => ({
  status,
  fields: { ...(json !== undefined && { 'content-type': 'application/json' }), ...fields },
  ...(json !== undefined && { content: writeJson(json) }),
})

/** Tries these rules on the service, with permission to change it. */
export function checkSmall(
  service: SmallService,
  ids: readonly string[],
  options: CheckOptions = {},
): Promise<CheckReport> {
  const transport = createMemoryTransport(async request => writeAnswer(service(await readRequest(request))))
  const rules = checkRules.filter(({ id }) => ids.includes(id))
  return runCheck(transport, { allowChanges: true, rate: 100_000, rules, ...options })
}

export const listVerdicts = ({ verdicts }: CheckReport): readonly string[] =>
  verdicts.map(({ rule, status, reason }) => `${rule.id} ${status}${status === 'pass' ? '' : `: ${reason}`}`)

const ok = { 200: { description: 'as it is' } }
const contentOf = (schema: Json): Json => ({ 'application/json': { schema } })

/** Notes at `/notes`, described with this schema. */
const noteSchema: Json = { type: 'object', properties: { title: { type: 'string' } } }
export const describeNotes = (schema: Json = noteSchema, others: { readonly [path: string]: Json } = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  components: { schemas: { Note: schema } },
  paths: {
    '/notes': {
      get: { responses: ok },
      post: { requestBody: { content: contentOf(schema) }, responses: { 201: { description: 'new' } } },
    },
    '/notes/{id}': {
      get: { responses: { 200: { description: 'one', content: contentOf(schema) } } },
      put: { requestBody: { content: contentOf(schema) }, responses: ok },
      delete: { responses: { 204: { description: 'gone' } } },
    },
    ...others,
  },
})

/** Notes that anybody may read and change, at `/notes`. */
export function createNotes({
  document = describeNotes() as Json,
  member = 'id',
  end = '',
  known = ['1', '2'],
}: {
  readonly document?: Json
  /** What holds the identifier. */
  readonly member?: string
  /** A slash, where addresses end with one. */
  readonly end?: string
  readonly known?: readonly string[]
} = {}): SmallService {
  const notes = new Map(known.map(id => [id, { [member]: id, title: `note ${id}` } as { [name: string]: Json }]))
  let last = 2
  return ({ method, path, text }) => {
    if (path === '/openapi.json') return { status: 200, json: document }
    if (path === `/notes${end}` && method === 'POST') {
      const note = { ...JSON.parse(text), [member]: String(++last) }
      notes.set(String(last), note)
      return { status: 201, json: note, fields: { location: `/notes/${last}${end}` } }
    }
    if (path === `/notes${end}`) return { status: 200, json: [...notes.values()] }
    const [, id = ''] = /^\/notes\/([^/]+)(.*)$/.exec(path) ?? []
    const note = path === `/notes/${id}${end}` ? notes.get(id) : undefined
    if (!note) return { status: path === '/' ? 200 : 404, json: {} }
    if (method === 'DELETE') return { status: notes.delete(id) ? 204 : 404 }
    if (method === 'PUT') notes.set(id, { ...JSON.parse(text), [member]: id })
    return { status: 200, json: notes.get(id) ?? {} }
  }
}
