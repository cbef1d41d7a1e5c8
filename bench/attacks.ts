/** What one hostile request costs: CPU of the server's process, the answer included. Each must stay under 100 ms. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { cpu, type Row, start, stayOff, stop } from './harness.ts'

const goal = 100
const rounds = 5

interface Attack {
  readonly what: string
  readonly status: number
  readonly method?: string
  readonly path: string
  readonly fields?: Readonly<Record<string, string>>
  readonly content?: string | Uint8Array
}

const basic = (name: string, password: string) => ({ Authorization: `Basic ${btoa(`${name}:${password}`)}` })
const clara = basic('clara', 'clara-secret')
const json = { ...clara, 'Content-Type': 'application/json' }
const soap = { ...clara, 'Content-Type': 'application/soap+xml' }
const e = 'xmlns:e="http://www.w3.org/2003/05/soap-envelope"'
const message = (body: string, header = '') => `<e:Envelope ${e}>${header}<e:Body>${body}</e:Body></e:Envelope>`
const ns = 'xmlns="urn:diglot:orders:v1"'
const many = (count: number, one: (at: number) => string) => Array.from({ length: count }, (_, at) => one(at)).join('')
const wsse = 'xmlns:s="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"'
const references = many(
  1000,
  at =>
    `<d:Reference URI="#b${at}"><d:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><d:DigestValue>AAAA</d:DigestValue></d:Reference>`,
)
const signature = `<d:Signature xmlns:d="http://www.w3.org/2000/09/xmldsig#"><d:SignedInfo><d:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/><d:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>${references}</d:SignedInfo><d:SignatureValue>AAAA</d:SignatureValue></d:Signature>`
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))

const at = '/api/v1/orders'
const attacks: readonly Attack[] = [
  { what: 'a target of 60 KB', status: 414, path: `/${'a'.repeat(60_000)}` },
  {
    what: '3,000 fields',
    status: 200,
    path: '/',
    fields: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`a${i}`, 'b'])),
  },
  { what: '4,000 query parameters', status: 400, path: `${at}?${'a&'.repeat(4000)}`, fields: clara },
  {
    what: 'a JWT that nobody signed',
    status: 401,
    path: `${at}/o-1`,
    fields: { Authorization: `Bearer eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJjbGFyYSJ9.${'A'.repeat(86)}` },
  },
  { what: 'a wrong password (argon2id)', status: 401, path: `${at}/o-1`, fields: basic('maria', 'wrong') },
  { what: 'a password of nobody', status: 401, path: `${at}/o-1`, fields: basic('nobody', 'wrong') },
  { what: 'JSON 500,000 deep', status: 400, method: 'POST', path: at, fields: json, content: '['.repeat(500_000) },
  {
    what: 'JSON with a number of 1 MB',
    status: 400,
    method: 'POST',
    path: at,
    fields: json,
    content: `{"lines":${'9'.repeat(1_000_000)}}`,
  },
  {
    what: 'JSON with 80,000 names',
    status: 422,
    method: 'POST',
    path: at,
    fields: json,
    content: `{${many(80_000, i => `"a${i}":1,`)}"a":1}`,
  },
  {
    what: 'JSON Patch that copies and copies',
    status: 400,
    method: 'PATCH',
    path: `${at}/o-1`,
    fields: { ...clara, 'If-Match': '*', 'Content-Type': 'application/json-patch+json' },
    content: `[${many(200, () => '{"op":"copy","from":"","path":"/a"},')}{"op":"test","path":"","value":1}]`,
  },
  {
    what: 'gzip of 64 MB',
    status: 400,
    method: 'POST',
    path: at,
    fields: { ...json, 'Content-Encoding': 'gzip' },
    content: bomb,
  },
  {
    what: 'gzip of 64 MB to SOAP',
    status: 413,
    method: 'POST',
    path: '/soap/v1',
    fields: { ...soap, 'Content-Encoding': 'gzip' },
    content: bomb,
  },
  {
    what: 'P1 DOCTYPE, billion laughs',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(1000)}">]>${message('&a;'.repeat(1000))}`,
  },
  {
    what: 'P8 XML 200,000 deep',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message('<a>'.repeat(200_000)),
  },
  {
    what: 'P9 100,000 attributes',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message(`<a ${many(100_000, i => `a${i}="" `)}/>`),
  },
  {
    what: 'P10 40,000 namespaces',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message(`<a ${many(40_000, i => `xmlns:a${i}="a" `)}/>`),
  },
  {
    what: 'P11 250,000 siblings',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message('<a/>'.repeat(250_000)),
  },
  {
    what: 'P13 a name of 1 MB',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message(`<${'a'.repeat(1_000_000)}/>`),
  },
  {
    what: 'P14 200,000 character references',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message(`<GetOrder ${ns}><id>${'&#65;'.repeat(200_000)}</id></GetOrder>`),
  },
  {
    what: '1 MB of blanks in a number',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message(
      `<PayOrder ${ns}><id>o-1</id><method>card</method><amount>1${' '.repeat(1_000_000)}1</amount></PayOrder>`,
    ),
  },
  {
    what: 'X4 a signature of 1,000 references',
    status: 500,
    method: 'POST',
    path: '/soap/v1',
    fields: soap,
    content: message(
      `<GetOrder ${ns}><id>o-1</id></GetOrder>`,
      `<e:Header><s:Security ${wsse} e:mustUnderstand="true">${signature}</s:Security></e:Header>`,
    ),
  },
]

export async function attacksBench(): Promise<Row[]> {
  stayOff()
  const target = await start('diglot', 'diglot.ts', [':memory:'])
  const rows: Row[] = []
  try {
    for (const attack of attacks) {
      await send(target.port, attack)
      const before = await cpu(target)
      for (let i = 0; i < rounds; i++) await send(target.port, attack)
      const cost = ((await cpu(target)) - before) / rounds / 1000
      rows.push({
        what: attack.what,
        against: `${goal} ms of CPU`,
        ratio: goal / cost,
        goal: '≥ 1',
        note: `${cost.toFixed(1)} ms, ${attack.status}`,
      })
    }
  } finally {
    stop(target)
  }
  return rows
}

/** One request on a connection of its own; rejects when the answer has another status. */
function send(port: number, { what, status, method = 'GET', path, fields = {}, content = '' }: Attack): Promise<void> {
  const octets = Buffer.from(content)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    ...(octets.length > 0 ? [`Content-Length: ${octets.length}`] : []),
  ]
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      socket.write(octets)
    })
    socket.setEncoding('latin1').on('data', piece => (text += piece))
    socket.on('error', reject).on('end', () => {
      socket.destroy()
      if (text.startsWith(`HTTP/1.1 ${status} `)) resolve()
      else reject(new Error(`${what}: ${text.slice(0, 400)}`))
    })
  })
}
