import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { Chunked } from '../../src/server/http1/chunked.ts'
import { ReceiveBuffer } from '../../src/server/http1/receive-buffer.ts'
import { type Head, type Lines, readRequestHead } from '../../src/server/http1/request-head.ts'
import { defaultLimits } from '../../src/server/limits.ts'
import { refusals, type ServerRefusal } from '../../src/server/refusals.ts'

const read = (text: string, before?: Lines) => readRequestHead(text, before, defaultLimits)
const get = (...lines: string[]) => read(['GET / HTTP/1.1', ...lines, ''].join('\r\n'))
const accepted = (head: Head | ServerRefusal): Head => ('detail' in head ? assert.fail(head.detail) : head)

type Check = keyof typeof refusals
/** A refusal by its name; what was accepted as it is. */
const nameOf = (head: Head | ServerRefusal): Head | Check | ServerRefusal =>
  (Object.keys(refusals) as Check[]).find(name => refusals[name] === head) ?? head

suite('RFC 9112 §3 the request line', () => {
  const table: readonly (readonly [line: string, expected: Check | Partial<Head>])[] = [
    ['GET / HTTP/1.1', { method: 'GET', target: '/', version: '1.1' }],
    ['QUERY /a?b=c HTTP/1.0', { method: 'QUERY', target: '/a?b=c', version: '1.0' }],
    ['OPTIONS * HTTP/1.1', { target: '*' }],
    ['CONNECT a:1 HTTP/1.1', { method: 'CONNECT', target: 'a:1' }],
    ['GET', 'requestLine'],
    ['GET /', 'requestLine'],
    ['GET HTTP/1.1', 'requestLine'],
    ['GET  / HTTP/1.1', 'target'],
    ['GET /  HTTP/1.1', 'target'],
    ['GET /a b HTTP/1.1', 'target'],
    ['GET /\t HTTP/1.1', 'target'],
    ['GET /é HTTP/1.1', 'target'],
    ['GET / HTTP/1.1 ', 'versionSyntax'],
    ['GET / http/1.1', 'versionSyntax'],
    ['GET / HTTP/11', 'versionSyntax'],
    ['GET / HTTP/1.10', 'versionSyntax'],
    ['GET / HTTP/1.2', { version: '1.1' }],
    ['GET / HTTP/0.9', 'version'],
    ['GET / HTTP/3.0', 'version'],
    ['PROPFIND / HTTP/1.1', { method: 'PROPFIND' }],
    ['Get / HTTP/1.1', { method: 'Get' }],
    ['G@T / HTTP/1.1', 'method'],
    [' GET / HTTP/1.1', 'method'],
  ]
  for (const [line, expected] of table)
    test(JSON.stringify(line), () => {
      const head = nameOf(read(`${line}\r\n`))
      if (typeof expected === 'string') assert.equal(head, expected)
      else assert.partialDeepStrictEqual(head, expected)
    })
})

