/** D2: what attackers send to a REST interface. Each is small, and removed again if accepted. */
import { encodeBase64Url } from '../../base/base64.ts'
import { writeJson } from '../../http/json.ts'
import { parametersOf, schemaOfContent } from '../discovery.ts'
import { createTemporaryItem, postDraft, readGuardedItem, readSomeItem } from '../materials.ts'
import { asRecord, asText, type Json, memberAt } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import type { CheckRule } from '../rule.ts'
import { resolveSchema } from '../schema-sample.ts'
import type { Trial } from '../trial.ts'

const injections: readonly string[] = [`'"`, `') OR 1=1--`, '{"$ne":null}', '9e999', '-1', '{{7*7}}', '\u0000']
const taint = 'probeTainted7f3a'
const levels = 5000
const digits = 100_000
const foreign = 'probe-7f3a'
const asJson = { 'content-type': 'application/json' }

function expectCalm(trial: Trial, subject: string, exchange: ProbeExchange): void {
  const isCalm = exchange.status < 500
  trial.expect(isCalm, `${subject} is not a failure of the service${isCalm ? '' : `: ${exchange.status}`}`, exchange)
}

export const contentAttacks: readonly CheckRule[] = [
  {
    id: 'D2.1',
    says: 'values of a query that attack a database, a template or a number break nothing',
    how: 'GET of a collection with quotes, SQL, operators, a template and odd numbers in each parameter of its description, and in page: none is answered 5xx',
    probe: async (trial: Trial) => {
      const { collection, as } = await readSomeItem(trial.bench)
      const described = parametersOf(trial.bench.service.openapi, collection.operations['GET'])
      const names = described.filter(each => each['in'] === 'query').flatMap(each => asText(each['name']) ?? [])
      for (const name of new Set([...names.slice(0, 8), 'page']))
        for (const value of injections) {
          const target = `${collection.path}?${encodeURIComponent(name)}=${encodeURIComponent(value)}`
          expectCalm(trial, `${name}=${JSON.stringify(value)}`, await trial.send('GET', target, { as }))
        }
    },
  },
  {
    id: 'D2.2',
    says: 'a token without a signature, or with an empty key, proves nothing (RFC 8725 §3.2)',
    how: 'GET of a guarded item with tokens that name a caller, with the algorithm none and with an empty signature',
    probe: async (trial: Trial) => {
      const { path, as } = await readGuardedItem(trial.bench)
      for (const alg of ['none', 'None', 'HS256']) {
        const token = `${encodeToken({ alg, typ: 'JWT' })}.${encodeToken({ sub: as?.name ?? 'admin', exp: 4_000_000_000 })}.`
        const read = await trial.send('GET', path, { fields: { authorization: `Bearer ${token}` } })
        trial.expect(!read.isSuccess, `a token with the algorithm ${alg} and no signature is refused`, read)
      }
    },
  },
  {
    id: 'D2.3',
    says: 'JSON that exhausts a parser is refused quickly',
    how: `POST of ${levels} levels, and of a number with ${digits} digits: neither is answered 5xx, nor accepted`,
    probe: async (trial: Trial) => {
      const { collection, as, draft } = await createTemporaryItem(trial.bench)
      const [name = 'probe'] = Object.keys(asRecord(draft))
      const contents = [
        ['deep JSON', '['.repeat(levels) + ']'.repeat(levels)],
        ['a long number', '9'.repeat(digits)],
      ] as const
      for (const [subject, value] of contents) {
        const content = writeJson({ ...asRecord(draft), [name]: null }).replace(
          `${JSON.stringify(name)}:null`,
          () => `${JSON.stringify(name)}:${value}`,
        )
        const posted = await postDraft(trial.bench, collection, { as, content, fields: asJson })
        expectCalm(trial, subject, posted)
        trial.expect(!posted.isSuccess, `${subject} is refused`, posted)
      }
    },
  },
  {
    id: 'D2.4',
    says: 'a member named __proto__ or constructor changes nothing but itself',
    how: 'POST of a copy of an item with such members; then GET of another item, and of the collection',
    probe: async (trial: Trial) => {
      const { collection, as, draft } = await createTemporaryItem(trial.bench)
      const start = writeJson(draft).replace(/\}$/, Object.keys(asRecord(draft)).length > 0 ? ',' : '')
      for (const member of [`"__proto__":{"${taint}":1}`, `"constructor":{"prototype":{"${taint}":1}}`]) {
        const content = `${start}${member}}`
        expectCalm(trial, member, await postDraft(trial.bench, collection, { as, content, fields: asJson }))
        const item = await readSomeItem(trial.bench)
        for (const path of [item.path, item.collection.path]) {
          const read = await trial.send('GET', path, { as: item.as })
          trial.expect(!read.text.includes(taint), `${path} is not tainted`, read)
        }
      }
    },
  },
  {
    id: 'D2.5',
    says: 'members that the server sets cannot be assigned by a client',
    how: 'POST of a copy of an item with each read-only member of the description, one at a time: refused, or created without that value',
    probe: async (trial: Trial) => {
      const { collection, as, draft } = await createTemporaryItem(trial.bench)
      const { openapi } = trial.bench.service
      const schema = schemaOfContent(openapi, memberAt(collection.operations['POST'], 'requestBody'))
      const shown = schemaOfContent(openapi, memberAt(collection.itemPath?.operations['GET'], 'responses', '200'))
      const members = { ...asRecord(schema?.['properties']), ...asRecord(shown?.['properties']) }
      const readOnly = Object.entries(members).filter(
        ([, given]) => resolveSchema(openapi ?? {}, given)['readOnly'] === true,
      )
      if (readOnly.length === 0) trial.skip('the description has no read-only member')
      for (const [name, given] of readOnly.slice(0, 8)) {
        const { type } = resolveSchema(openapi ?? {}, given)
        const value: Json = type === 'integer' || type === 'number' ? 7_777_777 : foreign
        const json = { ...asRecord(draft), [name]: value }
        const posted = await postDraft(trial.bench, collection, { as, json })
        const isAssigned = posted.isSuccess && memberAt(posted.json, name) === value
        trial.expect(!isAssigned, `${name} is not what a client says`, posted)
        expectCalm(trial, `a new item with ${name}`, posted)
      }
    },
  },
]

const encodeToken = (part: Json): string => encodeBase64Url(new TextEncoder().encode(JSON.stringify(part)))
