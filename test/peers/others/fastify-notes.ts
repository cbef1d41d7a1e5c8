/** Fastify 5: notes with the schemas that its guide recommends. */
import fastify from 'fastify'

interface Note {
  readonly id: number
  readonly title: string
  readonly done: boolean
}
interface Item {
  readonly Params: { readonly id: number }
}
interface Draft {
  readonly Body: { readonly title: string; readonly done: boolean }
}

const notes = new Map<number, Note>([
  [1, { id: 1, title: 'First', done: false }],
  [2, { id: 2, title: 'Second', done: true }],
])
let last = 2
const app = fastify()
const params = { type: 'object', properties: { id: { type: 'integer' } } }
const body = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' }, done: { type: 'boolean', default: false } },
}

app.get('/notes', async () => [...notes.values()])
app.post<Draft>('/notes', { schema: { body } }, async (request, reply) => {
  const note = { id: ++last, title: request.body.title, done: request.body.done }
  notes.set(note.id, note)
  return reply.code(201).header('location', `/notes/${note.id}`).send(note)
})
app.get<Item>('/notes/:id', { schema: { params } }, async (request, reply) => {
  return notes.get(request.params.id) ?? reply.callNotFound()
})
app.put<Item & Draft>('/notes/:id', { schema: { params, body } }, async (request, reply) => {
  const { id } = request.params
  if (!notes.has(id)) return reply.callNotFound()
  const note = { id, title: request.body.title, done: request.body.done }
  notes.set(id, note)
  return note
})
app.delete<Item>('/notes/:id', { schema: { params } }, async (request, reply) => {
  return notes.delete(request.params.id) ? reply.code(204).send() : reply.callNotFound()
})
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) })
