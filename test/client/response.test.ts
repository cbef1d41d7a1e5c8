/**
 * Responses from octets, by clause of RFC 9112. Each row is read whole, octet by octet, and cut in
 * two anywhere.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Responses, Unreadable } from '../../src/client/response-reader.ts'
import type { TransportResponse } from '../../src/client/transport.ts'
import { assertLinear } from '../support/cost.ts'

const limits = { head: 200, content: 64, chunks: 100 }

interface Read {
  readonly status: number
  readonly content: string
  readonly fields: Readonly<Record<string, string>>
  readonly keeps: boolean
}
type Outcome = Read | 'not all of it' | string

/** @param passed where content goes that is not held */
function read(pieces: readonly string[], closed: boolean, passed?: Buffer[]): Outcome {
  const responses = new Responses(limits)
  if (passed) responses.sinkOf = () => octets => void passed.push(octets)
  try {
    for (const [at, piece] of pieces.entries()) {
      const found = responses.take(Buffer.from(piece, 'latin1'))
      // What follows a response in pieces of its own is for the connection to see.
      if (found) return shown(found, responses.mayKeep && pieces.slice(at + 1).every(each => each === ''))
    }
    const last = closed ? responses.close() : undefined
    return last ? shown(last, responses.mayKeep) : 'not all of it'
  } catch (thrown) {
    assert.ok(thrown instanceof Unreadable, String(thrown))
    return `${thrown.isTooLong ? 'too long: ' : ''}${thrown.detail}`
  }
}
const shown = ({ status, content, fields }: TransportResponse, keeps: boolean): Read => ({
  status,
  content: Buffer.from(content).toString('latin1'),
  fields: { ...fields },
  keeps,
})

function* cuts(text: string): Generator<readonly string[]> {
  yield [text]
  yield [...text]
  for (let at = 1; at < text.length; at++) yield [text.slice(0, at), text.slice(at)]
}

