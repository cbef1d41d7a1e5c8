/** A5: the identity of callers, and what they may do. */

import { connect } from 'node:tls'
import { parseChallenges } from '../../http/authorization.ts'
import type { CreatedItem } from '../bench.ts'
import type { CheckCaller } from '../discovered-service.ts'
import { createTemporaryItem, postDraft, readGuardedItem, sendStaleChange } from '../materials.ts'
import { linksIn } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { openProbeTunnel } from '../proxy-socket.ts'
import type { CheckRule } from '../rule.ts'
import { listProbeOperations, sendMessage } from '../soap-discovery.ts'
import { isAnswer } from '../soap-message.ts'
import type { Trial } from '../trial.ts'

const wrongBasic: CheckCaller = { name: 'a wrong password', fields: { authorization: 'Basic bm9ib2R5Ondyb25n' } }
const wrongBearer: CheckCaller = {
  name: 'a forged token',
  fields: { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
}

const misspellPassword = (name: string, password: string): CheckCaller => ({
  name: 'a known name and another password',
  fields: { authorization: `Basic ${Buffer.from(`${name}:${password}-wrong`).toString('base64')}` },
})

/**
 * Credentials without what their scheme needs, or with what it forbids (RFC 7617 §2, RFC 6750
 * §2.1).
 */
const malformedCredentials: readonly string[] = [
  'Basic',
  'Basic %%%',
  'Basic bm8tY29sb24=', // no-colon
  'Bearer',
  'Bearer a b',
  'no-such-scheme',
]

/** RFC 9110 §11.1: the scheme is case-insensitive. */
function changeCase(caller: CheckCaller | undefined): readonly CheckCaller[] {
  const [, scheme = '', credentials = ''] = /^(basic|bearer)( .*)$/i.exec(caller?.fields['authorization'] ?? '') ?? []
  return [scheme.toLowerCase(), scheme.toUpperCase()]
    .filter(each => each !== scheme)
    .map(each => ({ name: `the scheme ${each}`, fields: { authorization: each + credentials } }))
}

/** Whatever the response says about the change, a caller without credentials was admitted. */
async function expectGuardedChanges(trial: Trial): Promise<void> {
  const item = await createTemporaryItem(trial.bench)
  if ((await trial.send('GET', item.path)).status !== 401) return
  for (const method of ['DELETE', 'PUT', 'PATCH']) {
    const answer = await sendStaleChange(trial, item, method, undefined)
    if (answer.isSuccess || answer.status === 412 || answer.status === 422)
      trial.expect(false, `${method} without credentials is answered 401, not ${answer.status}`, answer)
  }
}

/** A message refused to an anonymous caller is refused to one whose credentials prove nothing. */
async function expectGuardedMessages(trial: Trial): Promise<void> {
  const probes = await listProbeOperations(trial.bench).catch(() => [])
  for (const { endpoint, operation, body } of probes.filter(({ as }) => as !== undefined))
    for (const as of [wrongBasic, wrongBearer]) {
      const refused = await sendMessage(trial.bench, endpoint, { body }, { as, action: operation.action })
      trial.expect(!isAnswer(refused), `a message with ${as.name} is refused`, refused)
    }
}

/** The response to the first change that the item supports, otherwise to the last one. */
async function tryChange(trial: Trial, item: CreatedItem, as: CheckCaller): Promise<ProbeExchange | undefined> {
  let answer: ProbeExchange | undefined
  for (const method of ['DELETE', 'PUT', 'PATCH']) {
    answer = await sendStaleChange(trial, item, method, as)
    if (answer.status !== 405) break
  }
  return answer
}

/** Links say what a caller may do; if they do not differ, callers may have equal rights. */
const offersLess = (one: ProbeExchange, other: ProbeExchange): boolean =>
  linksIn(other.json).some(({ rel }) => !linksIn(one.json).some(each => each.rel === rel))

export const accessRules: readonly CheckRule[] = [
  {
    id: 'A5.1',
    says: 'the caller’s identity travels in each request: `Authorization: Bearer`; also HTTP Basic over TLS, and cookies without hidden session state',
    how: 'the challenges of a 401 name Bearer or Basic; a caller is served by each request that carries credentials, in whatever case their scheme is, and sets no cookie',
    probe: async (trial: Trial) => {
      const { path, as, read } = await readGuardedItem(trial.bench)
      const anonymous = await trial.send('GET', path)
      // A cookie that every caller gets, such as a load balancer's, is not a session.
      const opened = cookiesOf(read).filter(name => !cookiesOf(anonymous).includes(name))
      trial.expect(opened.length === 0, 'credentials open no session', anonymous, read)
      for (const each of changeCase(as)) {
        const again = await trial.send('GET', path, { as: each })
        trial.expectStatus(again, [read.status], `a request with ${each.name}`)
      }
      const field = anonymous.fields['www-authenticate']
      if (field === undefined) return
      const schemes = (parseChallenges(field) ?? []).map(({ scheme }) => scheme.toLowerCase())
      const used = (as?.fields['authorization'] ?? '').split(' ')[0]?.toLowerCase() ?? ''
      if (used === '') return // an API key has no HTTP scheme
      trial.expect(schemes.includes(used), `the challenges name ${used}, which is accepted`, anonymous, read)
    },
  },
  {
    id: 'A5.2',
    says: 'authorization depends on identity, resource, operation and context: the same caller may GET and be refused DELETE',
    how: 'of the callers, one may GET a new item and is refused its DELETE, or another change where it has no DELETE',
    probe: async (trial: Trial) => {
      const item = await createTemporaryItem(trial.bench)
      const own = await trial.send('GET', item.path, { as: item.as })
      const lesser: ProbeExchange[] = []
      let isChangeable = false
      for (const as of trial.bench.callers.filter(each => each !== item.as)) {
        const get = await trial.send('GET', item.path, { as })
        const answer = get.isSuccess ? await tryChange(trial, item, as) : undefined
        if (!answer) continue
        isChangeable ||= answer.status !== 405
        if (answer.status === 403 || answer.status === 401)
          return trial.expect(true, `${as.name} may GET and is refused ${answer.request.method}`, get, answer)
        if (answer.status !== 405 && offersLess(get, own)) lesser.push(get, answer)
      }
      if (lesser.length > 0) trial.expect(false, 'a caller that is offered fewer changes is refused one', ...lesser)
      else if (isChangeable || trial.bench.callers.length < 2) trial.lack('a second caller with fewer rights: --caller')
      else trial.skip('no item can be changed: DELETE, PUT and PATCH are answered 405')
    },
  },
  {
    id: 'A5.3',
    says: 'missing or failed authentication → 401; a known caller refused → 403',
    how: 'GET of a guarded item without credentials, with a wrong password, with a forged token and with the name of a caller and another password: 401; with credentials that are malformed: 400 or 401; changes of a guarded item without credentials; messages of SOAP that need a caller, with the wrong password and the forged token',
    probe: async (trial: Trial) => {
      await expectGuardedMessages(trial)
      const { path, as: reader } = await readGuardedItem(trial.bench)
      for (const authorization of malformedCredentials) {
        const refused = await trial.send('GET', path, { fields: { authorization } })
        trial.expectStatus(refused, [401, 400], `Authorization: ${authorization}`)
      }
      // Last, and only once, since a service may count wrong passwords for a name.
      const named = reader?.password === undefined ? [] : [misspellPassword(reader.name, reader.password)]
      for (const as of [undefined, wrongBasic, wrongBearer, ...named]) {
        const refused = await trial.send('GET', path, { as })
        trial.expectStatus(refused, [401], as ? `a request with ${as.name}` : 'a request without credentials')
      }
      if (trial.bench.options.allowChanges) await expectGuardedChanges(trial)
    },
  },
  {
    id: 'A5.4',
    says: 'the channel can be protected with TLS',
    how: 'a TLS handshake with the address, of version 1.2 at least',
    probe: async (trial: Trial) => {
      const origin = new URL(trial.bench.transport.origin)
      if (origin.protocol !== 'https:') trial.lack('an https address')
      if (!trial.bench.transport.sendOctets) trial.lack('a socket')
      const version = await readTlsVersion(origin)
      trial.expect(
        version === 'TLSv1.3' || version === 'TLSv1.2',
        `the channel has ${version}`,
        trial.bench.service.entry,
      )
    },
  },
]

/** The names of the cookies that a response sets. */
const cookiesOf = ({ reply }: ProbeExchange): readonly string[] =>
  reply.lines.flatMap(([name, value]) => (/^set-cookie$/i.test(name) ? [value.split('=')[0] ?? ''] : []))

async function readTlsVersion(origin: URL): Promise<string> {
  const tunnel = await openProbeTunnel(origin)
  const to = tunnel ? { socket: tunnel } : { host: origin.hostname, port: Number(origin.port || 443) }
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect({ ...to, rejectUnauthorized: false }, () => {
    resolve(socket.getProtocol() ?? 'no TLS')
    socket.destroy()
  })
  socket.once('error', thrown => resolve(thrown.message))
  return promise
}

/** The responses to each caller that the service knows and refuses. */
export async function listRefusals(trial: Trial): Promise<readonly ProbeExchange[]> {
  const { collection, draft } = await createTemporaryItem(trial.bench)
  const refused: ProbeExchange[] = []
  for (const as of trial.bench.callers) {
    const read = await trial.send('GET', collection.path, { as })
    if (!read.isSuccess) continue
    // Content that cannot be accepted: if it is not refused, nothing is created.
    const posted = await postDraft(trial.bench, collection, { as, json: { ...(draft as object), '-': null } })
    if (posted.status === 401 || posted.status === 403) refused.push(posted)
  }
  return refused
}

/**
 * The refused changes to a new item that the service shows to a caller but not to everyone: so it
 * knows this caller.
 */
export async function listRefusedChanges(trial: Trial): Promise<readonly ProbeExchange[]> {
  const item = await createTemporaryItem(trial.bench)
  if ((await trial.send('GET', item.path)).isSuccess) return []
  const refused: ProbeExchange[] = []
  for (const as of trial.bench.callers.filter(each => each !== item.as)) {
    if (!(await trial.send('GET', item.path, { as })).isSuccess) continue
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await sendStaleChange(trial, item, method, as)
      if (answer.status === 401 || answer.status === 403) refused.push(answer)
    }
  }
  return refused
}
