import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { Chunked } from '../../src/server/http1/chunked.ts'
import { ReceiveBuffer } from '../../src/server/http1/receive-buffer.ts'
import { type Head, readRequestHead } from '../../src/server/http1/request-head.ts'

const largest = 32 * 1024
const read = (text: string): Head | number => readRequestHead(text, undefined, largest)
const get = (...lines: string[]): Head | number => read(['GET / HTTP/1.1', ...lines, ''].join('\r\n'))
const lines = (...each: string[]) => {
  const head = get(...each)
  return typeof head === 'number' ? head : head.lines
}

suite('RFC 9112 §3 the request line', () => {
  const table: readonly (readonly [line: string, expected: number | Partial<Head>])[] = [
    ['GET / HTTP/1.1', { method: 'GET', target: '/', version: '1.1' }],
    ['QUERY /a?b=c HTTP/1.0', { method: 'QUERY', target: '/a?b=c', version: '1.0' }],
    ['OPTIONS * HTTP/1.1', { target: '*' }],
    ['CONNECT a:1 HTTP/1.1', { method: 'CONNECT', target: 'a:1' }],
    ['GET', 400],
    ['GET /', 400],
    ['GET  / HTTP/1.1', 400],
    ['GET /  HTTP/1.1', 400],
    ['GET /a b HTTP/1.1', 400],
    ['GET /\t HTTP/1.1', 400],
    ['GET /é HTTP/1.1', 400],
    ['GET / HTTP/1.1 ', 400],
    ['GET / http/1.1', 400],
    ['GET / HTTP/11', 400],
    ['GET / HTTP/1.10', 400],
    ['GET / HTTP/1.2', { version: '1.1' }],
    ['GET / HTTP/0.9', 505],
    ['GET / HTTP/3.0', 505],
    ['PROPFIND / HTTP/1.1', { method: 'PROPFIND' }],
    ['Get / HTTP/1.1', { method: 'Get' }],
    ['G@T / HTTP/1.1', 400],
    [' GET / HTTP/1.1', 400],
  ]
  for (const [line, expected] of table)
    test(JSON.stringify(line), () => {
      const head = read(`${line}\r\n`)
      if (typeof expected === 'number') assert.equal(head, expected)
      else assert.partialDeepStrictEqual(head, expected)
    })
})

suite('RFC 9112 §5 field lines', () => {
  const table: readonly (readonly [line: string, expected: number | Record<string, string>])[] = [
    ['A: b', { a: 'b' }],
    ['A:b', { a: 'b' }],
    ['A: \t b \t', { a: 'b' }],
    ['A:', { a: '' }],
    ['A: b: c', { a: 'b: c' }],
    ['A: \xe9', { a: 'é' }],
    ["!#$%&'*+-.^_`|~: x", { "!#$%&'*+-.^_`|~": 'x' }],
    ['A : b', 400],
    [' A: b', 400],
    ['\tA: b', 400],
    ['A', 400],
    [': b', 400],
    ['A b: c', 400],
    ['é: c', 400],
    ['A: b\0', 400],
    ['A: b\x7f', 400],
    ['A: b\rc', 400],
    ['A: b\nC: d', 400],
    ['A: b\r\r', 400],
  ]
  for (const [line, expected] of table)
    test(JSON.stringify(line), () => {
      const found = lines(line)
      if (typeof expected === 'number' || typeof found === 'number') assert.equal(found, expected)
      else assert.deepEqual({ ...found.fields }, expected)
    })

  test('the same lines again are the same lines, others are not', () => {
    const first = get('A: b')
    assert.ok(typeof first !== 'number')
    const again = readRequestHead('POST /x HTTP/1.1\r\nA: b\r\n', first.lines, largest)
    assert.equal(typeof again !== 'number' && again.lines, first.lines)
    const other = readRequestHead('POST /x HTTP/1.1\r\nA: c\r\n', first.lines, largest)
    assert.deepEqual(typeof other !== 'number' && other.lines.fields['a'], 'c')
  })
})

suite('RFC 9112 §6.3 where the content ends', () => {
  const table: readonly (readonly [
    lines: readonly string[],
    expected: number | undefined | 'refused 400' | 'refused 501',
  ])[] = [
    [[], 0],
    [['Content-Length: 0'], 0],
    [['Content-Length: 007'], 7],
    [['Transfer-Encoding: chunked'], undefined],
    [['Transfer-Encoding: CHUNKED'], undefined],
    [['Content-Length: 1', 'Content-Length: 1'], 'refused 400'],
    [['Content-Length:'], 'refused 400'],
    [['Content-Length: 1 2'], 'refused 400'],
    [['Content-Length: 0x1'], 'refused 400'],
    [['Content-Length: 1.0'], 'refused 400'],
    [['Content-Length: 1', 'Transfer-Encoding: chunked'], 'refused 400'],
    [['Content-Length: 1', 'Transfer-Encoding: identity'], 'refused 400'],
    [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], 'refused 400'],
    [['Transfer-Encoding: chunked, identity'], 'refused 400'],
    [['Transfer-Encoding: gzip, chunked'], 'refused 501'],
    [['Transfer-Encoding: gzip'], 'refused 400'],
    [['Transfer-Encoding: identity'], 'refused 400'],
    [['Transfer-Encoding: "chunked"'], 'refused 400'],
    [['Transfer-Encoding:'], 'refused 400'],
    [['Transfer-Encoding: \x0bchunked'], 'refused 400'],
    [['Transfer-Encoding: \xa0chunked'], 'refused 400'],
    [['Transfer-Encoding: chunked\xa0'], 'refused 400'],
  ]
  for (const [each, expected] of table)
    test(each.join('; ') || 'no field', () => {
      const found = lines(...each)
      assert.equal(typeof found === 'number' ? `refused ${found}` : found.length, expected)
    })
  test('a coding in HTTP/1.0', () => assert.equal(read('GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n'), 400))
  test('RFC 6585 §5: more than may be', () => assert.equal(get(`A: ${'b'.repeat(largest)}`), 431))
})

