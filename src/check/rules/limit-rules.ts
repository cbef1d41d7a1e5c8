/** A8, A9, B8 and C6: limits, versions, and additions to requests. */

import { parseRateLimitPolicy } from '../../http/rate-limit.ts'
import type { Bench } from '../bench.ts'
import type { CheckCaller } from '../discovered-service.ts'
import { schemaOfContent, versionOfPath } from '../discovery.ts'
import { createTemporaryItem, currentMatch, isOfTemplate, readSomeItem } from '../materials.ts'
import { asText, memberAt } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import type { CheckRule } from '../rule.ts'
import { toDraft } from '../schema-sample.ts'
import { listProbeOperations } from '../soap-discovery.ts'
import { readSoapMessage, soapFields } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { isVendorType, listedTypes } from './interface-rules.ts'
import { expectRestKept } from './release-checks.ts'

interface LimitTrial {
  readonly sent: readonly ProbeExchange[]
  readonly other: ProbeExchange | undefined
}

/** Sends the request of the profile once more than its limit allows, and once as another caller. */
const exceedLimit = (bench: Bench): Promise<LimitTrial | undefined> =>
  bench.once('limit', async () => {
    const { limit } = bench.profile
    if (!limit) return undefined
    const send = (as: CheckCaller | undefined): Promise<ProbeExchange> =>
      bench.send(limit.method, limit.path, {
        as,
        expectsLimit: true,
        ...(limit.content !== undefined && { json: limit.content }),
      })
    const [one, two] = bench.callers
    const sent: ProbeExchange[] = []
    bench.addLeft(`what up to ${limit.count} requests ${limit.method} ${limit.path} have made`)
    while (sent.length <= limit.count && sent.at(-1)?.status !== 429) sent.push(await send(one))
    return { sent, other: two && (await send(two)) }
  })

const oneTebibyte = 2 ** 40

