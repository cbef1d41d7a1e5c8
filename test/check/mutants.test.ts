/**
 * Each rule can fail: for each, the orders service with that one promise broken. The checker names
 * the rule, and no other of its face.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createServer, type TlsOptions } from 'node:tls'
import {
  attackRules,
  type CheckRule,
  checkRules,
  createMemoryTransport,
  openLoopbackListener,
  openSocketTransport,
  type ProbeTransport,
  runCheck,
} from '../../src/check/index.ts'
import type { Response } from '../../src/http/message.ts'
import { issueCertificate } from '../client/issued.ts'
import { startHosted } from '../host/hosted-service.ts'
import { attackMutants, attackProfile, serveSignedMessages, wireMutants } from './attack-mutants.ts'
import { changing, isSoap, type Mutant, type Seen, status } from './mutation.ts'
import { earlier, ordersOptions, type Serve, serveOrdersInMemory, withOrdersInMemory } from './orders-in-memory.ts'
import { is12, ruleMutants } from './rule-mutants.ts'

const isFault = (seen: Seen): boolean => isSoap(seen) && /:Fault>/.test(seen.text)
/** What a standard allows and Diglot does not do. */
const variants: readonly Omit<Mutant, 'rule'>[] = [
  {
    breaks: 'a fault of the Sender has 400 in SOAP 1.2 (Part 2 Table 20)',
    make: () =>
      changing(
        seen => seen.status === 500 && isFault(seen) && is12(seen) && /Value>\w+:Sender</.test(seen.text),
        status(400),
      ),
  },
]

/** No run can judge these of the orders, whose messages declare no blocks: it says what each would need. */
const unjudged = ['A1.5', 'B2.5', 'B2.14', 'B4.9', 'B5.3', 'C6.1']

it('each rule has a mutant, except those that no run can judge', async () => {
  const broken = new Set([...ruleMutants.map(({ rule }) => rule), 'A5.4'])
  const others = checkRules.filter(({ id }) => !broken.has(id))
  assert.deepEqual(
    others.map(({ id }) => id),
    unjudged,
  )
  const transport = createMemoryTransport(await serveOrdersInMemory())
  const { verdicts } = await runCheck(transport, { ...ordersOptions, rules: others })
  assert.ok(verdicts.every(({ status }) => status === 'not observable'))
})

