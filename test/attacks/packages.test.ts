/**
 * Attacks by packages (MTOM, attachments) and uploads, each against the whole service over a socket: the check that
 * is named refuses, the file is as before, others are answered meanwhile, and nothing that arrived stays in the store.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { basic, startHosted } from '../host/hosted-service.ts'
import { exchangeOctets } from '../server/raw-connection.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-packages-'))
after(() => rmSync(folder, { recursive: true }))
const data = join(folder, 'orders.db')
const { server, ask } = await startHosted({ data })
const maria = basic('maria', 'maria-secret')
const path = '/soap/v1'
const file = '/api/v1/products/p-1/picture'
const png = '\x89PNG\r\n\x1a\n'

const ns = 'urn:diglot:orders:v1'
const include = (href: string) => `<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="${href}"/>`
const envelope = (picture: string) =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><PutProductPicture xmlns="${ns}"><id>p-1</id><picture>${picture}</picture><mediaType>image/png</mediaType></PutProductPicture></e:Body></e:Envelope>`
const xop = 'Content-Type: application/xop+xml; charset=utf-8; type="application/soap+xml"'
const root = (picture = include('cid:pic')) => `--B\r\n${xop}\r\nContent-ID: <root>\r\n\r\n${envelope(picture)}\r\n`
const part = (content: string, fields = '', id = 'pic') =>
  `--B\r\nContent-Type: image/png\r\n${fields}Content-ID: <${id}>\r\n\r\n${content}\r\n`
const end = '--B--\r\n'
const quoted = 'Content-Transfer-Encoding: quoted-printable\r\n'
const related =
  'multipart/related; boundary=B; type="application/xop+xml"; start="<root>"; start-info="application/soap+xml"'

const headOf = (method: string, target: string, type: string, length: number | 'chunked') =>
  `${method} ${target} HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: ${type}\r\nAuthorization: ${maria.authorization}\r\n${
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  }\r\n`
const post = (content: string, type = related, more = '') =>
  exchangeOctets(server.port, `${headOf('POST', path, type, content.length)}${more}\r\n${content}`)

const kept = () => ask('GET', file, maria).then(({ status, fields }) => `${status} ${fields['etag']}`)
const known = `${root()}${part(`${png}known`)}${end}`
assert.match((await post(known)).text, /^HTTP\/1\.1 200 /)
const before = await kept()

const blanks = `${' '.repeat(997)}x\r\n`
const rows: readonly (readonly [attack: string, content: string, check: RegExp, type?: string])[] = [
  ['an Include of the root itself', `${root(include('cid:root'))}${part(png)}${end}`, /a referenced part is missing/],
  ['an Include of nothing', `${root(include('cid:'))}${part(png)}${end}`, /only to parts of its own package, by cid:/],
  ['an Include of a fragment', `${root(include('#pic'))}${part(png)}${end}`, /only to parts of its own package/],
  ['an Include of two', `${root(include('cid:pic cid:pic'))}${part(png)}${end}`, /only to parts of its own package/],
  ['a second root', `${root()}${part(png)}${root()}${end}`, /two root parts/],
  ['a second root behind a long part', `${root()}${part(png + 'x'.repeat(400_000))}${root()}${end}`, /two root parts/],
  [
    'another picture of the same name behind a long one',
    `${root()}${part(png + 'x'.repeat(400_000))}${part(png)}${end}`,
    /two parts have the same Content-ID/,
  ],
  ['a start that is the picture', `${root()}${part(png)}${end}`, /415/, related.replace('<root>', '<pic>')],
  ['two starts', `${root()}${part(png)}${end}`, /415/, `${related}; start="<pic>"`],
  [
    'a boundary with a line end',
    `${root()}${part(png)}${end}`,
    /400|415/,
    related.replace('boundary=B', 'boundary="B\r\n "'),
  ],
  [
    'a field that goes on behind a bare LF',
    `${root()}${part(png, 'X-A: a\nContent-Transfer-Encoding: base64\r\n')}${end}`,
    /an invalid field/,
  ],
  ['a field with a NUL', `${root()}${part(png, 'X-A: a\0b\r\n')}${end}`, /an invalid field/],
  [
    '63 parts that nothing refers to, and the picture behind them',
    `${root()}${Array.from({ length: 63 }, (_, i) => part('x', '', `x${i}`)).join('')}${part(png)}${end}`,
    /more than 64 parts/,
  ],
  [
    'a picture beyond its limit',
    `${root()}${part(png + 'x'.repeat(6 * 1024 * 1024))}${end}`,
    /must have at most 5242880 octets/,
  ],
  [
    'parts of more than the limit that nothing refers to',
    `${root()}${part('x'.repeat(9 * 1024 * 1024), '', 'a')}${part(png)}${end}`,
    /413/,
  ],
  [
    'invalid base64, behind a long start',
    `${root()}${part(`${'AAAA'.repeat(100_000)}====`, 'Content-Transfer-Encoding: base64\r\n')}${end}`,
    /not valid base64/,
  ],
  ['a picture that is a page', `${root()}${part(`<script>${'x'.repeat(400_000)}</script>`)}${end}`, /picture/],
  ['a content coding of the package', `${root()}${part(png)}${end}`, /415/, `${related}\r\nContent-Encoding: gzip`],
  ['blanks that end no line, ahead of the root', `${part(blanks.repeat(4000), quoted)}${root()}${end}`, /picture/],
  ['blanks that end no line, as the picture', `${root()}${part(blanks.repeat(4000), quoted)}${end}`, /picture/],
  [
    'empty lines, ahead of the root',
    `${part('\r\n'.repeat(2_000_000), quoted, 'a')}${root()}${part('x')}${end}`,
    /picture/,
  ],
  [
    'a line like the boundary, many times',
    `${root()}${part(png + '\r\n-B'.repeat(1_000_000), '', 'a')}${part('x')}${end}`,
    /picture/,
  ],
]

describe('a package that is refused changes nothing', () => {
  for (const [attack, content, check, type] of rows)
    test(attack, async () => {
      await assertCpuMsBelow(200, async () => {
        const { text } = await post(content, type)
        assert.match(text, check)
        assert.match(text, /^HTTP\/1\.1 [45]\d\d /)
      })
      assert.equal(await kept(), before)
    })
})

/** What arrived, became no file, and stays longer than the next sweep. */
const left = () => {
  const database = new DatabaseSync(data, { readOnly: true })
  try {
    return database.prepare('select count(*) as "n" from "_content" where "expires" > 0').get()?.['n']
  } finally {
    database.close()
  }
}

