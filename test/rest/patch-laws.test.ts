/** What a PATCH does to an item is what the PUT of its result does to the item's twin. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/base/objects.ts'
import { implement } from '../../src/contract/implement.ts'
import { parseJson, writeJson } from '../../src/http/json.ts'
import { applyJsonPatch, applyMergePatch } from '../../src/http/json-patch.ts'
import { writePointer } from '../../src/http/json-pointer.ts'
import { startTestService } from '../../src/testing/index.ts'
import { describeThings, randomFields } from '../service/random-things.ts'
import { rowOf } from '../soap/values.ts'

const mergeType = 'application/merge-patch+json'
const patchType = 'application/json-patch+json'

interface Patch {
  readonly type: string
  readonly content: Json
}
interface Found {
  readonly tag: string
  readonly json: JsonObject
}

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/** Pointers to each value, to the end of each list, and to a member that may be unknown. */
function listPointers(json: Json, at: readonly string[] = []): readonly string[] {
  const inner = typeof json === 'object' && json !== null ? Object.entries(json) : []
  const ends = Array.isArray(json) ? ['-', String(json.length)] : isObject(json) ? ['name', 'kind'] : []
  return [
    writePointer(at),
    ...ends.map(end => writePointer([...at, end])),
    ...inner.flatMap(([key, each]) => listPointers(each as Json, [...at, key])),
  ]
}

/** Parts of another item, with null for some of its members. */
const mergePatches = (other: JsonObject): fc.Arbitrary<Patch> =>
  fc.subarray(Object.keys(other)).chain(names =>
    fc.array(fc.boolean(), { minLength: names.length, maxLength: names.length }).map(kept => ({
      type: mergeType,
      content: Object.fromEntries(names.map((name, i) => [name, kept[i] ? (other[name] ?? null) : null])),
    })),
  )

function jsonPatches(item: JsonObject, other: JsonObject): fc.Arbitrary<Patch> {
  const path = fc.constantFrom(...listPointers(item), '/constructor', '/__proto__/x', '/_created')
  const value = fc.constantFrom<Json>(...Object.values(other), ...Object.values(item), null, 'a', 1, [], {})
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value }),
    fc.record({ op: fc.constant('remove'), path }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }),
  )
  return fc.array(operation, { minLength: 1, maxLength: 3 }).map(content => ({ type: patchType, content }))
}

const address = (id: string): string => `http://service.test/api/things/${id}`

async function find(ask: typeof fetch, id: string): Promise<Found> {
  const found = await ask(address(id))
  const { value } = parseJson(await found.text())
  assert.ok(isObject(value))
  const { _links: _, ...json } = value
  return { tag: found.headers.get('etag') ?? '', json }
}

const send = (ask: typeof fetch, method: string, id: string, type: string, content: Json): Promise<Response> =>
  ask(address(id), { method, headers: { 'content-type': type, 'if-match': '*' }, body: writeJson(content) })

/** Undefined: the patch does not fit the item, or is none. */
function patchedBy({ type, content }: Patch, item: JsonObject): Json | undefined {
  return type === mergeType ? applyMergePatch(item, content) : applyJsonPatch(item, content).value
}

async function requireSameEffect(ask: typeof fetch, [id, twin]: readonly [string, string], patch: Patch) {
  const before = await find(ask, id)
  const { status } = await send(ask, 'PATCH', id, patch.type, patch.content)
  const after = await find(ask, id)
  const shown = `${writeJson(patch.content)} of ${writeJson(before.json)}`
  if (status !== 200) assert.deepEqual(after, before, `a refusal changes nothing: ${shown}`)
  const made = patchedBy(patch, before.json)
  if (made === undefined) return assert.ok(status === 409 || status === 400, `${status}: ${shown}`)
  if (!isObject(made) || !Object.hasOwn(made, 'id')) return assert.equal(status, 422, `id is read-only: ${shown}`)
  const put = await send(ask, 'PUT', twin, 'application/json', made['id'] === id ? { ...made, id: twin } : made)
  assert.equal(status, put.status, shown)
  assert.deepEqual({ ...(await find(ask, twin)).json, id }, after.json, shown)
  assert.equal(after.tag === before.tag, writeJson(after.json) === writeJson(before.json), `the tag: ${shown}`)
}

test('RFC 5789 §2 a PATCH has the effect of the PUT of its result, or none', async () => {
  const property = fc.asyncProperty(randomFields, fc.integer({ min: 1 }), async (fields, seed) => {
    const values = rowOf(fields)
    if (!values) return
    const contract = describeThings(fields)
    await using world = await startTestService(contract, implement(contract, {}, {}))
    const ask = world.fetchAs()
    const { things } = world.soap() as unknown as { things: { create(value: object): Promise<{ id: string }> } }
    const [value = {}, another = {}] = fc.sample(values, { numRuns: 2, seed })
    const made = [value, value, another].map(each => things.create(each))
    const [{ id }, { id: twin }, { id: third }] = (await Promise.all(made)) as [Item, Item, Item]
    const { id: _, ...other } = (await find(ask, third)).json
    for (let round = 0; round < 6; round++) {
      const { json } = await find(ask, id)
      const [patch] = fc.sample(fc.oneof(mergePatches(other), jsonPatches(json, other)), {
        numRuns: 1,
        seed: seed + round,
      })
      if (patch) await requireSameEffect(ask, [id, twin], patch)
      world.clock.advance({ seconds: 10 })
    }
    assert.deepEqual(world.incidents, [])
  })
  await fc.assert(property, { numRuns: 40 })
})
interface Item {
  readonly id: string
}