suite('fields that last from request to request of a connection', () => {
  const lines = (...all: readonly string[]) => ['GET / HTTP/1.1', ...all, ''].join('\r\n')
  const one = ['Host: a', 'Authorization: Bearer x', 'Accept: */*', 'If-None-Match: "1"']
  const table: readonly (readonly [title: string, next: readonly string[], isSame: boolean, isSameCaller: boolean])[] =
    [
      ['the same lines', one, true, true],
      ['another condition', ['Host: a', 'Authorization: Bearer x', 'Accept: */*', 'If-None-Match: "2"'], true, true],
      [
        'no condition, another order, a name',
        ['X-Request-Id: 7', 'Accept: */*', 'Host: a', 'Authorization: Bearer x'],
        true,
        true,
      ],
      ['another host', ['Host: b', 'Authorization: Bearer x', 'Accept: */*'], true, true],
      ['another caller', ['Host: a', 'Authorization: Bearer y', 'Accept: */*'], true, false],
      ['no caller', ['Host: a', 'Accept: */*'], true, false],
      ['a caller twice', ['Host: a', 'Authorization: Bearer x', 'Accept: */*', 'Authorization: Bearer x'], true, false],
      ['a field twice', ['Host: a', 'Authorization: Bearer x', 'Accept: */*', 'Accept: text/plain'], false, true],
      ['content', [...one, 'Content-Type: application/json'], false, true],
    ]
  for (const [title, next, isSame, isSameCaller] of table)
    test(title, () => {
      const first = accepted(read(lines(...one)))
      assert.equal(first.lasting, undefined, 'nothing came before')
      const second = accepted(read(lines(...next), first.lines))
      assert.equal(second.lasting, isSame ? first.lines.lasting : undefined)
      assert.equal(second.credentials, isSameCaller ? first.lines.credentials : undefined)
      const third = accepted(read(lines(...next), second.lines))
      assert.equal(third.lasting, second.lines.lasting)
      assert.equal(third.credentials, second.lines.credentials)
      for (const [name, value] of Object.entries({ ...third.lines.lasting, ...third.lines.credentials }))
        assert.equal(third.lines.fields[name], value, name)
    })

  test('names are those of each request, whatever the previous one had in their place', () => {
    const heads: readonly (readonly string[])[] = [
      ['Host: a', 'Accept: b', 'Accept-Language: c'],
      ['Host: a', 'Accept-Language: c', 'Accept: b'],
      ['HOST: a', 'accept:b', 'Accept-Language:'],
      ['Host: a', 'Accept-Language: c', 'Accept: b', 'X: d'],
      ['X: d'],
      ['Host: a', 'Host: b'],
    ]
    const fieldsOf = (each: readonly string[], before: Lines | undefined) =>
      accepted(read(lines(...each), before)).lines
    let before: Lines | undefined
    for (const each of heads) {
      const found = fieldsOf(each, before)
      assert.deepEqual({ ...found.fields }, { ...fieldsOf(each, undefined).fields })
      before = found
    }
    assert.equal(nameOf(read(lines('Host : a'), before)), 'fieldLine')
    assert.equal(nameOf(read(lines('Host: a', 'Hostile'), before)), 'fieldLine')
  })
})

suite('RFC 9112 §5 field lines', () => {
  const table: readonly (readonly [line: string, expected: Check | Record<string, string>])[] = [
    ['A: b', { a: 'b' }],
    ['A:b', { a: 'b' }],
    ['A: \t b \t', { a: 'b' }],
    ['A:', { a: '' }],
    ['A: b: c', { a: 'b: c' }],
    ['A: \xe9', { a: 'é' }],
    ["!#$%&'*+-.^_`|~: x", { "!#$%&'*+-.^_`|~": 'x' }],
    ['A : b', 'fieldLine'],
    [' A: b', 'fieldLine'],
    ['\tA: b', 'fieldLine'],
    ['A', 'fieldLine'],
    [': b', 'fieldLine'],
    ['A b: c', 'fieldLine'],
    ['é: c', 'fieldLine'],
    ['A: b\0', 'fieldOctets'],
    ['A: b\x7f', 'fieldOctets'],
    ['A: b\rc', 'fieldOctets'],
    ['A: b\nC: d', 'fieldOctets'],
    ['A: b\r\r', 'fieldOctets'],
  ]
  for (const [line, expected] of table)
    test(JSON.stringify(line), () => {
      const head = get(line)
      if (typeof expected === 'string') assert.equal(nameOf(head), expected)
      else assert.deepEqual({ ...accepted(head).lines.fields }, expected)
    })

  test('equal lines give the same object, others do not', () => {
    const { lines } = accepted(get('A: b'))
    assert.equal(accepted(read('POST /x HTTP/1.1\r\nA: b\r\n', lines)).lines, lines)
    assert.equal(accepted(read('POST /x HTTP/1.1\r\nA: c\r\n', lines)).lines.fields['a'], 'c')
  })
})