/** The content, how many octets it took, and whether that was all; undefined when it was refused. */
function decoded(pieces: readonly string[]): { content: string; rest: string } | undefined {
  const chunked = new Chunked()
  let content = ''
  let rest = ''
  for (const piece of pieces) {
    const octets = Buffer.from(piece, 'latin1')
    if (chunked.done) {
      rest += piece
      continue
    }
    const read = chunked.read(octets, part => (content += part.toString('latin1')))
    if (read === undefined) return undefined
    rest += piece.slice(read)
  }
  return chunked.done ? { content, rest } : undefined
}

suite('RFC 9112 §7.1 chunked', () => {
  const table: readonly (readonly [text: string, content: string | undefined, rest?: string])[] = [
    ['0\r\n\r\n', ''],
    ['3\r\nabc\r\n0\r\n\r\n', 'abc'],
    ['00A\r\n0123456789\r\n0\r\n\r\n', '0123456789'],
    ['a\r\n0123456789\r\n000\r\n\r\nGET', '0123456789', 'GET'],
    ['1;a=b;c="d"\r\nx\r\n0;e\r\n\r\n', 'x'],
    ['1 ; a\r\nx\r\n0\r\n\r\n', 'x'],
    ['1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n', 'x'],
    ['1 a\r\nx\r\n0\r\n\r\n', undefined],
    ['1 \r\nx\r\n0\r\n\r\n', undefined],
    ['-1\r\nx\r\n0\r\n\r\n', undefined],
    ['+1\r\nx\r\n0\r\n\r\n', undefined],
    ['0x1\r\nx\r\n0\r\n\r\n', undefined],
    ['1_0\r\nx\r\n0\r\n\r\n', undefined],
    ['\r\nx', undefined],
    [';\r\nx', undefined],
    ['1\nx\n0\n\n', undefined],
    ['1\r\nx\n0\r\n\r\n', undefined],
    ['1\rx', undefined],
    ['1;\n\r\nx\r\n0\r\n\r\n', undefined],
    ['1;\0\r\nx\r\n0\r\n\r\n', undefined],
    ['2\r\nx\r\n0\r\n\r\n', undefined],
    ['1\r\nxy\r\n0\r\n\r\n', undefined],
    ['0\r\nA\r\n\r\n', undefined],
    ['0\r\nA : b\r\n\r\n', undefined],
    ['0\r\n A: b\r\n\r\n', undefined],
    ['0\r\nA: b\n\r\n', undefined],
    ['0\r\nA: b\rC: d\r\n\r\n', undefined],
    [`${'f'.repeat(14)}\r\n`, undefined],
    [`1;${'a'.repeat(20_000)}\r\nx\r\n0\r\n\r\n`, undefined],
    [`0\r\n${'A: b\r\n'.repeat(5000)}\r\n`, undefined],
  ]
  for (const [text, content, rest = ''] of table)
    test(JSON.stringify(text.slice(0, 60)), () => {
      const expected = content === undefined ? undefined : { content, rest }
      assert.deepEqual(decoded([text]), expected)
      assert.deepEqual(decoded([...text]), expected, 'octet by octet')
    })

  test('whatever is sent in whatever chunks arrives, cut anywhere', () =>
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), fc.string(), fc.array(fc.nat(200)), (chunks, next, cuts) => {
        const latin = chunks.map(chunk => Buffer.from(chunk).toString('latin1'))
        const after = Buffer.from(next).toString('latin1')
        const text = `${latin.map(each => `${each.length.toString(16)}\r\n${each}\r\n`).join('')}0\r\n\r\n${after}`
        const at = [0, ...cuts.map(cut => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
        const pieces = at.slice(1).map((to, i) => text.slice(at[i], to))
        assert.deepEqual(decoded(pieces), { content: latin.join(''), rest: after })
      }),
    ))
})

test('held octets come out as they went in', () =>
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.uint8Array(), fc.nat(40))), steps => {
      const held = new ReceiveBuffer()
      const expected: number[] = []
      for (const step of steps) {
        if (typeof step === 'number') {
          const count = Math.min(step, expected.length)
          assert.deepEqual([...held.take(count)], expected.splice(0, count))
        } else {
          held.add(Buffer.from(step))
          expected.push(...step)
        }
        assert.deepEqual([...held.octets], expected)
      }
    }),
  ))