const long = png + 'x'.repeat(1_500_000)
const whole = `${root()}${part(long)}${end}`
const uploads = [
  ['a package', 'POST', path, related, whole],
  ['a file', 'PUT', file, 'image/png', long],
] as const
for (const [sent, method, target, type, content] of uploads)
  describe(`${sent} that does not arrive whole`, () => {
    for (const [how, length, cut] of [
      ['its connection ends', content.length, content.slice(0, -3)],
      ['its chunks end', 'chunked', `${content.length.toString(16)}\r\n${content.slice(0, -3)}`],
      ['it continues with an invalid chunk', 'chunked', `${content.length.toString(16)}\r\n${content}\r\nzz\r\n`],
      [
        'it is too long',
        'chunked',
        `800000\r\n${content.replace('\r\n--B--', '')}${'x'.repeat(0x800000 - content.length)}`,
      ],
    ] as const)
      test(`${how}: twenty at once leave no octets behind`, async () => {
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const socket = connect(server.port, '127.0.0.1').on('error', () => {})
            socket.write(`${headOf(method, target, type, length)}\r\n`, 'latin1')
            await new Promise(resolve => socket.write(cut, 'latin1', resolve))
            await sleep(50)
            socket.destroy()
          }),
        )
        const until = performance.now() + 5000
        while (left() !== 0 && performance.now() < until) await sleep(20)
        assert.equal(left(), 0)
        assert.equal(await kept(), before)
      })
  })

test('while uploads stall, other clients are served at once', async () => {
  const sockets = Array.from({ length: 60 }, (_, i) => {
    const [, method, target, type, content] = uploads[i % 2] ?? uploads[0]
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    socket.write(`${headOf(method, target, type, content.length)}\r\n${content.slice(0, 900_000)}`, 'latin1')
    return socket
  })
  await sleep(500)
  const began = performance.now()
  assert.equal(await kept(), before)
  assert.match((await post(known)).text, /^HTTP\/1\.1 200 /)
  assert.ok(performance.now() - began < 5000, `${performance.now() - began} ms`)
  for (const socket of sockets) socket.destroy()
})