const ok = 'HTTP/1.1 200 OK\r\n'
const a = { a: 'b' }
/** [title, octets, what is read: [status, content, keeps], fields] */
const taken: readonly (readonly [
  string,
  string,
  readonly [number, string, boolean],
  Readonly<Record<string, string>>?,
])[] = [
  ['§6.3 6 a length', `${ok}Content-Length: 3\r\nA: b\r\n\r\nabc`, [200, 'abc', true], { 'content-length': '3', ...a }],
  ['§6.3 6 a length of nothing', `${ok}content-length: 0\r\n\r\n`, [200, '', true]],
  ['RFC 9110 §8.6 the same length twice', `${ok}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`, [200, 'abc', true]],
  ['RFC 9110 §8.6 the same length in a list', `${ok}Content-Length: 3, 3\r\n\r\nabc`, [200, 'abc', true]],
  [
    '§7.1 chunks',
    `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0a\r\n0123456789\r\n0\r\n\r\n`,
    [200, 'abc0123456789', true],
  ],
  ['§7.1 the coding in capitals', `${ok}Transfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n0\r\n\r\n`, [200, 'a', true]],
  [
    '§7.1.1 extensions of chunks mean nothing',
    `${ok}Transfer-Encoding: chunked\r\n\r\n1;x="y"\r\na\r\n00 ;z\r\n\r\n`,
    [200, 'a', true],
  ],
  [
    '§7.1.2 trailers are read and left',
    `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\nZ: 1\r\n\r\n`,
    [200, 'a', true],
  ],
  ['§7.1 chunks of nothing', `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, [200, '', true]],
  ['§6.3 8 up to the end of the connection', `${ok}A: b\r\n\r\nabc`, [200, 'abc', false], a],
  ['§6.3 8 nothing up to the end', `${ok}\r\n`, [200, '', false]],
  ['§6.3 1 204 has no content', 'HTTP/1.1 204 No Content\r\n\r\n', [204, '', true]],
  ['§6.3 1 304 has none, whatever it says', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', [304, '', true]],
  [
    '§6.3 1 204 has no content, and a connection whose server says that it comes in chunks carries no more',
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
    [204, '', false],
  ],
  [
    '§6.3 1 nor one whose 204 says that it has content',
    'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n',
    [204, '', false],
  ],
  [
    '§6.3 1 304 has none, whatever the coding',
    'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    [304, '', false],
  ],
  ['§4 an empty reason', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', [200, '', true]],
  ['§4 no reason and no space', 'HTTP/1.1 202\r\nContent-Length: 0\r\n\r\n', [202, '', true]],
  ['§9.3 1.0 does not persist', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', [200, 'a', false]],
  ['§9.6 Connection: close', `${ok}Connection: x, Close\r\nContent-Length: 1\r\n\r\na`, [200, 'a', false]],
  [
    '§5.1 white space around values',
    `${ok}A: \t b \t\r\nContent-Length:1\r\n\r\na`,
    [200, 'a', true],
    { a: 'b', 'content-length': '1' },
  ],
  [
    'RFC 9110 §5.3 lines of one name are a list',
    `${ok}A: b\r\na: c\r\nContent-Length: 0\r\n\r\n`,
    [200, '', true],
    { a: 'b, c', 'content-length': '0' },
  ],
  [
    'RFC 9110 §5.5 obs-text',
    `${ok}A: \xe9\r\nContent-Length: 0\r\n\r\n`,
    [200, '', true],
    { a: '\xe9', 'content-length': '0' },
  ],
  [
    'RFC 9110 §15.2 interim responses',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
    [200, 'a', true],
    { 'content-length': '1' },
  ],
  ['(2) what follows a response is not of it', `${ok}Content-Length: 1\r\n\r\nabHTTP/1.1`, [200, 'a', false]],
  ['(2) what follows the last chunk', `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nx`, [200, '', false]],
]

/** [title, octets, why] */
const refused: readonly (readonly [string, string, RegExp])[] = [
  ['§4 no status line', '220 mail.example ESMTP\r\n\r\n', /not a response/],
  ['§4 HTTP/2', 'HTTP/2 200 OK\r\n\r\n', /not a response/],
  ['§4 HTTP/0.9', '<html></html>\r\n\r\n', /not a response/],
  ['§4 a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', /not a response/],
  ['§4 a status of no class', 'HTTP/1.1 600 OK\r\n\r\n', /not a response/],
  ['§2.2 a bare line feed', 'HTTP/1.1 200 OK\nA: b\r\n\r\n', /not a response/],
  ['§2.2 a bare line feed between fields', `${ok}A: b\nC: d\r\n\r\n`, /malformed/],
  ['§2.2 a bare carriage return', `${ok}A: b\rC: d\r\n\r\n`, /malformed/],
  ['§5.1 white space before a colon', `${ok}Content-Length : 1\r\n\r\na`, /malformed/],
  ['§5.2 a folded line', `${ok}A: b\r\n c\r\n\r\n`, /malformed/],
  [
    'RFC 9110 §5.6.3 white space that HTTP does not have is part of a value',
    `${ok}Transfer-Encoding: chunked\xa0\r\n\r\n0\r\n\r\n`,
    /not supported/,
  ],
  ['§5 no name', `${ok}: b\r\n\r\n`, /malformed/],
  ['RFC 9110 §5.5 a zero octet', `${ok}A: \0\r\n\r\n`, /malformed/],
  ['§6.3 5 two lengths', `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, /Content-Length is invalid/],
  ['§6.3 5 a length that is not a number', `${ok}Content-Length: 1a\r\n\r\na`, /Content-Length is invalid/],
  ['§6.3 5 a length with a sign', `${ok}Content-Length: +1\r\n\r\na`, /Content-Length is invalid/],
  ['§6.3 5 an empty length', `${ok}Content-Length:\r\n\r\n`, /Content-Length is invalid/],
  [
    '§6.3 3 a length, and chunks',
    `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    /a Content-Length and a Transfer-Encoding/,
  ],
  ['§6.1 chunks in 1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', /not supported/],
  ['§6.1 another coding', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, /not supported/],
  ['§6.1 chunked twice', `${ok}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, /not supported/],
  ['§7.1 an invalid size', `${ok}Transfer-Encoding: chunked\r\n\r\nx\r\n`, /line of a chunk/],
  ['§7.1 no size', `${ok}Transfer-Encoding: chunked\r\n\r\n\r\n`, /line of a chunk/],
  ['§7.1 a size with a sign', `${ok}Transfer-Encoding: chunked\r\n\r\n-1\r\n`, /line of a chunk/],
  ['§7.1 a size of nine digits', `${ok}Transfer-Encoding: chunked\r\n\r\n000000001\r\n`, /line of a chunk/],
  [
    '§7.1 a chunk that is longer than it says',
    `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`,
    /longer than its size/,
  ],
  [
    '§7.1 a bare line feed behind a size',
    `${ok}Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n`,
    /does not end with CRLF/,
  ],
  ['§7.1.2 a malformed trailer', `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nx y\r\n\r\n`, /malformed/],
  ['RFC 9110 §15.2.2 101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', /another protocol/],
  ['(3) interim responses without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17), /more than 16 interim/],
  ['(3) fields without end', `${ok}A: ${'b'.repeat(300)}`, /longer than 200/],
  ['(3) too long fields', `${ok}A: ${'b'.repeat(300)}\r\n\r\n`, /longer than 200/],
  ['(3) the line of a chunk without end', `${ok}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(300)}`, /too long/],
  ['(3) trailers without end', `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(50)}`, /too long/],
  ['(3) a length over the limit', `${ok}Content-Length: 65\r\n\r\n`, /^too long: /],
  ['(3) chunks over the limit', `${ok}Transfer-Encoding: chunked\r\n\r\n41\r\n${'x'.repeat(65)}`, /^too long: /],
  ['(3) content over the limit, up to the end', `${ok}\r\n${'x'.repeat(65)}`, /^too long: /],
  ['§8 cut short in its fields', `${ok}A: b`, /cut short/],
  ['§8 cut short in its content', `${ok}Content-Length: 3\r\n\r\nab`, /cut short/],
  ['§8 cut short before its content', `${ok}Content-Length: 3\r\n\r\n`, /cut short/],
  ['§8 cut short in a chunk', `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nab`, /cut short/],
  ['§8 cut short before the last chunk', `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`, /cut short/],
  ['§8 cut short before the end of the trailers', `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n`, /cut short/],
]

describe('a response', () => {
  for (const [title, text, [status, content, keeps], fields] of taken)
    test(title, () => {
      for (const pieces of cuts(text)) {
        const found = read(pieces, true)
        assert.ok(typeof found === 'object', `${found} ${JSON.stringify(pieces)}`)
        assert.deepEqual([found.status, found.content, found.keeps], [status, content, keeps], JSON.stringify(pieces))
        if (fields) assert.deepEqual(found.fields, fields)
        const passed: Buffer[] = []
        const same = read(pieces, true, passed)
        const octets = Buffer.concat(passed).toString('latin1')
        assert.deepEqual(same, { ...found, content: '' }, JSON.stringify(pieces))
        assert.equal(octets, content, JSON.stringify(pieces))
      }
    })
})

describe('not a response', () => {
  for (const [title, text, why] of refused)
    test(title, () => {
      for (const pieces of cuts(text)) assert.match(String(read(pieces, true)), why, JSON.stringify(pieces))
    })
})

test('nothing at all is no response, and no failure', () => {
  assert.equal(new Responses(limits).close(), undefined)
})

test('one response after the other', () => {
  const responses = new Responses(limits)
  for (const text of ['a', 'bc', '']) {
    const found = responses.take(Buffer.from(`${ok}Content-Length: ${text.length}\r\n\r\n${text}`))
    assert.equal(Buffer.from(found?.content ?? 'none').toString(), text)
    assert.deepEqual([responses.mayKeep, responses.hasBegun], [true, false])
  }
})

/** Content in so many chunks, each in a piece of its own. */
function takeChunks(count: number): void {
  const chunk = Buffer.from(`10\r\n${'a'.repeat(16)}\r\n`)
  const responses = new Responses({ head: 1000, content: 64 * 1024 * 1024, chunks: 0 })
  responses.take(Buffer.from(`${ok}Transfer-Encoding: chunked\r\n\r\n`))
  for (let at = 0; at < count; at++) responses.take(chunk)
  assert.equal(responses.take(Buffer.from('0\r\n\r\n'))?.content.length, count * 16)
}

test('(3) twice as many small pieces cost twice as much', () => assertLinear(count => () => takeChunks(count), 100_000))

test('(3) chunks of very few octets are refused: each costs as much as a kilobyte in a large one', () => {
  const responses = new Responses({ head: 1000, content: 64 * 1024 * 1024, chunks: 1000 })
  responses.take(Buffer.from(`${ok}Transfer-Encoding: chunked\r\n\r\n`))
  const chunk = Buffer.from('1\r\na\r\n')
  const count = Math.floor((1000 * 16) / 15)
  for (let at = 0; at < count; at++) responses.take(chunk)
  assert.throws(
    () => {
      for (let at = 0; at < 2; at++) responses.take(chunk)
    },
    (thrown: unknown) => thrown instanceof Unreadable && /too many small chunks/.test(thrown.detail),
  )
})
