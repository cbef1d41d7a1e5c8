/**
 * D1: attacks over HTTP in a harmless form: each is small, sends GET for the entry, and ends at the
 * same octet however its length is read, so nothing is left over on a connection that a gateway
 * shares.
 */
import type { EvidencedConversation } from '../bench.ts'
import { readSomeItem } from '../materials.ts'
import { type OctetPiece, requireUnreachable, Unreachable } from '../probe-message.ts'
import type { CheckRule } from '../rule.ts'
import type { Trial } from '../trial.ts'

const limits = { limitMs: 3000, quietMs: 500 }
const toOctets = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const addressedHost = ({ bench }: Trial): string => new URL(bench.transport.origin).host

/** GET of the entry with these lines after Host, followed by content. */
const sendHead = (trial: Trial, lines: readonly string[], content = ''): Promise<EvidencedConversation> =>
  sendLines(trial, [`Host: ${addressedHost(trial)}`, ...lines], content)

function sendLines(trial: Trial, lines: readonly string[], content = ''): Promise<EvidencedConversation> {
  const head = [`GET ${trial.bench.service.basePath} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  return trial.bench.converse([{ octets: toOctets(head + content) }], limits)
}

/** The status refuses, or the connection ends without a response. */
function expectRefusal(trial: Trial, subject: string, { exchange, isClosed, replies }: EvidencedConversation): void {
  const status = exchange?.status
  const isRefused = status === undefined || (status >= 400 && status < 500) || status === 501 || status === 505
  trial.expect(isRefused, `${subject} is refused${isRefused ? '' : `, not answered ${status}`}`, exchange)
  if (replies > 1) trial.expect(false, `${subject} has one answer, not ${replies}`, exchange)
  if (status === undefined && !isClosed) trial.expect(true, `${subject} is not answered`, exchange)
}

/** Refused, or answered once with nothing further read from that connection. */
function expectEnd(trial: Trial, subject: string, { exchange, isClosed, replies }: EvidencedConversation): void {
  const closes = isClosed || /\bclose\b/i.test(exchange?.fields['connection'] ?? '')
  const isSafe = replies < 2 && (exchange === undefined || exchange.status >= 400 || closes)
  trial.expect(isSafe, `${subject} is refused, or the connection ends after one answer`, exchange)
}

const noContent = '0\r\n\r\n'
const marker = 'x-probe-split'
const script = '<script>alert(7)</script>'
const elsewhere = 'attacker.example'
/** RFC 9112 §6.3: both readings take two octets or none; a leftover line is skipped. */
const contradictions: readonly (readonly string[])[] = [
  ['Content-Length: 2', 'Content-Length: 0'],
  ['Content-Length: 0, 2'],
  ['Content-Length: +2'],
]
const disguises: readonly string[] = [
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: \x0bchunked',
]
const oddSizes: readonly string[] = ['10000000000000000', '-1', '0x0']
const oddTargets: readonly string[] = ['//', 'http://[', '*', '/%', '/%00', '/%ff%fe', `http://${elsewhere}/`]
const climbs: readonly string[] = [
  '/../../../../../../etc/passwd',
  '/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
  '/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
  '/..%5c..%5c..%5c..%5cwindows%5cwin.ini',
]
const foundFile = /root:[^:\n]*:0:0:|\[fonts\]/
const headOctets = 128 * 1024

export const httpAttacks: readonly CheckRule[] = [
  {
    id: 'D1.1',
    says: 'a request without Host, with two, or with one that names no host is refused (RFC 9112 §3.2)',
    how: 'GET of the entry with each of them, as octets',
    probe: async (trial: Trial) => {
      expectRefusal(trial, 'a request with two Host fields', await sendHead(trial, [`Host: ${elsewhere}`]))
      expectRefusal(trial, 'a request without Host', await sendLines(trial, ['Accept: */*']))
      expectRefusal(trial, 'a Host with a space', await sendLines(trial, ['Host: a b']))
    },
  },
  {
    id: 'D1.2',
    says: 'a request with both Content-Length and Transfer-Encoding is refused, or the connection ends (RFC 9112 §6.1)',
    how: 'GET of the entry with both, in both orders, which agree on where the content ends',
    probe: async (trial: Trial) => {
      const both = ['Content-Length: 5', 'Transfer-Encoding: chunked']
      for (const lines of [both, both.toReversed()]) {
        expectEnd(trial, 'a request with both lengths', await sendHead(trial, lines, noContent))
      }
    },
  },
  {
    id: 'D1.3',
    says: 'lengths that contradict each other, or are not numbers, are refused (RFC 9112 §6.3)',
    how: 'GET of the entry with two Content-Length fields, a list of two, and a number with a sign',
    probe: async (trial: Trial) => {
      for (const lines of contradictions) expectRefusal(trial, lines.join(', '), await sendHead(trial, lines, '\r\n'))
    },
  },
  {
    id: 'D1.4',
    says: 'a Transfer-Encoding that is disguised or unknown is refused (RFC 9112 §5.1, §6.1)',
    how: 'GET of the entry with a space before the colon, an unknown coding, chunked that is not last, and a control character',
    probe: async (trial: Trial) => {
      for (const line of disguises)
        expectRefusal(trial, JSON.stringify(line), await sendHead(trial, [line, 'Content-Length: 5'], noContent))
    },
  },
  {
    id: 'D1.5',
    says: 'a chunk with a size that overflows, or is not a hexadecimal number, is refused, or the connection ends (RFC 9112 §7.1)',
    how: 'GET of the entry with a chunk of 2⁶⁴ octets that are not sent, of a negative size, and of 0x0',
    probe: async (trial: Trial) => {
      for (const size of oddSizes) {
        const received = await sendHead(trial, ['Transfer-Encoding: chunked'], `${size}\r\n\r\n`)
        expectEnd(trial, `a chunk of the size ${size}`, received)
      }
    },
  },
  {
    id: 'D1.6',
    says: 'an oversized head is refused',
    how: 'GET of the entry with a field of 128 KiB, and of a target of 128 KiB',
    probe: async (trial: Trial) => {
      const filler = 'a'.repeat(headOctets)
      expectRefusal(trial, 'a field of 128 KiB', await sendHead(trial, [`X-Probe: ${filler}`]))
      const octets = toOctets(`GET /${filler} HTTP/1.1\r\nHost: ${addressedHost(trial)}\r\n\r\n`)
      expectRefusal(trial, 'a target of 128 KiB', await trial.bench.converse([{ octets }], limits))
    },
  },
  {
    id: 'D1.7',
    says: 'a head that arrives slowly delays no other client, and gets no response before its end',
    how: 'one connection that sends a field line each 300 ms for three seconds, and meanwhile GET of the entry',
    probe: async (trial: Trial) => {
      const lines = Array.from({ length: 9 }, (_, at): OctetPiece => {
        return { octets: toOctets(`X-Probe-${at}: a\r\n`), afterMs: 300 }
      })
      const { basePath } = trial.bench.service
      const start = toOctets(`GET ${basePath} HTTP/1.1\r\nHost: ${addressedHost(trial)}\r\n`)
      const slow = trial.bench.converse([{ octets: start }, ...lines], limits)
      const beside = await trial.send('GET', basePath, { ownConnection: true })
      const isPrompt = beside.reply.tookMs < limits.limitMs - 500
      const { exchange } = await slow
      trial.expect(isPrompt, 'another request is answered meanwhile', beside)
      const isUnanswered = exchange === undefined || exchange.status >= 400
      trial.expect(isUnanswered, 'a head that has not ended is not answered as a request', exchange)
    },
  },
  {
    id: 'D1.8',
    says: 'an odd target breaks nothing',
    how: 'GET of two slashes, an unterminated host, *, /%, /%00, octets that are not UTF-8 and another host: each is answered below 500',
    probe: async (trial: Trial) => {
      for (const target of oddTargets) {
        const octets = toOctets(`GET ${target} HTTP/1.1\r\nHost: ${addressedHost(trial)}\r\n\r\n`)
        const { exchange } = await trial.bench.converse([{ octets }], limits)
        const isCalm = (exchange?.status ?? 400) < 500
        trial.expect(isCalm, `${target} is not a failure of the service`, exchange)
      }
    },
  },
  {
    id: 'D1.9',
    says: 'a line break in a target writes no field of the response',
    how: 'GET of the entry and of an unknown path with an encoded CR LF and a field after it',
    probe: async (trial: Trial) => {
      const { basePath } = trial.bench.service
      const split = `%0d%0a${marker}:%201`
      for (const target of [`${basePath}?q=${split}`, `/no-such-7f3a${split}`, `/${split}/`]) {
        const read = await trial.send('GET', target)
        trial.expect(read.fields[marker] === undefined, 'a line break stays in its value', read)
      }
    },
  },
  {
    id: 'D1.10',
    says: 'markup in a request is never markup in a page of the response',
    how: 'GET of a path and a query with a script, asking for HTML',
    probe: async (trial: Trial) => {
      const encoded = encodeURIComponent(script)
      for (const target of [`/no-such-7f3a${encoded}`, `${trial.bench.service.basePath}?q=${encoded}`]) {
        const read = await trial.send('GET', target, { fields: { accept: 'text/html' } })
        const isRun = /html|xml|svg/.test(read.mediaType) && read.text.includes(script)
        trial.expect(!isRun, 'a script is not shown as markup', read)
      }
    },
  },
  {
    id: 'D1.11',
    says: 'no path climbs out of the service to files of its machine',
    how: 'GET of /etc/passwd and of win.ini by dots, plain and encoded: no response has their content',
    probe: async (trial: Trial) => {
      for (const target of climbs) {
        const read = await trial.send('GET', target)
        trial.expect(!foundFile.test(read.text), `${target} gives no file`, read)
      }
    },
  },
  {
    id: 'D1.12',
    says: 'a page of any origin may not read with the credentials of its visitor',
    how: 'GET and preflight with a foreign Origin, and with null: Access-Control-Allow-Origin does not name it where credentials are allowed',
    probe: async (trial: Trial) => {
      const { basePath } = trial.bench.service
      for (const origin of [`https://${elsewhere}`, 'null'])
        for (const [method, fields] of [
          ['GET', { origin }],
          ['OPTIONS', { origin, 'access-control-request-method': 'DELETE' }],
        ] as const) {
          const read = await trial.send(method, basePath, { fields })
          const isOpen =
            read.fields['access-control-allow-origin'] === origin &&
            read.fields['access-control-allow-credentials'] === 'true'
          trial.expect(!isOpen, `${method} with the origin ${origin} is not open to it with credentials`, read)
        }
    },
  },
  {
    id: 'D1.13',
    says: 'no response sends its reader to the host of an attacker',
    how: 'GET of paths that begin with two slashes or a backslash and another host, and a query that names it: no Location leads there',
    probe: async (trial: Trial) => {
      const { basePath } = trial.bench.service
      const targets = [`//${elsewhere}/%2e%2e`, `/%5c${elsewhere}`, `${basePath}?next=https://${elsewhere}/`]
      for (const target of targets) {
        const read = await trial.send('GET', target)
        const to = URL.parse(read.fields['location'] ?? '', trial.bench.transport.origin)
        trial.expect(to?.hostname !== elsewhere, `${target} leads nowhere else`, read)
      }
    },
  },
  {
    id: 'D1.14',
    says: 'many ranges of one representation do not multiply it (RFC 9110 §14.2)',
    how: 'GET of an item with a hundred ranges that overlap: the response is at most four times the whole, and 16 KiB',
    probe: async (trial: Trial) => {
      const { path, as, read } = await readSomeItem(trial.bench)
      const range = `bytes=${Array.from({ length: 100 }, () => '0-').join(',')}`
      const ranged = await trial.send('GET', path, { as, fields: { range } })
      const octetsMax = 4 * read.reply.content.length + 16 * 1024
      trial.expect(ranged.reply.content.length <= octetsMax, 'a hundred ranges are not a hundred copies', ranged)
      trial.expect(ranged.status < 500, 'a hundred ranges break nothing', ranged)
    },
  },
  {
    id: 'D1.15',
    says: 'the service works as before',
    how: 'GET of the entry after all other attacks has the status and the media type of the first one',
    isPassive: true,
    probe: async (trial: Trial) => {
      const { entry } = trial.bench.service
      const { fields } = entry.request
      const now = await trial.send('GET', entry.request.target, { fields }).catch(requireUnreachable)
      if (now instanceof Unreachable) return trial.expect(false, `the entry is answered: ${now.message}`, entry)
      const isSame = now.status === entry.status && now.mediaType === entry.mediaType
      trial.expect(isSame, 'the entry is what it was', entry, now)
    },
  },
]
