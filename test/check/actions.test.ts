/** A4.11 and A7.11: whoever may perform an action, on whichever item of the run, they are judged. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ann, bob, checkSmall, describeNotes, listVerdicts, type SmallService } from './small-services.ts'

interface Habits {
  /** Default: nobody has to say who it is. */
  readonly creator?: 'ann'
  readonly actor?: 'bob' | 'nobody'
  /** Items that there can be at a time. */
  readonly itemsMax?: number
  readonly closed?: 'closed' | 'open'
  readonly refusal?: number
  /** Whether closing again, not opening, is always taken. */
  readonly closesAgain?: boolean
  readonly needsReason?: boolean
}

const closing = (needsReason = false) => ({
  post: {
    responses: { 200: { description: 'done' } },
    ...(needsReason && {
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    }),
  },
})

/** Notes that are closed or archived once. */
function createClosing(habits: Habits = {}): SmallService {
  const { creator, actor, itemsMax = 9, closed = 'closed', refusal = 409, closesAgain, needsReason } = habits
  const schema = {
    type: 'object',
    properties: { title: { type: 'string' }, state: { type: 'string', readOnly: true } },
  }
  const part = closing(needsReason)
  const document = describeNotes(schema, { '/notes/{id}/closing': part, '/notes/{id}/archive': part })
  const states = new Map<string, string>()
  let last = 0
  const show = (id: string, caller: string | undefined) => {
    const isOffered = states.get(id) === 'open' && (actor === undefined || caller === actor)
    const links = isOffered && { close: { href: `/notes/${id}/closing` }, archive: { href: `/notes/${id}/archive` } }
    return { id, title: 'a', state: states.get(id) ?? '', _links: { self: { href: `/notes/${id}` }, ...links } }
  }
  return ({ method, path, caller, text }) => {
    const [, id = '', action] = /^\/notes\/(\w+)(?:\/(closing|archive))?$/.exec(path) ?? []
    if (path === '/openapi.json') return { status: 200, json: document }
    if (path === '/notes' && method === 'POST') {
      if (caller !== creator && creator !== undefined) return { status: 403, json: {} }
      if (states.size >= itemsMax) return { status: 409, json: {} }
      states.set(`n${++last}`, 'open')
      return { status: 201, json: show(`n${last}`, caller), fields: { location: `/notes/n${last}` } }
    }
    if (path === '/notes') return { status: 200, json: [...states.keys()].map(each => show(each, caller)) }
    if (!states.has(id)) return { status: path === '/' ? 200 : 404, json: {} }
    if (method === 'DELETE') return { status: states.delete(id) ? 204 : 404 }
    if (method === 'POST' && needsReason && text === '{}') return { status: 422, json: {} }
    if (method === 'POST' && states.get(id) !== 'open' && !(closesAgain && action === 'closing'))
      return { status: refusal, json: {} }
    if (method === 'POST') states.set(id, closed)
    return { status: 200, json: show(id, caller) }
  }
}

const passes = ['A4.11 pass', 'A7.11 pass']
const cases: readonly (readonly [says: string, habits: Habits, verdicts: readonly string[]])[] = [
  ['no caller has to authenticate', {}, passes],
  ['the creator of an item may not act on it', { creator: 'ann', actor: 'bob' }, passes],
  ['only one item can exist, and the run created it', { itemsMax: 1 }, passes],
  ['one action may be repeated, another may not', { closesAgain: true }, passes],
  [
    'broken: an action of another caller changes nothing',
    { creator: 'ann', actor: 'bob', closed: 'open' },
    [
      'A4.11 fail: the action has changed the item',
      'A7.11 not applicable: the state still takes all that it offered before close',
    ],
  ],
  [
    'broken: 422 for the only item, whose state refuses the action',
    { itemsMax: 1, refusal: 422 },
    ['A4.11 pass', 'A7.11 fail: close in a state that does not offer it is answered 409, not 422'],
  ],
  [
    'broken: the action that may not be repeated is forbidden',
    { closesAgain: true, refusal: 403 },
    ['A4.11 pass', 'A7.11 fail: archive in a state that does not offer it is answered 409, not 403'],
  ],
  [
    'no caller is offered an action',
    { actor: 'nobody' },
    ['A4.11', 'A7.11'].map(
      id => `${id} not observable: a caller to whom the links of a new item of /notes offer an action: --caller`,
    ),
  ],
  [
    'no caller may create an item',
    { creator: 'ann', actor: 'bob', itemsMax: 0 },
    ['A4.11', 'A7.11'].map(id => `${id} not observable`),
  ],
  [
    'the action needs content that the schema does not describe',
    { needsReason: true },
    [
      'A4.11 not observable: content that the action takes: `samples` of the profile, under POST /notes/{id}/archive',
      'A7.11 not observable: an action that succeeds once: archive was answered 422',
    ],
  ],
]

describe('A4.11 A7.11 the verdicts on an action of an item', () => {
  for (const [says, habits, verdicts] of cases)
    it(says, async () => {
      const report = await checkSmall(createClosing(habits), ['A4.11', 'A7.11'], { callers: [ann, bob] })
      const told = listVerdicts(report)
      assert.deepEqual(habits.itemsMax === 0 ? told.map(each => each.replace(/:.*/, '')) : told, verdicts)
      assert.deepEqual(report.leftBehind, [])
      if (habits.itemsMax === 0)
        assert.match(told.join(), /POST \/notes by bob was answered 403; give a caller that may/)
    })
})
