/** What one hostile request costs: CPU of the server's process, the answer included, and memory above what it had before. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { cpu, median, type Row, start, stayOff, stop, type Target } from './harness.ts'
import { forgetPeak, peak, resident } from './large.ts'

const most = { milliseconds: 100, megabytes: 64 }
const rounds = 5

interface Attack {
  readonly what: string
  readonly status: number
  readonly method?: string
  readonly path: string
  readonly fields?: Readonly<Record<string, string>>
  readonly content?: string | Uint8Array
  /** Sent as chunks of so many octets. */
  readonly chunks?: number
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

const xsi = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
/** A message to the SOAP endpoint. */
const xml = (what: string, status: number, content: Attack['content'] = '', more: Partial<Attack> = {}): Attack => ({
  what,
  status,
  method: 'POST',
  path: '/soap/v1',
  fields: soap,
  content,
  ...more,
})

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
    status: 400,
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
    status: 413,
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
  xml(
    'P1, P5 DOCTYPE, billion laughs',
    500,
    `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(1000)}">]>${message('&a;'.repeat(1000))}`,
  ),
  xml('P2–P4 external entities', 500, `<!DOCTYPE x [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>${message('&a;')}`),
  xml(
    'P6 quadratic blow-up',
    500,
    `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(100_000)}">]>${message('&a;'.repeat(100_000))}`,
  ),
  xml(
    'P7 ATTLIST defaults',
    500,
    `<!DOCTYPE x [${many(10_000, i => `<!ATTLIST x a${i} CDATA "b">`)}]>${message('<x/>')}`,
  ),
  xml('P8 XML 200,000 deep', 500, message('<a>'.repeat(200_000))),
  xml('P9 100,000 attributes', 500, message(`<a ${many(100_000, i => `a${i}="" `)}/>`)),
  xml('P10 40,000 namespaces', 500, message(`<a ${many(40_000, i => `xmlns:a${i}="a" `)}/>`)),
  xml('P11 250,000 siblings', 500, message('<a/>'.repeat(250_000))),
  xml('P12 60 MB of text', 413, message(`<GetOrder ${ns}><id>${'a'.repeat(60_000_000)}</id></GetOrder>`)),
  xml('P13 a name of 1 MB', 500, message(`<${'a'.repeat(1_000_000)}/>`)),
  xml(
    'P14 200,000 character references',
    500,
    message(`<GetOrder ${ns}><id>${'&#65;'.repeat(200_000)}</id></GetOrder>`),
  ),
  xml(
    'P15 names such as __proto__',
    500,
    message(many(9000, i => `<__proto__ constructor="${i}" hasOwnProperty=""/>`)),
  ),
  xml('P16 processing instructions', 500, message('<?a b?>'.repeat(100_000))),
  xml('P17 cut before its end', 500, message(`<GetOrder ${ns}><id>o-1</id></GetOrder>`.repeat(10_000)).slice(0, -3)),
  xml('P18 overlong UTF-8', 500, Buffer.from(message(`<GetOrder ${ns}><id>\xc0\xaf</id></GetOrder>`), 'latin1')),
  xml('P20 100 KB, an octet a chunk', 400, message(`<GetOrder ${ns}><id>${'a'.repeat(100_000)}</id></GetOrder>`), {
    chunks: 1,
  }),
  xml('P21 ]]> in text', 500, message(`<GetOrder ${ns}><id>${']]>'.repeat(100_000)}</id></GetOrder>`)),
  xml('P22 one attribute by two prefixes', 500, message('<a xmlns:b="c" xmlns:d="c" b:e="" d:e=""/>'.repeat(10_000))),
  xml('P23 a prefix of nothing', 500, message('<a:b/>'.repeat(100_000))),
  xml('P24 xml bound to another', 500, message('<a xmlns:xml="urn:a"/>'.repeat(10_000))),
  xml(
    'P25 xsi:type of another type',
    500,
    message(`<GetOrder ${ns}><id ${xsi} xmlns:a="urn:a" i:type="a:b">o-1</id></GetOrder>`),
  ),
  xml('P26 nil with content', 500, message(`<GetOrder ${ns}><id ${xsi} i:nil="true">o-1</id></GetOrder>`)),
  xml(
    'P27 a schema to fetch',
    200,
    message(`<GetOrder ${ns} ${xsi} i:schemaLocation="urn:a http://127.0.0.1:1/a.xsd"><id>o-1</id></GetOrder>`),
  ),
  xml(
    'P28 XInclude',
    500,
    message(
      `<GetOrder ${ns}><id><include xmlns="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/></id></GetOrder>`,
    ),
  ),
  xml(
    '1 MB of blanks in a number',
    500,
    message(`<PayOrder ${ns}><id>o-1</id><method>card</method><amount>1${' '.repeat(1_000_000)}1</amount></PayOrder>`),
  ),
  xml(
    'X4 a signature of 1,000 references',
    500,
    message(
      `<GetOrder ${ns}><id>o-1</id></GetOrder>`,
      `<e:Header><s:Security ${wsse} e:mustUnderstand="true">${signature}</s:Security></e:Header>`,
    ),
  ),
]

export async function attacksBench(): Promise<Row[]> {
  stayOff()
  const target = await start('diglot', 'diglot.ts', [':memory:'])
  try {
    const rows: Row[] = []
    for (const attack of attacks) rows.push(await cost(target, attack))
    const worst = rows.reduce((a, b) => (b.ratio < a.ratio ? b : a))
    const what = `${rows.length} attacks, one hostile message each, the worst of them`
    return [{ ...worst, what, goal: '≥ 1', note: `${worst.what}: ${worst.note}` }, ...rows]
  } finally {
    stop(target)
  }
}

/** The worse of both decides. Time is that of a server that runs as it will run; memory the most of all rounds. */
async function cost(target: Target, attack: Attack): Promise<Row> {
  const idle = resident(target)
  forgetPeak(target)
  await send(target.port, attack)
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const used = await cpu(target)
    await send(target.port, attack)
    times.push(((await cpu(target)) - used) / 1000)
  }
  const [time, memory] = [median(times), Math.max(0, peak(target) - idle)]
  return {
    what: `attack: ${attack.what}`,
    against: `${most.milliseconds} ms of CPU, ${most.megabytes} MB`,
    ratio: Math.min(most.milliseconds / time, most.megabytes / Math.max(memory, 1)),
    note: `${time.toFixed(1)} ms, + ${memory.toFixed(0)} MB, ${attack.status}`,
  }
}

/** One request on a connection of its own; rejects when the answer has another status. */
function send(port: number, attack: Attack): Promise<void> {
  const { what, status, method = 'GET', path, fields = {}, content = '', chunks } = attack
  const octets = Buffer.from(content)
  const length = octets.length > 0 ? [`Content-Length: ${octets.length}`] : []
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    ...(chunks === undefined ? length : ['Transfer-Encoding: chunked']),
  ]
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      socket.write(chunks === undefined ? octets : chunked(octets, chunks))
    })
    socket.setEncoding('latin1').on('data', piece => (text += piece))
    // A server that has answered may end the connection before it has read all: its answer counts.
    socket
      .on('error', error => (text === '' ? reject(error) : undefined))
      .on('close', () => {
        if (text.startsWith(`HTTP/1.1 ${status} `)) resolve()
        else reject(new Error(`${what}: ${text.slice(0, 400)}`))
      })
    socket.on('end', () => socket.destroy())
  })
}

function chunked(octets: Buffer, size: number): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < octets.length; at += size) {
    const piece = octets.subarray(at, at + size)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