describe('A5.4 the channel', async () => {
  const issued = issueCertificate('127.0.0.1')
  const rules = checkRules.filter(({ id }) => id === 'A5.4')
  const serve = await serveOrdersInMemory()
  /** The service in memory, at an address whose channel is another. */
  const judge = async (options: TlsOptions) => {
    const server = createServer({ ...issued, ...options })
    server.on('tlsClientError', () => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const memory = createMemoryTransport(serve, { origin: `https://127.0.0.1:${port}` })
    const sendOctets = () => Promise.reject(new Error('nothing is sent there'))
    const { verdicts } = await runCheck({ ...memory, sendOctets }, { ...ordersOptions, rules })
    await new Promise(resolve => server.close(resolve))
    return verdicts.map(({ rule, status }) => `${rule.id} ${status}`)
  }
  const skip = issued === undefined && 'no openssl'

  it('passes with current TLS', { skip }, async () => assert.deepEqual(await judge({}), ['A5.4 pass']))
  it('fails with only TLS 1.1', { skip }, async () =>
    assert.deepEqual(await judge({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }), [
      'A5.4 fail',
    ]),
  )
})

const described = new Map<string, Response>()
/** The services are of one contract: what describes it is written once. */
const describingOnce =
  (serve: Serve): Serve =>
  async request => {
    const { method, target, fields } = request
    if (method !== 'GET' || !/\?(?:wsdl|xsd)|^\/openapi\.json$/.test(target)) return serve(request)
    const key = `${target} ${JSON.stringify(fields)}`
    const response = described.get(key) ?? (await serve(request))
    if (typeof response.content === 'string' || response.content instanceof Uint8Array) described.set(key, response)
    return response
  }

/** Descriptions that other mutants break break these as well. */
const isOfReleases = (rule: string): boolean => rule === 'A9.4' || rule === 'B9.2'

/** A rule of one face cannot fail by the other; those of what both share (C) are judged by all. */
const rulesBeside = (rule: string): readonly CheckRule[] => {
  const other = { A: 'B', B: 'A' }[rule[0] ?? '']
  return checkRules.filter(({ id }) => id[0] !== other)
}

/** Runs at once: each waits for a job most of its time. */
const together = 6

describe('each rule can fail without another of its face', () => {
  const failuresOf = ({ rule, make, profile }: Mutant): Promise<readonly string[]> => {
    const rules = rulesBeside(rule)
    const options = { ...ordersOptions, rules, ...(profile && { profile }), ...(isOfReleases(rule) && { earlier }) }
    return withOrdersInMemory(async serve => {
      const { verdicts } = await runCheck(createMemoryTransport(make()(describingOnce(serve))), options)
      return verdicts.filter(({ status }) => status === 'fail').map(({ rule, reason }) => `${rule.id}: ${reason}`)
    })
  }
  const runs = new Map<Mutant, Promise<readonly string[]>>()
  const startAhead = (from: number): void => {
    for (const [at, each] of ruleMutants.entries())
      if (at >= from && at < from + together && !runs.has(each)) runs.set(each, failuresOf(each))
  }
  for (const { breaks, make } of variants)
    it(`no rule fails where ${breaks}`, async () => {
      const { verdicts } = await runCheck(createMemoryTransport(make()(await serveOrdersInMemory())), ordersOptions)
      const failures = verdicts.filter(verdict => verdict.status === 'fail')
      assert.deepEqual(
        failures.map(({ rule, reason }) => `${rule.id}: ${reason}`),
        [],
      )
    })
  for (const [at, each] of ruleMutants.entries())
    it(`${each.rule} ${each.breaks}`, async () => {
      startAhead(at)
      const failures = (await runs.get(each)) ?? []
      assert.deepEqual(
        failures.filter(failure => !failure.startsWith(`${each.rule}: `)),
        [],
        'another rule fails, too',
      )
      assert.equal(failures.length, 1, 'no rule fails')
    })
})

describe('each attack can succeed, and only it is reported', { concurrency: 4 }, async () => {
  // A run needs a part of the limit that a caller has.
  const perService = 8
  const services = await Promise.all(
    Array.from({ length: Math.ceil(attackMutants.length / perService) + 1 }, () => serveOrdersInMemory()),
  )
  const options = { ...ordersOptions, profile: attackProfile, listen: openLoopbackListener }
  const failuresOf = async (transport: ProbeTransport, rules: readonly CheckRule[]): Promise<readonly string[]> => {
    const { verdicts } = await runCheck(transport, { ...options, rules })
    return verdicts.filter(({ status }) => status === 'fail').map(({ rule }) => rule.id)
  }
  const verdictsOf = async (transport: ProbeTransport, rules: readonly CheckRule[]) =>
    (await runCheck(transport, { ...options, rules })).verdicts.filter(({ status }) => status !== 'pass')

  it('in memory all pass, except those that need a socket', async () => {
    const serve = services.at(-1)
    assert.ok(serve)
    const others = await verdictsOf(createMemoryTransport(serveSignedMessages(serve)), attackRules)
    assert.deepEqual(
      others.map(({ rule, status }) => `${rule.id} ${status}`),
      wireMutants.map(({ rule }) => `${rule} not observable`),
    )
  })
  for (const [at, { rule, breaks, make }] of attackMutants.entries())
    it(`${rule} ${breaks}`, async () => {
      const serve = services[Math.floor(at / perService)]
      assert.ok(serve)
      const transport = createMemoryTransport(make()(serveSignedMessages(serve)))
      assert.deepEqual(await failuresOf(transport, attackRules), [rule])
    })

  it('each attack has a mutant', () => {
    const broken = new Set([...attackMutants, ...wireMutants].map(({ rule }) => rule))
    assert.deepEqual(
      attackRules.map(({ id }) => id).filter(id => !broken.has(id)),
      [],
    )
  })

  it('over a socket all pass, and each mutant of the wire is reported', async () => {
    const { server } = await startHosted()
    const transport = await openSocketTransport(server.url)
    const { converse } = transport
    assert.ok(converse)
    const overHttp = attackRules.filter(({ id }) => id.startsWith('D1.'))
    const found = await Promise.all([
      failuresOf(transport, overHttp),
      ...wireMutants.map(({ make }) => failuresOf({ ...transport, converse: make(converse) }, overHttp)),
    ])
    transport.close()
    assert.deepEqual(found, [[], ...wireMutants.map(({ rule }) => [rule])])
  })
})
