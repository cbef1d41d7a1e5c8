// What openapi-fetch makes of the description alone; its types are checked strictly, then it is run.
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

const [baseUrl = '', token = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
const told: unknown[] = []

const made = await client.POST('/api/v1/boats', {
  body: { name: 'Anna', berth: 4, length: '9.50', engine: { kind: 'sail', area: 30 }, rate: null },
})
if (!made.data) throw new Error(JSON.stringify(made.error))
const { id, engine, _links } = made.data
const area: number = engine.kind === 'sail' ? engine.area : engine.power
const self: string | undefined = _links?.self.href
told.push(area, self === `/api/v1/boats/${id}`)

const params = { path: { id } }
const read = await client.GET('/api/v1/boats/{id}', { params })
const name: string | undefined = read.data?.name
const tag = read.response.headers.get('etag') ?? ''
told.push(name)

const changed = await client.PATCH('/api/v1/boats/{id}', {
  params: { ...params, header: { 'If-Match': tag } },
  headers: { 'content-type': 'application/merge-patch+json' },
  body: { note: 'leaks', rate: '12.00' },
})
const note: string | null | undefined = changed.data?.note
told.push(note)

const list = await client.GET('/api/v1/boats', { params: { query: { 'length[gte]': '9.00', sort: 'name' } } })
for (const boat of list.data?.items ?? []) {
  const length: string = boat.length
  told.push(length)
}

const refused = await client.POST('/api/v1/boats/{id}/departure', { params, body: {} })
if (refused.error && 'until' in refused.error) {
  const until: string | undefined = refused.error.until
  told.push(refused.response.status, refused.error.type, until)
}
console.log(JSON.stringify(told))
