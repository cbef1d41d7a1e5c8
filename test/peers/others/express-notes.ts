/** Express 5: notes as its guide writes a router. */
import express from 'express'

interface Note {
  readonly id: number
  readonly title: string
  readonly done: boolean
}

const notes = new Map<number, Note>([
  [1, { id: 1, title: 'First', done: false }],
  [2, { id: 2, title: 'Second', done: true }],
])
let last = 2
const app = express()
app.use(express.json())
const problemOf = ({ title, done }: Partial<Note> = {}): string | undefined =>
  typeof title === 'string' && (done === undefined || typeof done === 'boolean') ? undefined : 'title is missing'

app.get('/notes', (_request, response) => void response.json([...notes.values()]))
app.post('/notes', (request, response) => {
  const problem = problemOf(request.body)
  if (problem) return void response.status(400).json({ error: problem })
  const note = { id: ++last, title: request.body.title, done: request.body.done ?? false }
  notes.set(note.id, note)
  response.status(201).location(`/notes/${note.id}`).json(note)
})
app.get('/notes/:id', (request, response) => {
  const note = notes.get(Number(request.params.id))
  note ? response.json(note) : response.sendStatus(404)
})
app.put('/notes/:id', (request, response) => {
  const id = Number(request.params.id)
  if (!notes.has(id)) return void response.sendStatus(404)
  const problem = problemOf(request.body)
  if (problem) return void response.status(400).json({ error: problem })
  const note = { id, title: request.body.title, done: request.body.done ?? false }
  notes.set(id, note)
  response.json(note)
})
app.delete('/notes/:id', (request, response) => {
  response.sendStatus(notes.delete(Number(request.params.id)) ? 204 : 404)
})
app.listen(Number(process.argv[2]), '127.0.0.1')