export const limitRules: readonly CheckRule[] = [
  {
    id: 'A8.1',
    says: 'over the caller’s limit → 429 with Retry-After',
    how: 'the request of the profile, once more often than its limit allows, is answered 429; another caller is still served',
    probe: async (trial: Trial) => {
      const flood = await exceedLimit(trial.bench)
      if (!flood) trial.lack('a request with a small limit: `limit` of the profile')
      const [last] = flood.sent.slice(-1)
      if (last) trial.expectStatus(last, [429], `request ${flood.sent.length} of a caller`)
      if (flood.other) trial.expect(flood.other.status !== 429, 'the limit is of one caller', flood.other)
    },
  },
  {
    id: 'A8.2',
    says: 'methods and resources may carry different rate policies',
    how: 'RateLimit-Policy of reads and of changes names more than one policy',
    isPassive: true,
    probe: (trial: Trial) => {
      const named = trial.bench.exchanges.filter(({ fields }) => fields['ratelimit-policy'] !== undefined)
      const policies = new Set(
        named.flatMap(({ fields }) =>
          parseRateLimitPolicy(fields['ratelimit-policy'] ?? '').map(each => JSON.stringify(each)),
        ),
      )
      if (policies.size === 0) trial.lack('the policies: no response has RateLimit-Policy')
      if (!trial.bench.options.allowChanges)
        trial.lack('permission to change the service, since reads alone have one policy: --allow-changes')
      trial.expect(policies.size > 1, 'there is more than one policy', ...named.slice(0, 1), ...named.slice(-1))
    },
  },
  {
    id: 'A8.3',
    says: 'request size is limited',
    how: 'a POST that announces a tebibyte and waits for 100 (Continue) is answered 413',
    probe: async (trial: Trial) => {
      const { collection, as } = await createTemporaryItem(trial.bench)
      const fields = { 'content-type': 'application/json' }
      const refused = await trial.send('POST', collection.path, { as, fields, announcedOctets: oneTebibyte })
      trial.expectStatus(refused, [413], 'an announced tebibyte')
    },
  },
  {
    id: 'A9.1',
    says: 'URI versioning: `/api/v{n}/{collection}`',
    how: 'a collection under each version that the description has for it; PUT of a new item through each other version, with what GET gives there, is not answered as a fault of the service',
    probe: async (trial: Trial) => {
      const { collections, paths } = trial.bench.service
      const versions = listVersions(trial.bench)
      const placed = versions.flatMap(version => {
        // A version may add and omit collections.
        const inVersion = collections.map(each => ({ ...each, path: versionedPath(each.path, version) }))
        return inVersion.find(each => paths.some(({ path }) => path === each.path)) ?? []
      })
      if (placed.length === 0) trial.skip('no path of a collection has a version')
      for (const { path, reader } of placed)
        trial.expectStatus(await trial.send('GET', path, { as: reader }), [200], `GET of ${path}`)
      if (trial.bench.options.allowChanges) await putThroughVersions(trial)
    },
  },
  {
    id: 'A9.2',
    says: 'media-type versioning: Accept with a vendor type that names the version and ends in `+json`',
    how: 'GET of an item with the vendor type that the description lists',
    probe: async (trial: Trial) => {
      const { path, as, collection } = await readSomeItem(trial.bench)
      const types = listedTypes(trial, collection.itemPath?.operations['GET']).filter(isVendorType)
      if (types.length === 0) trial.skip('the description lists no vendor type that names a version')
      for (const accept of types) {
        const read = await trial.send('GET', path, { as, fields: { accept } })
        trial.expect(read.status === 200 && read.mediaType === accept, `Accept: ${accept} gives that type`, read)
      }
    },
  },
  {
    id: 'A9.3',
    says: 'a resource keeps its URI and identifier when its representation changes; compatible change adds optional fields',
    how: 'an item has the same identifier in each version that is served',
    probe: async (trial: Trial) => {
      const { path, as, read } = await readSomeItem(trial.bench)
      const versions = listVersions(trial.bench).filter(version => version !== versionOfPath(path))
      if (versions.length === 0)
        trial.lack('a second version of the service, or the same service before its last change')
      for (const version of versions) {
        const other = await trial.send('GET', versionedPath(path, version), { as })
        if (other.isSuccess)
          trial.expect(
            asText(memberAt(other.json, 'id')) === asText(memberAt(read.json, 'id')),
            `${version} has the same identifier`,
            read,
            other,
          )
      }
    },
  },
  {
    id: 'A9.4',
    says: 'breaking changes (a URI changed, a mandatory field added, a workflow assumption) are found before release',
    how: 'the OpenAPI document removes nothing that callers of an earlier release (--before) rely on, and demands nothing more of them',
    probe: expectRestKept,
  },
  {
    id: 'B8.1',
    says: 'request size is limited',
    how: 'a POST to each endpoint that announces a tebibyte and waits for 100 (Continue) is answered 413, or with a Fault of the sender',
    probe: async (trial: Trial) => {
      for (const { endpoint, as, operation } of await listProbeOperations(trial.bench)) {
        const fields = soapFields(endpoint.words, operation.action)
        const refused = await trial.send('POST', endpoint.path, {
          as,
          isSafe: true,
          fields,
          announcedOctets: oneTebibyte,
        })
        if (readSoapMessage(refused)?.fault?.code === endpoint.words.sender)
          trial.expect(true, `an announced tebibyte of SOAP ${endpoint.words.number} is refused with a Fault`, refused)
        else trial.expectStatus(refused, [413], `an announced tebibyte of SOAP ${endpoint.words.number}`)
      }
    },
  },
  {
    id: 'C6.1',
    says: 'webhooks, server-sent events, WebSockets, brokers are complements, never the only way to a state',
    how: 'not probed from outside: a check cannot know a state that no resource has',
    probe: (trial: Trial) => trial.lack('a list of the events that the service sends, with the resource of each'),
  },
]

/** A new item as the other versions represent it, written back there. */
async function putThroughVersions(trial: Trial): Promise<void> {
  const { bench } = trial
  const item = await createTemporaryItem(bench).catch(() => undefined)
  for (const version of listVersions(bench)) {
    if (!item || version === versionOfPath(item.path)) continue
    const path = versionedPath(item.path, version)
    const put = bench.service.paths.find(each => isOfTemplate(path, each.path))?.operations['PUT']
    const read = put && bench.mayChange(path) ? await trial.send('GET', path, { as: item.as }) : undefined
    if (!read?.isSuccess || read.json === undefined) continue
    const { openapi } = bench.service
    const json = toDraft(openapi, schemaOfContent(openapi, memberAt(put, 'requestBody')), read.json)
    const fields = await currentMatch(bench, path, item.as)
    const answer = await trial.send('PUT', path, { as: item.as, json, fields })
    trial.expect(answer.status < 500, `PUT through ${version} is answered ${answer.status}`, read, answer)
  }
}

const listVersions = ({ service }: Bench): readonly string[] => [
  ...new Set(service.paths.flatMap(({ path }) => versionOfPath(path) ?? [])),
]

const versionedPath = (path: string, version: string): string => path.replace(/\/v[0-9]+(?=\/)/, `/${version}`)
