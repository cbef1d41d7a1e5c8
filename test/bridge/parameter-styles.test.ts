/** Parameters and members of forms by their styles, as a service of others gets them. */
import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createRestCaller } from '../../src/bridge/rest-caller.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'

interface Seen {
  readonly target: string
  readonly fields: http.IncomingHttpHeaders
  readonly content: string
}
const parse = await loadAnyParser()
const seen: Seen[] = []
const server = http.createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', each => pieces.push(each))
  request.on('end', () => {
    seen.push({ target: request.url ?? '', fields: request.headers, content: Buffer.concat(pieces).toString() })
    response.writeHead(204).end()
  })
})
before(async () => await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
after(() => server.close())

const text = { type: 'string' }
const values = { string: text, array: { type: 'array', items: text }, object: { type: 'object', properties: { R: { type: 'integer' }, G: { type: 'integer' }, B: { type: 'integer' } } } } // biome-ignore format: one line
const given = { empty: '', string: 'blue', array: ['blue', 'black', 'brown'], object: { R: 100n, G: 200n, B: 150n } }

function readPort(operation: object, path = '/colors') {
  const document = { openapi: '3.2.0', info: { title: 'Colors', version: '1' }, paths: { [path]: { post: { operationId: 'ask', responses: { 204: {} }, ...operation } } } } // biome-ignore format: one line
  return readRestPort(JSON.stringify(document), 'colors.json', [], { find: () => undefined, parse })
}
async function ask(operation: object, input: object, path?: string): Promise<Seen | string> {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answer = await createRestCaller(readPort(operation, path), address, { timeLimit: 10_000, longest: 1000 })('Ask', { input, blocks: {} }) // biome-ignore format: one line
  return answer.kind === 'answer' ? (seen.at(-1) ?? assert.fail('nothing has arrived')) : JSON.stringify(answer)
}
/** What has arrived of one parameter, called `color`. */
async function askColor(place: string, more: object, schema: object, value: unknown): Promise<string | undefined> {
  const path = place === 'path' ? '/colors/{color}/end' : '/colors'
  const got = await ask({ parameters: [{ in: place, name: 'color', required: true, schema, ...more }] }, { color: value }, path) // biome-ignore format: one line
  if (typeof got === 'string') return got
  if (place === 'header') return got.fields['color'] as string | undefined
  if (place === 'cookie') return got.fields.cookie
  return place === 'path' ? /^\/colors\/(.*)\/end$/.exec(got.target)?.[1] : got.target.slice('/colors'.length)
}

// OpenAPI §4.8.12.4, its table; a blank: not defined there.
const table: readonly (readonly [place: string, style: string, explode: boolean, ...string[]])[] = [
  ['path', 'matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['path', 'matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['path', 'label', false, '', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['path', 'label', true, '', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['path', 'simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['path', 'simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['header', 'simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['header', 'simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['query', 'form', false, '?color=', '?color=blue', '?color=blue,black,brown', '?color=R,100,G,200,B,150'],
  ['query', 'form', true, '?color=', '?color=blue', '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
  ['query', 'spaceDelimited', false, '', '', '?color=blue%20black%20brown', '?color=R%20100%20G%20200%20B%20150'],
  ['query', 'pipeDelimited', false, '', '', '?color=blue%7Cblack%7Cbrown', '?color=R%7C100%7CG%7C200%7CB%7C150'],
  ['query', 'deepObject', true, '', '', '', '?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
  ['cookie', 'form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['cookie', 'cookie', true, 'color=', 'color=blue', 'color=blue; color=black; color=brown', 'R=100; G=200; B=150'],
] // biome-ignore format: a table
for (const [place, style, explode, ...expected] of table)
  test(`OpenAPI §4.8.12.4 ${style} of the ${place}, explode ${explode}`, async () => {
    for (const [at, [kind, value]] of Object.entries(given).entries()) {
      if (expected[at] === '') continue
      const schema = kind === 'empty' ? text : values[kind as keyof typeof values]
      assert.equal(await askColor(place, { style, explode }, schema, value), expected[at], kind)
    }
  })

const whole: readonly (readonly [what: string, place: string, more: object, schema: object, value: unknown, sent: string])[] = [
  ['§4.8.12.2.1 form and explode are usual of a query', 'query', {}, values.array, ['a', 'b'], '?color=a&color=b'],
  ['§4.8.12.2.1 other styles are not exploded', 'query', { style: 'pipeDelimited' }, values.array, ['a', 'b'], '?color=a%7Cb'],
  ['§4.8.12.2.1 simple is usual of a header', 'header', {}, values.object, { R: 1n, G: 2n }, 'R,1,G,2'],
  ['RFC 6570 §3.2.1 a delimiter of a value is no delimiter', 'query', { explode: false }, values.array, ['a,b', 'c&d'], '?color=a%2Cb,c%26d'],
  ['RFC 6570 §3.2.5 nor is a dot, which need not be encoded', 'path', { style: 'label' }, text, 'a.b', '.a.b'],
  ['RFC 6570 §3.2.3 allowReserved keeps what a query may have', 'query', { allowReserved: true }, text, 'a:/?@!$(),;=é&#+ %2F', '?color=a:/?@!$(),;=%C3%A9%26%23%2B%20%2F'],
  ['RFC 6570 §3.2.3 without it all is encoded', 'query', {}, text, 'a:/%2F', '?color=a%3A%2F%252F'],
  ['OpenAPI 3.2 §4.12.2 a path that allows reserved characters has its segments', 'path', { allowReserved: true }, text, 'a:/b;c?', 'a:%2Fb;c%3F'],
  ['OpenAPI §4.8.12.2.2 content is JSON, a text of it, too', 'query', { schema: undefined, content: { 'application/json': { schema: text } } }, text, 'a', '?color=%22a%22'],
  ['OpenAPI §4.8.12.2.2 content is JSON, of an object', 'query', { schema: undefined, content: { 'application/json': { schema: values.object } } }, text, { R: 1n }, '?color=%7B%22R%22%3A1%7D'],
  ['OpenAPI §4.8.12.2.2 content is JSON, in a header', 'header', { schema: undefined, content: { 'application/json': { schema: values.object } } }, text, { R: 1n }, '{"R":1}'],
  ['a member that XML has no name for has its own', 'query', { style: 'deepObject', explode: true }, { type: 'object', properties: { 'a b': text } }, { a_b: 'x' }, '?color%5Ba%20b%5D=x'],
  ['a map is an object', 'query', { style: 'deepObject', explode: true }, { type: 'object', additionalProperties: text }, { entry: [{ key: 'gt', value: '5' }] }, '?color%5Bgt%5D=5'],
] // biome-ignore format: a table
for (const [what, place, more, schema, value, sent] of whole)
  test(what, async () => assert.equal(await askColor(place, more, schema, value), sent))

const refused: readonly (readonly [what: string, place: string, more: object, schema: object, value: unknown])[] = [
  ['RFC 3986 §5.2.4 two dots by a label', 'path', { style: 'label' }, text, '.'],
  ['RFC 3986 §5.2.4 nothing by a label', 'path', { style: 'label' }, text, ''],
  ['an empty list of a path', 'path', {}, values.array, []],
  ['RFC 9110 §5.5 the end of a field in a list of a header', 'header', {}, values.array, ['a', 'b\r\nx: y']],
  ['RFC 6265 §4.1.1 a semicolon of a cookie without encoding', 'cookie', { style: 'cookie' }, text, 'a; b=c'],
] // biome-ignore format: a table
for (const [what, place, more, schema, value] of refused)
  test(`${what} is not sent`, async () => {
    const before = seen.length
    assert.match((await askColor(place, more, schema, value)) ?? '', /"status":422/)
    assert.equal(seen.length, before)
  })

const form = (mediaType: string, properties: object, encoding: object) => ({
  requestBody: { content: { [mediaType]: { schema: { type: 'object', properties }, encoding } } },
})
const urlencoded = 'application/x-www-form-urlencoded'
test('OpenAPI §4.8.15.2 a member of a form has the style of its encoding', async () => {
  const encoding = { array: { style: 'pipeDelimited' }, object: { style: 'deepObject', explode: true }, string: { allowReserved: true } } // biome-ignore format: one line
  const got = await ask(form(urlencoded, values, encoding), { ...given, string: 'a/b', empty: undefined })
  const sent = 'string=a/b&array=blue%7Cblack%7Cbrown&object%5BR%5D=100&object%5BG%5D=200&object%5BB%5D=150'
  assert.equal(typeof got === 'string' ? got : got.content, sent)
})
test('OpenAPI §4.8.15.2 without one a list is repeated, an object is JSON', async () => {
  const got = await ask(form(urlencoded, values, {}), { string: 'a', array: ['b', 'c'], object: { R: 1n } })
  assert.equal(typeof got === 'string' ? got : got.content, 'string=a&array=b&array=c&object=%7B%22R%22%3A1%7D')
})
test('OpenAPI §4.8.15.1 a part has the media type of its encoding', async () => {
  const octets = { type: 'string', format: 'binary' }
  const encoding = { image: { contentType: 'image/png' }, note: { contentType: 'text/markdown; charset=utf-8' }, place: { contentType: 'application/geo+json' } } // biome-ignore format: one line
  const parts = { image: octets, note: text, place: { type: 'object', properties: { city: text } } }
  const input = { image: Uint8Array.of(1), note: '# a', place: { city: 'x' } }
  const got = await ask(form('multipart/form-data', parts, encoding), input)
  const content = typeof got === 'string' ? got : got.content
  assert.deepEqual(content.match(/(?<=content-type: ).*(?=\r\n)/gi), ['image/png', 'text/markdown;charset=utf-8', 'application/geo+json']) // biome-ignore format: one line
  assert.match(content, /\{"city":"x"\}/)
})

test('a member without a style or an encoding is reported', () => {
  const nested = { type: 'object', properties: { a: { type: 'array', items: text } } }
  const parameters = [
    { in: 'query', name: 'deep', style: 'deepObject', schema: nested },
    { in: 'query', name: 'said', content: { 'application/json': { schema: nested } } },
    { in: 'query', name: 'flag', allowEmptyValue: true, schema: { type: 'boolean' } },
    { in: 'query', name: 'word', allowEmptyValue: true, schema: text },
  ]
  const encoding = { image: { contentType: 'image/png, image/jpeg', headers: { 'X-Size': { schema: text } } } }
  const { losses } = readPort({ parameters, ...form('multipart/form-data', { image: text }, encoding) })
  assert.deepEqual(
    losses.map(({ place, detail }) => `${place} ${detail}`),
    [
      'Ask.deep has lists or objects in it, which no style writes: they are sent as JSON',
      'Ask.flag may be empty in an address: it is left out, or has a value',
      'Ask.image its part is sent without X-Size',
      'Ask.image may be image/png, image/jpeg: it is sent as its value has it',
    ],
  )
})
