/** Messages of HTTP/1.1 and what looks like them: a table by clause, and a generator that is the same for the same seed. */

/** What each row sends, before the second request. */
export const table: readonly (readonly [title: string, octets: string])[] = [
  // RFC 9112 §2.2, §3
  ['a request', 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an empty line before it', '\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['three empty lines before it', '\r\n\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a bare LF before it', '\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['LF alone ends the request line', 'GET /a HTTP/1.1\nHost: a\r\n\r\n'],
  ['LF alone ends a field line', 'GET /a HTTP/1.1\r\nHost: a\nA: b\r\n\r\n'],
  ['LF alone ends the head', 'GET /a HTTP/1.1\r\nHost: a\r\n\n'],
  ['CR alone ends a field line', 'GET /a HTTP/1.1\r\nHost: a\rA: b\r\n\r\n'],
  ['two spaces before the target', 'GET  /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['two spaces before the version', 'GET /a  HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a tab before the version', 'GET /a\tHTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a space behind the version', 'GET /a HTTP/1.1 \r\nHost: a\r\n\r\n'],
  ['a space before the method', ' GET /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no version', 'GET /a\r\nHost: a\r\n\r\n'],
  ['nothing but CRLF', '\r\n\r\n'],
  ...['0.9', '1.0', '1.2', '1.9', '2.0', '3.0', '1.10', '1', '11', '1.1.1'].map(
    version => [`version ${version}`, `GET /a HTTP/${version}\r\nHost: a\r\n\r\n`] as const,
  ),
  ['http in lower case', 'GET /a http/1.1\r\nHost: a\r\n\r\n'],
  // RFC 9110 §9.1
  ...[
    'HEAD',
    'POST',
    'OPTIONS',
    'PATCH',
    'QUERY',
    'get',
    'Get',
    'FOO',
    'PRI',
    'M-SEARCH',
    'X!#$%',
    'G@T',
    'GET:',
    '',
  ].map(method => [`method ${method}`, `${method} /a HTTP/1.1\r\nHost: a\r\n\r\n`] as const),
  // RFC 9112 §3.2
  ...[
    ...['/', '//', '/a?b#c', '*', 'a', 'a:80', 'http://a/b', 'HTTP://a', 'https://a:1/', 'http://', '?a', '#', '/%zz'],
    ...['/a b', '/\x7f', '/\xe9', '/<>', '/"', '/\\', '/^`{|}', '/[', '\\', '/\x00', '/\x0b', '://', '[::1]:80', '@'],
  ].map(target => [`target ${JSON.stringify(target)}`, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`] as const),
  ['CONNECT in authority form', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['CONNECT in origin form', 'CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
  // RFC 9112 §3.2, §5
  ...['', 'Host:\r\n', 'Host: a\r\nHost: a\r\n', 'Host: a\r\nHost: b\r\n', 'Host: a, b\r\n', 'Host: a b\r\n'].map(
    host => [`Host ${JSON.stringify(host)}`, `GET /a HTTP/1.1\r\n${host}\r\n`] as const,
  ),
  ...[
    ...['A:b', 'A: b ', 'A:\t b\t', 'A:', 'A: ', 'A: b: c', 'A', ': b', 'A : b', 'A\t: b', ' A: b', '\tA: b', 'A b: c'],
    ...[
      'A: \xe9',
      'A: \x7f',
      'A: \x01',
      'A: b\0',
      '\xe9: b',
      "!#$%&'*+-.^_`|~: x",
      '"A": b',
      'A(b): c',
      'a: 1\r\nA: 2',
    ],
    ...['A: b\r\n c', 'A: b\r\n\tc', 'A: b\r\n \r\n c', 'A:\r\n b', ' b', 'Cookie: a\r\nCookie: b', '__proto__: a'],
  ].map(line => [`field line ${JSON.stringify(line)}`, `GET /a HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`] as const),
  // RFC 9112 §6
  ...[
    ...['Content-Length: 3', 'Content-Length: 03', 'Content-Length:3', 'content-length: 3 ', 'Content-Length: 0'],
    ...[
      'Content-Length: +3',
      'Content-Length: -3',
      'Content-Length: 0x3',
      'Content-Length: 3.0',
      'Content-Length: 3 3',
    ],
    ...['Content-Length: 3, 3', 'Content-Length: 3\r\nContent-Length: 3', 'Content-Length: 3\r\nContent-Length: 4'],
    ...['Content-Length:', 'Content-Length: a', 'Content-Length: 3;', 'Content-Length: "3"', 'Content-Length: 3\x0b'],
    ...['Content-Length: 99999999999999999999', 'Content-Length: 18446744073709551619', 'Content-Length : 3'],
    ...['Content-Length: 3\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 3'],
    ...['Content-Length: 3\r\nTransfer-Encoding: identity', 'Content-Length: 1 \r\n 3'],
  ].map(line => [`length ${JSON.stringify(line)}`, `POST /a HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\nabc`] as const),
  ...[
    ...['chunked', 'Chunked', 'CHUNKED', ' chunked ', 'identity', 'gzip', 'gzip, chunked', 'chunked, gzip', 'xchunked'],
    ...['chunked, chunked', 'chunked\r\nTransfer-Encoding: chunked', 'chunked\r\nTransfer-Encoding: identity', ''],
    ...[
      'identity, chunked',
      ',chunked',
      'chunked,',
      '"chunked"',
      'chunked;q=1',
      '\x0bchunked',
      'chunked\xa0',
      '\r\n chunked',
    ],
  ].map(
    coding =>
      [
        `coding ${JSON.stringify(coding)}`,
        `POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      ] as const,
  ),
  ...['Content-Length: 13\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 5'].map(
    lines =>
      [`${lines}, sound by each`, `POST /a HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`] as const,
  ),
  ['a coding in HTTP/1.0', 'POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
  ['a length in HTTP/1.0', 'POST /a HTTP/1.0\r\nHost: a\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc'],
  // RFC 9112 §7.1
  ...[
    ...['3\r\nabc\r\n0\r\n\r\n', '0\r\n\r\n', '00\r\n\r\n', '03\r\nabc\r\n0\r\n\r\n', 'A\r\n0123456789\r\n0\r\n\r\n'],
    ...[
      '3;a\r\nabc\r\n0\r\n\r\n',
      '3;a=b\r\nabc\r\n0;c\r\n\r\n',
      '3;a="b;c"\r\nabc\r\n0\r\n\r\n',
      '3 ;a\r\nabc\r\n0\r\n\r\n',
    ],
    ...['3; a = b\r\nabc\r\n0\r\n\r\n', '3;\r\nabc\r\n0\r\n\r\n', '3 \r\nabc\r\n0\r\n\r\n', '3\t\r\nabc\r\n0\r\n\r\n'],
    ...[
      '3;a\nabc\r\n0\r\n\r\n',
      '3;a\rb\r\nabc\r\n0\r\n\r\n',
      '3;\0\r\nabc\r\n0\r\n\r\n',
      '3\nabc\n0\n\n',
      '3;\x7f\r\nabc\r\n0\r\n\r\n',
    ],
    ...[
      '3\r\nabc0\r\n\r\n',
      '3\r\nabcd\r\n0\r\n\r\n',
      '3\r\nab\r\n0\r\n\r\n',
      '3\r\nabc\n0\r\n\r\n',
      '3\r\nabc\r0\r\n\r\n',
    ],
    ...[
      '-3\r\nabc\r\n0\r\n\r\n',
      '+3\r\nabc\r\n0\r\n\r\n',
      '0x3\r\nabc\r\n0\r\n\r\n',
      'g\r\nabc\r\n0\r\n\r\n',
      '\r\nabc\r\n0\r\n\r\n',
    ],
    ...[
      ' 3\r\nabc\r\n0\r\n\r\n',
      '3_0\r\nabc\r\n0\r\n\r\n',
      'fffffffffffffffff\r\nabc\r\n0\r\n\r\n',
      '3;\xe9\r\nabc\r\n0\r\n\r\n',
    ],
    ...[
      '3\r\nabc\r\n0\r\nA: b\r\n\r\n',
      '0\r\nA: b\r\nC: d\r\n\r\n',
      '0\r\nA\r\n\r\n',
      '0\r\nA : b\r\n\r\n',
      '0\r\n A: b\r\n\r\n',
    ],
    ...[
      '0\r\nA: b\n\r\n',
      '0\r\nA: b\rC: d\r\n\r\n',
      '0\r\nContent-Length: 3\r\n\r\n',
      '0\r\nTransfer-Encoding: x\r\n\r\n',
    ],
    ...['0\r\nA: b\r\n c\r\n\r\n', '0\r\nA: \x01\r\n\r\n', '0\r\n\n', '0\n\r\n', '0\r\n\r', '3\r\nabc\r\n'],
  ].map(
    chunks =>
      [
        `chunks ${JSON.stringify(chunks)}`,
        `POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
      ] as const,
  ),
  // RFC 9112 §9.3, §9.6; RFC 9110 §7.8, §10.1.1
  ['close', 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ['close in a list', 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n'],
  ['HTTP/1.0 kept', 'GET /a HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n'],
  ['three pipelined', 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3)],
  ['content of a GET', 'GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
  ['an upgrade', 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
  [
    'an upgrade with content',
    'POST /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc',
  ],
  ['an expectation', 'POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc'],
  ['another expectation', 'POST /a HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 3\r\n\r\nabc'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a handshake of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
]

/** The seeds of all that is at random: the same for the same number (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** So many messages: a sound one each, with up to three things about it changed. */
export function generateMessages(seed: number, count: number): readonly string[] {
  const random = createRandom(seed)
  const pick = <T>(all: readonly T[]): T => all[random(all.length)]!
  const mostly = (usual: string, others: readonly string[]): string => (random(5) > 0 ? usual : pick(others))
  const spaces = ['', ' ', '  ', '\t', ' \t']
  const lineEnd = (): string => (random(60) > 0 ? '\r\n' : pick(['\n', '\r', '\r\r\n', '\n\r', '\r\n\r\n', '']))
  const field = (): string => {
    const name = mostly(pick(['A', 'Accept', 'b-C', 'Cookie', 'X_Y']), ['', 'A B', 'A\t', 'É', 'A(', 'host'])
    const value = mostly(pick(['1', 'a, b', 'x; y="z"', '']), ['\x01', '\xe9\xff', 'a\x7f', '"', 'a\0b', '\x0b'])
    return `${name}${mostly('', [' ', '\t'])}:${pick(spaces)}${value}${pick(spaces)}${lineEnd()}`
  }
  const chunk = (): string => {
    const data = 'abcdefghijklmnopqr'.slice(0, random(18) + 1)
    const size = mostly(data.length.toString(16), [`0${data.length.toString(16)}`, 'F', '', '-1', '1g', ' 1', '1 '])
    return `${size}${mostly('', [';a', ';a=b', ' ;a="b"', ';', '; a', ';\t', ';"', ';\x01'])}${lineEnd()}${data}${lineEnd()}`
  }
  const chunked = (): string =>
    `${Array.from({ length: random(4) }, chunk).join('')}0${mostly('', [';a', ' '])}${lineEnd()}${mostly('', [field()])}${lineEnd()}`
  const framing = (): readonly [fields: string, content: string] => {
    const length = `Content-Length:${pick(spaces)}${mostly('3', ['03', '+3', '3, 3', '4', '2', '0', '3a', ''])}${lineEnd()}`
    const coding = `Transfer-Encoding:${pick(spaces)}${mostly('chunked', ['Chunked', 'gzip, chunked', 'chunked, x', 'x'])}${lineEnd()}`
    switch (random(12)) {
      case 0:
        return [length + coding, chunked()]
      case 1:
        return [coding + length, 'abc']
      case 2:
        return [length + length, 'abc']
      case 3:
      case 4:
      case 5:
        return [coding, chunked()]
      case 6:
      case 7:
      case 8:
        return [length, 'abc']
      default:
        return ['', '']
    }
  }
  const message = (): string => {
    const method = mostly(pick(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']), [
      'PROPFIND',
      'M-SEARCH',
      'G T',
      'G(',
      '',
    ])
    const target = mostly(pick(['/', '/a/b?c=d', '/%41']), ['*', 'http://a/b', 'a:80', '/a b', '/\xe9', '/\x01', ''])
    const version = mostly('HTTP/1.1', ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/1', 'http/1.1', 'HTTP/1.1 '])
    const host = mostly(`Host:${pick(spaces)}a${pick(spaces)}\r\n`, [
      '',
      'Host: a\r\nHost: b\r\n',
      'Host: a\r\n b\r\n',
      'Host : a\r\n',
    ])
    const [fields, content] = framing()
    const connection = mostly('', ['Connection: close\r\n', 'Connection: keep-alive\r\n', 'Connection: x, close\r\n'])
    const own = Array.from({ length: random(3) }, field).join('')
    return `${mostly('', ['\r\n', '\n', ' '])}${method} ${target} ${version}${lineEnd()}${host}${own}${fields}${connection}${lineEnd()}${content}`
  }
  return Array.from({ length: count }, () => Array.from({ length: random(6) === 0 ? 2 : 1 }, message).join(''))
}
