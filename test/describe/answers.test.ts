/**
 * OpenAPI against the responses: each response has a status, a media type, a content and
 * fields that the description of its operation has.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { describeService } from '../../src/pages/openapi.ts'
import { startTestService } from '../../src/testing/index.ts'
import app, { insurer } from './insurer.ts'

const require = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'))
const Ajv = require('ajv/dist/2020.js').default
/** Formats are judged, too (JSON Schema 2020-12 Validation §7). */
const createValidator = () => require('ajv-formats').default(new Ajv({ strict: false }))
type Loose = { readonly [name: string]: Loose }

/** Fields of responses that a client acts on, so that a description has them. */
const toldFields = [
  ...['location', 'etag', 'last-modified', 'retry-after', 'www-authenticate', 'preference-applied'],
  ...['accept-ranges', 'content-range', 'claim-desk'],
]

/** The same schemas without other members: so some generators read a description. */
const closeSchemas = (text: string): string =>
  JSON.stringify(
    JSON.parse(text, (_, each) =>
      each?.type === 'object' && each.properties ? { additionalProperties: false, ...each } : each,
    ),
  )

/** What a description says of the responses of a service. */
class Description {
  readonly document: Loose
  readonly #ajv = createValidator()
  readonly #closed = createValidator()
  constructor(text: string) {
    this.document = JSON.parse(text)
    this.#ajv.addSchema({ $id: 'all:', components: this.document['components'] })
    this.#closed.addSchema({ $id: 'all:', components: JSON.parse(closeSchemas(text))['components'] })
  }
  #resolve(at: Loose | undefined): Loose | undefined {
    const reference = at?.['$ref']
    if (typeof reference !== 'string') return at
    return (reference as string)
      .slice(2)
      .split('/')
      .reduce<Loose | undefined>((found, part) => found?.[part], this.document)
  }
  operation(method: string, path: string): Loose | undefined {
    const asked = path.split('?')[0]?.split('/') ?? []
    const match = (template: string): boolean => {
      const parts = template.split('/')
      return parts.length === asked.length && parts.every((part, at) => part.startsWith('{') || part === asked[at])
    }
    const named = Object.keys(this.document['paths'] ?? {}).filter(match)
    const [best] = named.sort((a, b) => a.split('{').length - b.split('{').length)
    return this.document['paths']?.[best ?? '']?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()]
  }
  /** Whether a request may have this field or query parameter. */
  parameters(operation: Loose): readonly string[] {
    return Object.values(operation['parameters'] ?? {}).map(each => String(this.#resolve(each)?.['name']).toLowerCase())
  }
  /** The parts of a response that are not described; empty if all are. */
  async judge(operation: Loose, method: string, answer: Response): Promise<readonly string[]> {
    const declared = this.#resolve(operation['responses']?.[answer.status])
    const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
    const octets = new Uint8Array(await answer.arrayBuffer())
    if (!declared) return [`${answer.status} is not described: ${new TextDecoder().decode(octets)}`]
    const headers = Object.keys(declared['headers'] ?? {}).map(each => each.toLowerCase())
    const isError = answer.status >= 400
    const told = isError ? toldFields.filter(each => each !== 'preference-applied') : toldFields
    const flaws = told
      .filter(each => answer.headers.has(each) && !headers.includes(each))
      .map(each => `${answer.status} has ${each}`)
    const contents = declared['content'] ?? {}
    if (method === 'HEAD' || octets.length === 0) return flaws
    if (isError && type === 'text/html') return flaws // for people; what reads a description asks for no page
    const media = contents[type]
    const isNamed = String(declared['description']).includes(type)
    if (!media && !isNamed) return [...flaws, `${answer.status} is ${type}, not ${Object.keys(contents)}`]
    if (!media || !/[/+]json$/.test(type)) return flaws
    const text = JSON.stringify(media['schema']).replaceAll('"#/components', '"all:#/components')
    // An extension member of a problem is no surprise (RFC 9457 §3.2).
    const valid = isError ? this.#ajv.compile(JSON.parse(text)) : this.#closed.compile(JSON.parse(closeSchemas(text)))
    return valid(JSON.parse(new TextDecoder().decode(octets))) ? flaws : [...flaws, JSON.stringify(valid.errors)]
  }
}

const claim = {
  member: 'm-1',
  treatments: [{ code: 'k-1', on: '2026-02-03' }],
  paidBy: { how: 'member', receipt: 'r' },
}
const json = { 'content-type': 'application/json' }
const merge = { 'content-type': 'application/merge-patch+json' }

type Content = string | Uint8Array<ArrayBuffer> | object
type Ask = (
  caller: string | undefined,
  method: string,
  path: string,
  fields?: Record<string, string>,
  content?: Content,
) => Promise<Response>
const isOctets = (content: Content): content is string | Uint8Array<ArrayBuffer> =>
  typeof content === 'string' || content instanceof Uint8Array

/** Every kind of operation, in each way in which it ends. */
async function askEverything(ask: Ask, work: () => Promise<unknown>): Promise<void> {
  const minimal = { prefer: 'return=minimal' }
  const at = '/api/v2'
  const create = async (fields: Record<string, string> = {}): Promise<string> => {
    const made = await ask('ida', 'POST', `${at}/claims`, { ...json, ...fields }, claim)
    return made.headers.get('location') ?? ''
  }
  const one = await create()
  for (const query of ['', '?limit=1', '?after=x', '?after=999999']) await ask('ida', 'GET', `/changes${query}`)
  await ask('ida', 'GET', '/changes', { accept: 'image/png' })
  await ask('ida', 'GET', '/changes', { accept: 'application/cloudevents-batch+json' })
  await create(minimal)
  await create({ ...minimal, prefer: 'return=representation' })
  for (const fields of [
    { 'if-none-match': '*' },
    { 'if-match': '"x"' },
    { accept: 'image/png' },
    { accept: 'application/xml' },
  ] as Record<string, string>[])
    await create(fields)
  await create({ 'claim-channel': 'phone' })
  await ask('ida', 'POST', '/api/v1/claims', json, { ...claim, remark: 'x' })
  await create({ 'idempotency-key': '"k"' })
  await Promise.all([1, 2, 3].map(() => create({ 'idempotency-key': '"at once"' })))
  await ask('ida', 'POST', `${at}/claims`, { ...json, 'idempotency-key': '"k"' }, { ...claim, note: 'other' })
  for (const content of ['{', '{}', { ...claim, note: 'nope' }, { ...claim, member: 'm-9' }, 'x'.repeat(1_100_000)])
    await ask('ida', 'POST', `${at}/claims`, json, content)
  await ask('ida', 'POST', `${at}/claims`, { 'content-type': 'text/plain' }, 'x')
  await ask('ida', 'POST', `${at}/claims`, { ...json, 'content-encoding': 'zip' }, claim)
  await ask('otto', 'POST', `${at}/claims`, json, claim)
  await ask(undefined, 'POST', `${at}/claims`, json, claim)
  await ask(undefined, 'GET', `${at}/codes`, { authorization: 'Bearer none' })
  await ask(undefined, 'GET', `${at}/codes/k-1`, { authorization: 'Bearer none' })
  await ask(undefined, 'PUT', `${at}/codes/k-1`, json, {})
  for (const version of ['v1', 'v2'])
    for (const path of [
      'codes',
      'codes/k-1',
      'tariff',
      'claims',
      'members',
      'members/m-1',
      'members/m-1/claims',
      'search?q=x',
      'claims?state=submitted',
    ])
      for (const fields of conditions)
        for (const method of ['GET', 'HEAD']) await ask('karl', method, `/api/${version}/${path}`, fields)
  for (const path of [
    one,
    `${one}/remarks`,
    `${one}/overview`,
    `${one}/settlement`,
    `${one}/invoice`,
    `${at}/claims/c-none`,
    `${at}/claims/c-none/remarks`,
  ]) {
    for (const fields of conditions) await ask('ida', 'GET', path, fields)
    await ask('otto', 'GET', path)
    await ask(undefined, 'GET', path)
    await ask('karl', 'GET', `${path}?nothing=1`)
    await ask('karl', 'GET', `${path}?nothing=1`, { prefer: 'handling=lenient' })
  }
  // Changes of an item
  const { ...draft } = claim
  await ask('ida', 'PUT', one, json, draft)
  await ask('ida', 'PUT', one, { ...json, 'if-match': '"1-v"' }, draft)
  await ask('ida', 'PUT', one, { ...json, 'if-match': '*' }, { ...draft, note: 'a' })
  await ask('ida', 'PUT', one, { ...json, 'if-match': '*', ...minimal }, { ...draft, note: 'b' })
  await ask('ida', 'PATCH', one, { ...merge, 'if-match': '*' }, { note: 'c' })
  await ask('ida', 'PATCH', one, { ...merge, 'if-match': '*', ...minimal }, { note: 'd' })
  await ask('ida', 'PATCH', one, { ...merge, 'if-match': '*' }, { treatments: null })
  await ask('ida', 'PATCH', one, { ...merge, 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:01 GMT' }, {})
  const patch = { 'content-type': 'application/json-patch+json', 'if-match': '*' }
  await ask('ida', 'PATCH', one, patch, [{ op: 'test', path: '/note', value: 'z' }])
  await ask('ida', 'PATCH', one, patch, [{ op: 'remove', path: '/nowhere' }])
  await ask('ida', 'PATCH', one, patch, [{ op: 'replace', path: '/note', value: 'e' }])
  await ask('ida', 'PATCH', one, { ...json, 'if-match': '*' }, {})
  await ask('ida', 'DELETE', one, { 'if-match': '*' })
  await ask('karl', 'DELETE', one, { 'if-match': '*' })
  // Files
  const png = { 'content-type': 'image/png' }
  const octets = new Uint8Array(3000).fill(7)
  await ask('ida', 'PUT', `${one}/invoice`, png, octets)
  await ask('ida', 'PUT', `${one}/invoice`, { ...png, 'if-none-match': '*' }, octets)
  const put = await ask('ida', 'PUT', `${one}/invoice`, { ...png, 'if-match': '*' }, octets)
  await ask('ida', 'PUT', `${one}/invoice`, { ...png, ...minimal }, octets)
  await ask('ida', 'PUT', `${one}/invoice`, json, octets)
  await ask('ida', 'PUT', `${one}/invoice`, png, new Uint8Array(2_000_001))
  const tag = put.headers.get('etag') ?? ''
  for (const fields of [
    ...conditions,
    { range: 'bytes=0-9' },
    { range: 'bytes=0-9,20-29' },
    { range: 'bytes=9000-' },
    { range: 'bytes=0-9', 'if-range': tag },
    { range: 'bytes=0-9', 'if-range': '"x"' },
    { 'if-none-match': tag },
    { accept: 'application/pdf' },
    { 'accept-encoding': 'gzip, identity;q=0' },
    { 'accept-encoding': 'identity;q=0, *;q=0' },
  ] as Record<string, string>[])
    for (const method of ['GET', 'HEAD']) await ask('ida', method, `${one}/invoice`, fields)
  // Actions
  await ask('ida', 'POST', `${one}/examination`)
  await ask('karl', 'POST', `${one}/examination`, { 'if-match': '"1-v"' })
  await ask('karl', 'POST', `${one}/examination`, minimal)
  await ask('karl', 'POST', `${one}/examination`)
  await ask('karl', 'POST', `${one}/reminder`)
  await ask('karl', 'POST', `${one}/reminder`, minimal)
  await ask('karl', 'POST', `${one}/approval`, json, { amount: '900.00' })
  await ask('karl', 'POST', `${one}/approval`, json, { amount: 'x' })
  await ask('karl', 'POST', `${one}/approval`, {})
  await ask('karl', 'POST', `${one}/approval`, { ...json, 'idempotency-key': '"a"' }, { amount: '1.00' })
  await ask('karl', 'POST', `${one}/approval`, { ...json, 'idempotency-key': '"a"' }, { amount: '1.00' })
  await ask('karl', 'POST', `${one}/settlement`, { 'idempotency-key': '"s"' })
  await ask('karl', 'POST', `${one}/settlement`, { 'idempotency-key': '"s"', ...json }, {})
  await ask('karl', 'POST', `${one}/settlement`, json, { what: 1 })
  await ask('karl', 'GET', `${one}/settlement`)
  const two = await create()
  await ask('ida', 'POST', `${two}/withdrawal`, json, {})
  await ask('ida', 'POST', `${two}/remarks`, json, { text: 'hm' })
  await ask('ida', 'POST', `${two}/remarks`, { ...json, ...minimal }, { text: 'hm' })
  await ask('otto', 'POST', `${two}/remarks`, json, { text: 'hm' })
  await ask('karl', 'GET', `${two}/remarks?by=ida`)
  await ask('karl', 'DELETE', two, { 'if-match': '*' })
  const three = await create()
  await ask('ida', 'POST', `${three}/withdrawal`, json, {})
  await ask('karl', 'DELETE', three)
  await ask('karl', 'DELETE', three, { 'if-match': '"1-v"' })
  await ask('karl', 'DELETE', three, { 'if-match': '*' })
  await ask('karl', 'DELETE', three, { 'if-match': '*' })
  await ask('karl', 'GET', three)
  await ask('karl', 'GET', `${three}/remarks`)
  await ask('karl', 'PATCH', three, { ...merge, 'if-match': '*' }, {})
  // Many
  await ask('karl', 'DELETE', `${at}/claims`)
  await ask('karl', 'DELETE', `${at}/claims?state=withdrawn`)
  await ask('karl', 'DELETE', `${at}/claims?state=withdrawn`, minimal)
  await ask('karl', 'DELETE', `${at}/claims?state=withdrawn`, { 'if-match': '"x"' })
  await ask('ida', 'DELETE', `${at}/claims?state=withdrawn`)
  // What a client names
  const code = { labels: { de: 'x' }, price: '1.00', valid: { from: '2026-01-01' } }
  await ask('karl', 'PUT', `${at}/codes/k-9`, json, code)
  await ask('karl', 'PUT', `${at}/codes/k-9`, { ...json, 'if-none-match': '*' }, code)
  await ask('karl', 'PUT', `${at}/codes/k-8`, { ...json, ...minimal }, code)
  await ask('karl', 'PUT', `${at}/codes/k-8`, { ...json, ...minimal }, code)
  await ask('karl', 'PUT', '/api/v1/codes/k-7', json, { ...code, price: 100 })
  // An item that moves
  await ask('karl', 'POST', `${at}/members/m-3/merger`, json, { into: 'm-2' })
  await ask('karl', 'GET', `${at}/members/m-3`)
  await ask('karl', 'PATCH', `${at}/members/m-3`, { ...merge, 'if-match': '*' }, {})
  await ask('karl', 'POST', `${at}/members/m-1/merger`, { ...json, ...minimal }, { into: 'm-2' })
  await ask('karl', 'POST', `${at}/members/m-1/merger`, json, { into: 'm-2' })
  // A single one
  const tariff = { year: 2026, limit: '5.00', opens: '09:00:00' }
  await ask('karl', 'PUT', `${at}/tariff`, json, tariff)
  await ask('karl', 'PUT', `${at}/tariff`, { ...json, 'if-match': '*', ...minimal }, tariff)
  await ask('karl', 'PUT', `${at}/tariff`, { ...json, 'if-none-match': '*' }, tariff)
  await ask('karl', 'POST', `${at}/tariff/publication`, minimal)
  // Searches and jobs
  const search = await ask('karl', 'POST', `${at}/searches`, json, { q: 'ida' })
  await ask('karl', 'POST', `${at}/searches`, { ...json, ...minimal }, { q: 'ida' })
  await ask('karl', 'POST', `${at}/searches`, json, { q: 3 })
  const found = search.headers.get('location') ?? ''
  for (const fields of conditions) await ask('karl', 'GET', found, fields)
  await ask('karl', 'GET', `${at}/searches/none`)
  await ask('karl', 'GET', `${at}/search?q=ida&state=none`)
  const job = await ask('karl', 'POST', `${at}/statements`, json, { year: 2026 })
  await ask(
    'karl',
    'POST',
    `${at}/statements`,
    { ...json, prefer: 'respond-async, wait=1, return=minimal' },
    { year: 2026 },
  )
  await ask('karl', 'POST', `${at}/statements`, json, { year: 2013 })
  await ask('ida', 'POST', `${at}/statements`, json, { year: 2026 })
  const running = job.headers.get('location') ?? ''
  const result = running.replace('/jobs', '')
  await ask('karl', 'GET', running, { 'if-none-match': '*' })
  await ask('karl', 'GET', running, { prefer: 'wait=1' })
  await ask('karl', 'GET', result)
  await ask('karl', 'POST', `${running}/cancellation`, minimal)
  await ask('karl', 'POST', `${running}/cancellation`)
  const second = await ask('karl', 'POST', `${at}/statements`, json, { year: 2026 })
  await work()
  const done = second.headers.get('location') ?? ''
  for (const path of [done, done.replace('/jobs', '')])
    for (const fields of conditions) await ask('karl', 'GET', path, fields)
  await ask('ida', 'GET', done)
}
/** In which a read may be asked. */
const conditions: readonly Record<string, string>[] = [
  {},
  { 'if-match': '"x"' },
  { 'if-none-match': '*' },
  { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:01 GMT' },
  { prefer: 'count=exact' },
  { accept: 'application/xml' },
  { accept: 'text/html' },
  { accept: 'text/nothing' },
]

/** The fields of a request that have decided on its response. */
function listEffective(
  method: string,
  fields: Record<string, string>,
  { status, headers }: Response,
): readonly string[] {
  const reads = method === 'GET' || method === 'HEAD'
  const names = Object.keys(fields).filter(name => name.startsWith('if-') || name === 'range')
  return [
    ...(reads && [206, 304, 412, 416].includes(status) ? names : []),
    ...(headers.has('preference-applied') ? ['prefer'] : []),
  ]
}

for (const release of ['3.1', '3.2'] as const)
  test(`A1.10 each response of face A is one that OpenAPI ${release} describes`, async () => {
    await using service = await startTestService(insurer, app)
    const description = new Description(await describeService(app, undefined, release))
    const flaws = new Set<string>()
    const seen = new Set<string>()
    const ask: Ask = async (caller, method, path, fields = {}, content) => {
      const body = content === undefined || isOctets(content) ? content : JSON.stringify(content)
      const given = { method, headers: fields, redirect: 'manual', ...(body !== undefined && { body }) } as const
      const answer = await service.fetchAs(caller)(`${service.address}${path}`, given)
      const operation = description.operation(method, path)
      const copy = answer.clone()
      if (!operation) flaws.add(`${method} ${path} is not described`)
      const id = String(operation?.['operationId'])
      seen.add(`${id} ${answer.status}`)
      if (!operation) return copy
      for (const flaw of await description.judge(operation, method, answer)) flaws.add(`${id}: ${flaw}`)
      const known = description.parameters(operation)
      for (const name of listEffective(method, fields, answer))
        if (!known.includes(name)) flaws.add(`${id}: ${name} is no parameter`)
      return copy
    }
    await askEverything(ask, () => service.work())
    if (release === '3.2')
      for (const criteria of [{ q: 'ida' }, { q: 3 }, { q: 'ida', state: 'none' }])
        await ask('karl', 'QUERY', '/api/v2/claims', json, criteria) // RFC 10008, which 3.1 cannot describe
    assert.deepEqual([...flaws], [])
    assert.ok(seen.size > 170, `only ${seen.size} were answered`)
  })