suite('RFC 9112 §6.3 where the content ends', () => {
  const table: readonly (readonly [lines: readonly string[], expected: number | undefined | Check])[] = [
    [[], 0],
    [['Content-Length: 0'], 0],
    [['Content-Length: 007'], 7],
    [['Transfer-Encoding: chunked'], undefined],
    [['Transfer-Encoding: CHUNKED'], undefined],
    [['Content-Length: 1', 'Content-Length: 1'], 'framing'],
    [['Content-Length:'], 'framing'],
    [['Content-Length: 1 2'], 'framing'],
    [['Content-Length: 0x1'], 'framing'],
    [['Content-Length: 1.0'], 'framing'],
    [['Content-Length: 1', 'Transfer-Encoding: chunked'], 'framing'],
    [['Content-Length: 1', 'Transfer-Encoding: identity'], 'framing'],
    [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], 'framing'],
    [['Transfer-Encoding: chunked, identity'], 'framing'],
    [['Transfer-Encoding: gzip, chunked'], 'coding'],
    [['Transfer-Encoding: gzip'], 'framing'],
    [['Transfer-Encoding: identity'], 'framing'],
    [['Transfer-Encoding: "chunked"'], 'framing'],
    [['Transfer-Encoding:'], 'framing'],
    [['Transfer-Encoding: \x0bchunked'], 'fieldOctets'],
    [['Transfer-Encoding: \xa0chunked'], 'framing'],
    [['Transfer-Encoding: chunked\xa0'], 'framing'],
  ]
  for (const [each, expected] of table)
    test(each.join('; ') || 'no field', () => {
      const head = get(...each)
      assert.equal('detail' in head ? nameOf(head) : head.lines.length, expected)
    })
  test('a coding in HTTP/1.0', () =>
    assert.equal(nameOf(read('GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n')), 'framing10'))
  test('RFC 6585 §5: more than the limit', () =>
    assert.partialDeepStrictEqual(get(`A: ${'b'.repeat(defaultLimits.fields)}`), { status: 431 }))
})

/**
 * The content, how many octets it took, and whether that was all; undefined when it was refused.
 */
function readChunks(pieces: readonly string[]): { content: string; rest: string } | undefined {
  const chunked = new Chunked()
  let content = ''
  let rest = ''
  for (const piece of pieces) {
    const octets = Buffer.from(piece, 'latin1')
    if (chunked.isDone) {
      rest += piece
      continue
    }
    const read = chunked.read(octets, part => (content += part.toString('latin1')))
    if (read === undefined) return undefined
    rest += piece.slice(read)
  }
  return chunked.isDone ? { content, rest } : undefined
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
      assert.deepEqual(readChunks([text]), expected)
      assert.deepEqual(readChunks([...text]), expected, 'octet by octet')
    })

  test('chunks arrive with the sent octets, wherever they are cut', () =>
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), fc.string(), fc.array(fc.nat(200)), (chunks, next, cuts) => {
        const latin = chunks.map(chunk => Buffer.from(chunk).toString('latin1'))
        const after = Buffer.from(next).toString('latin1')
        const text = `${latin.map(each => `${each.length.toString(16)}\r\n${each}\r\n`).join('')}0\r\n\r\n${after}`
        const at = [0, ...cuts.map(cut => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
        const pieces = at.slice(1).map((to, i) => text.slice(at[i], to))
        assert.deepEqual(readChunks(pieces), { content: latin.join(''), rest: after })
      }),
    ))
})

test('held octets come out unchanged', () =>
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.uint8Array(), fc.nat(40))), steps => {
      const held = new ReceiveBuffer()
      const expected: number[] = []
      for (const step of steps) {
        if (typeof step === 'number') {
          const count = Math.min(step, expected.length)
          assert.deepEqual([...held.takeOwned(count)], expected.splice(0, count))
        } else {
          held.add(Buffer.from(step))
          expected.push(...step)
        }
        assert.deepEqual([...held.octets], expected)
      }
    }),
  ))
