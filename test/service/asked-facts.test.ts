/** What a handler asks for is made only then, and no call gets a hidden class of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExchangeBasis } from '../../src/service/exchange-context.ts'
import { createContext } from '../../src/service/handler-context.ts'
import type { ContextFacts, StoreReach } from '../../src/service/handler-facts.ts'

const reach: StoreReach = {
  read: () => assert.fail('nothing is read'),
  write: () => assert.fail('nothing is written'),
}
function aboutOf(trace?: string) {
  let asked = 0
  const about = {
    app: { services: {}, contract: { resources: [], jobs: [] } },
    caller: { roles: [], claims: {} },
    now: 0,
    operation: 'Test',
    signal: () => {
      asked++
      return new AbortController().signal
    },
    ...(trace !== undefined && { trace: () => ({ traceparent: trace }) }),
  } as unknown as ContextFacts
  return { about, countAsked: () => asked }
}

for (const [name, create] of [
  ['a handler', (about: ContextFacts) => createContext(about, reach)],
  ['the handler of an exchange', (about: ContextFacts) => createExchangeBasis(about, reach, true)],
] as const) {
  test(`${name} gets its log, its signal and its trace when it reads them, also from a copy of its context`, () => {
    const { about, countAsked } = aboutOf('00-1')
    const ctx = create(about)
    assert.equal(countAsked(), 0)
    assert.ok(ctx.signal instanceof AbortSignal)
    assert.deepEqual([ctx.trace, create(aboutOf().about).trace], [{ traceparent: '00-1' }, {}])
    const copy = { ...ctx }
    assert.ok(copy.signal instanceof AbortSignal)
    assert.deepEqual([copy.trace, countAsked()], [{ traceparent: '00-1' }, 2])
  })

  test(`contexts of ${name} share their accessors, so a call is freed together with its short-lived objects`, () => {
    const accessorsOf = (ctx: object) =>
      Object.values(Object.getOwnPropertyDescriptors(ctx)).flatMap(each => each.get ?? [])
    const [one, other] = [create(aboutOf().about), create(aboutOf().about)].map(accessorsOf)
    assert.equal(one?.length, 3)
    assert.ok(one.every((each, i) => each === other?.[i]))
  })
}
