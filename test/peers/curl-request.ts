/** A request as it is written, and the answer as it came: no redirect followed, no coding undone, no field added but Host. */
import { request } from 'node:http'
import { request as requestByTls } from 'node:https'
import { run } from './peer.ts'

export type Fields = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly fields: Fields
  readonly content: Buffer
}

export interface Question {
  readonly method?: string
  readonly fields?: Fields
  readonly content?: string | Uint8Array
  /** The address to ask from. */
  readonly from?: string
  /** The certificate of an address over TLS. */
  readonly ca?: string
}

export function ask(url: string, { method = 'GET', fields = {}, content, from, ca }: Question = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) }
    const send = url.startsWith('https:') ? requestByTls : request
    const way = { ...(from && { localAddress: from }), ...(ca !== undefined && { ca }) }
    const asked = send(
      url,
      { method, agent: false, timeout: 10_000, headers: { ...length, ...fields }, ...way },
      answer => {
        const pieces: Buffer[] = []
        answer.on('data', piece => pieces.push(piece)).on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            fields: joined(answer.rawHeaders),
            content: Buffer.concat(pieces),
          }),
        )
      },
    )
    asked.on('timeout', () => asked.destroy(new Error(`${method} ${url}: no answer within 10 s`)))
    asked.on('error', reject).end(content)
  })
}

function joined(lines: readonly string[]): Fields {
  const fields: Record<string, string> = {}
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const name = lines[at]!.toLowerCase()
    fields[name] = fields[name] === undefined ? lines[at + 1]! : `${fields[name]}, ${lines[at + 1]}`
  }
  return fields
}

/** The same by curl, with flags such as `--http2-prior-knowledge`; the answer's last head, whatever its version. */
export function curl(flags: readonly string[], url: string, { method, fields = {}, content }: Question = {}): Answer {
  const words = Object.entries(fields).flatMap(([name, value]) => [
    '-H',
    value === '' ? `${name};` : `${name}: ${value}`,
  ])
  const sent = content === undefined ? [] : ['--data-binary', '@-']
  const verb = method === 'HEAD' ? ['--head'] : method === undefined ? [] : ['-X', method]
  const silent = ['-H', 'User-Agent:', ...('accept' in fields ? [] : ['-H', 'Accept:'])]
  const plain = content !== undefined && !('content-type' in fields) ? ['-H', 'Content-Type:'] : []
  const all = [
    '-sS',
    '-i',
    '--path-as-is',
    '--max-time',
    '10',
    ...flags,
    ...silent,
    ...plain,
    ...verb,
    ...words,
    ...sent,
    url,
  ]
  return answerOf(run('curl', all, content === undefined ? undefined : String(content)))
}

function answerOf(text: string): Answer {
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n')
    rest = rest.slice(end + 4)
    const status = Number(line.split(' ')[1])
    if (status < 200) continue
    const pairs = lines.flatMap(each => {
      const colon = each.indexOf(':')
      return [each.slice(0, colon), each.slice(colon + 1).trim()]
    })
    return { status, fields: joined(pairs), content: Buffer.from(rest) }
  }
}

/** Of one connection, of one moment, or of the way: what may differ where nothing else may. */
const own = new Set(
  'age connection date expires keep-alive ratelimit request-id strict-transport-security transfer-encoding via server x-varnish x-cache x-cache-lookup alt-svc accept-ranges'.split(
    ' ',
  ),
)
export const lasting = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !own.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
