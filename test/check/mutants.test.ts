/**
 * Each rule can fail: for each, the orders service with that one promise broken. The checker names
 * the rule, and no other.
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
  Unreachable,
} from '../../src/check/index.ts'
import { contentOf, type HttpFields } from '../../src/http/message.ts'
import { issueCertificate } from '../client/issued.ts'
import { startHosted } from '../host/hosted-service.ts'
import { attackMutants, attackProfile, ending, serveSignedMessages, wireMutants } from './attack-mutants.ts'
import {
  acceptedInstead,
  changing,
  content,
  is11,
  isAccepted,
  isSoap,
  json,
  type Mutant,
  type Mutation,
  mutant,
  receiving,
  type Seen,
  sends,
  sentText,
  status,
  text,
  withField,
  withoutField,
  writeEnvelope,
} from './mutation.ts'
import { ordersOptions, serveOrdersInMemory } from './orders-in-memory.ts'

const ok = ({ status }: Seen): boolean => status === 200
const get =
  (path: RegExp) =>
  (seen: Seen): boolean =>
    seen.method === 'GET' && path.test(seen.path)
const item = /^\/api\/v2\/[a-z]+\/[^/]+$/
const orderItem = /^\/api\/v2\/orders\/[^/]+$/
const ordersPage = /^\/api\/v2\/orders$/
const isOf = (seen: Seen, method: string, path: RegExp): boolean => seen.method === method && path.test(seen.path)
const is12 = ({ sent }: Seen): boolean => sent.includes('2003/05/soap-envelope')
const isPackage = ({ fields }: Seen): boolean => /^multipart/.test(fields['content-type'] ?? '')
const isRefused = ({ status }: Seen): boolean => status === 500
/** The code becomes that of a message that is at fault. */
const plainFault = (from: RegExp) => (seen: Seen) =>
  text(given => given.replace(from, /Envelope xmlns:\w+="http:..schemas/.test(seen.text) ? ':Client<' : ':Sender<'))(
    seen,
  )
const code = (from: RegExp, to: string) => text(given => given.replace(from, to))
/** Counts what a mutant has seen, by key. */
const counter = () => {
  const counts = new Map<string, number>()
  return (key: string): number => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return counts.get(key) ?? 0
  }
}

const isProblem = ({ response, text: shown }: Seen): boolean =>
  response.fields['content-type'] === 'application/problem+json' && shown !== ''
const omitted = (fields: HttpFields, name: string): HttpFields =>
  Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
const basicOf = (name: string): string => `Basic ${Buffer.from(`${name}:${name}-secret`).toString('base64')}`
/** A fault in place of an answer, in the version of the request, or of this one. */
const faulty = (code12: string, code11: string, version = '') => [
  status(500),
  (seen: Seen) => {
    const as = version === '' ? seen : { ...seen, sent: '2003/05/soap-envelope' }
    const fault = is11(as)
      ? `<s:Fault><faultcode>s:${code11}</faultcode><faultstring>no</faultstring></s:Fault>`
      : `<s:Fault><s:Code><s:Value>s:${code12}</s:Value></s:Code><s:Reason><s:Text xml:lang="en">no</s:Text></s:Reason></s:Fault>`
    return content(writeEnvelope(as, fault))(seen)
  },
]
/** A change with this content is answered as a success, and is none. */
const unchanging =
  (method: string, sent: RegExp): Mutation =>
  serve =>
  async request => {
    if (request.method !== method || request.fields['expect'] !== undefined) return serve(request)
    const given = await sentText(request)
    if (!sent.test(given) || !/x"/.test(given)) return serve({ ...request, content: contentOf(given) })
    const fields = omitted(omitted(omitted(request.fields, 'if-match'), 'content-type'), 'content-length')
    return serve({ ...request, method: 'GET', fields, content: contentOf('') })
  }

const mutants: readonly Mutant[] = [
  mutant(
    'A1.1',
    'HTTP/2 finds no item',
    () => serve => request => serve(request.version === '2' ? { ...request, target: '/api/v2/nothing' } : request),
  ),
  mutant('A1.2', 'a session cookie changes what is answered', () =>
    changing(
      seen => get(item)(seen) && seen.fields['cookie'] !== undefined && ok(seen),
      json(value => ({ ...value, session: 1 })),
    ),
  ),
  mutant('A1.3', 'a collection says nothing of caching', () =>
    changing(get(ordersPage), withoutField('cache-control')),
  ),
  mutant('A1.4', 'the entry has a link to nothing', () =>
    changing(
      get(/^\/$/),
      json(value => ({ ...value, _links: { ...value._links, related: { href: '/api/v2/nowhere' } } })),
    ),
  ),
  mutant('A1.6', 'XML comes as JSON', () =>
    changing(
      seen => get(item)(seen) && seen.fields['accept'] === 'application/xml' && ok(seen),
      withField('content-type', 'application/json'),
    ),
  ),
  mutant('A1.7', 'TRACE makes a new version', () => {
    let before: readonly string[] = []
    return changing(
      seen => {
        const [first, second] = before
        before = [second ?? '', `${seen.method} ${seen.path}`]
        return first === `TRACE ${seen.path}` && second === `GET ${seen.path}` && isOf(seen, 'GET', item)
      },
      withField('etag', '"traced"'),
    )
  }),
  mutant('A1.8', 'a repeated DELETE is a conflict', () => {
    const count = counter()
    return changing(
      seen =>
        seen.method === 'DELETE' &&
        !/no-such/.test(seen.fields['if-match'] ?? '') &&
        item.test(seen.path) &&
        count(seen.path) === 2,
      status(409),
    )
  }),
  mutant('A1.9', 'a path is a verb', () =>
    changing(
      get(/openapi/),
      json(value => ({ ...value, paths: { ...value.paths, '/api/v2/getOrders': { get: { responses: {} } } } })),
    ),
  ),
  mutant('A1.10', 'an item that does not exist is a success with an error in it', () =>
    changing(seen => get(/no-such-item/)(seen) && seen.fields['accept'] === undefined, status(200)),
  ),
  mutant('A2.1', 'the row shows through', () =>
    changing(
      seen => get(item)(seen) && ok(seen) && isJson(seen),
      json(value => ({ ...value, _rowVersion: 3 })),
    ),
  ),
  mutant('A2.1', 'an item lacks what its schema requires', () =>
    changing(
      seen => get(/^\/api\/v2\/customers$/)(seen) && ok(seen) && isJson(seen),
      json(page => ({ ...page, items: page.items.map(({ name: _, ...each }: { name: string }) => each) })),
    ),
  ),
  mutant('A2.2', 'a link is a text', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      json(value => ({ ...value, _links: { ...value._links, related: '/api' } })),
    ),
  ),
  mutant('A2.3', 'a collection does not link to itself', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      json(value => {
        const { self: _, ...links } = value._links
        return { ...value, _links: links }
      }),
    ),
  ),
  mutant('A2.4', 'a template does not end', () =>
    changing(
      get(/^\/$/),
      text(given => given.replace('{?q,', '{q{?')),
    ),
  ),
  mutant('A2.5', 'a problem has no title', () =>
    changing(
      seen => get(/no-such-item/)(seen) && isJson(seen),
      json(({ title: _, ...rest }) => rest),
    ),
  ),
  mutant('A3.1', 'a job is a plain success', () =>
    changing(seen => isOf(seen, 'POST', /reports$/) && seen.status === 202, status(200)),
  ),
  mutant('A3.2', 'a running job is answered 202', () =>
    changing(seen => get(/\/jobs\//)(seen) && /queued|running/.test(seen.text), status(202)),
  ),
  mutant('A3.3', 'a completed job is answered 202', () =>
    changing(seen => get(/\/jobs\//)(seen) && /"completed"/.test(seen.text), status(202)),
  ),
  mutant('A3.4', 'items have the same links in every state', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      json(value => ({
        ...value,
        items: value.items.map((each: { _links: object; id: string }) => ({
          ...each,
          _links: { self: { href: `/api/v2/orders/${each.id}` } },
        })),
      })),
    ),
  ),
  mutant('A4.1', 'a page does not lead back', () =>
    changing(
      seen => get(/^\/api\/v2\/[a-z]+$/)(seen) && ok(seen) && isJson(seen),
      json(value => {
        const { previous: _, ...links } = value._links
        return { ...value, _links: links }
      }),
    ),
  ),
  mutant('A4.2', 'a new item is a plain success', () =>
    changing(
      seen => isOf(seen, 'POST', /^\/api\/v2\/(orders|products|customers)$/) && seen.status === 201,
      status(200),
    ),
  ),
  mutant('A4.3', 'a list of entity tags is not read', () =>
    receiving(request => ({
      fields: (request.fields['if-none-match'] ?? '').includes(', ')
        ? without(request.fields, 'if-none-match')
        : request.fields,
    })),
  ),
  mutant('A4.4', 'a repeated PUT is a conflict', () => {
    const count = counter()
    return changing(seen => seen.method === 'PUT' && seen.status === 200 && count(seen.path) === 2, status(409))
  }),
  mutant('A4.5', 'OPTIONS does not say which patches', () =>
    changing(seen => seen.method === 'OPTIONS', withoutField('accept-patch')),
  ),
  mutant('A4.6', 'what was removed is still read', () => {
    const removed = new Set<string>()
    return changing(
      seen => {
        if (seen.method === 'DELETE' && seen.status === 204) removed.add(seen.path)
        return isOf(seen, 'GET', item) && removed.has(seen.path) && (seen.status === 410 || seen.status === 404)
      },
      status(200),
      content('{}'),
      withField('content-type', 'application/ld+json'), // of which the description says nothing
    )
  }),
  mutant('A4.7', 'bulk removal is refused', () =>
    changing(seen => seen.method === 'DELETE' && seen.query !== '' && seen.status === 200, status(409)),
  ),
  mutant('A4.8', 'HEAD has no entity tag', () => changing(seen => seen.method === 'HEAD', withoutField('etag'))),
  mutant('A4.9', 'Allow has every method, whatever the target', () =>
    changing(
      seen => (seen.method === 'OPTIONS' && seen.status < 300) || seen.status === 405,
      withField('allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE'),
    ),
  ),
  mutant('A4.9', 'Allow of a collection has methods that it refuses', () =>
    changing(
      seen =>
        (seen.method === 'OPTIONS' || seen.status === 405) &&
        /^\/api\/v2\/(orders|products|customers)$/.test(seen.path),
      withField('allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'),
    ),
  ),
  mutant('A4.9', 'OPTIONS has no Allow', () => changing(seen => isOf(seen, 'OPTIONS', item), withoutField('allow'))),
  mutant('A4.10', 'a part of an item is not found', () =>
    changing(get(/\/tracking$|\/customers\/[^/]+\/orders$/), status(404)),
  ),
  mutant('A4.11', 'an action is not found', () =>
    changing(seen => isOf(seen, 'POST', /\/cancellation$/) && seen.status === 200, status(404)),
  ),
  mutant('A4.12', 'a search is a plain success', () =>
    changing(seen => isOf(seen, 'POST', /searches$/) && seen.status === 201, status(200)),
  ),
  mutant('A4.13', 'a search has no results', () =>
    changing(
      get(/searches\/[^/]+$/),
      json(({ items: _, ...rest }) => rest),
      withField('content-type', 'application/ld+json'), // of which the description says nothing
    ),
  ),
  mutant('A4.14', 'GET of /search is not found', () =>
    changing(seen => get(/\/search$/)(seen) && ok(seen), status(404)),
  ),
  mutant('A4.15', 'a job is not among jobs', () => serve => async request => {
    const target = request.target.replace('/reports/tasks/', '/reports/jobs/')
    const response = await serve({ ...request, target })
    const location = String(response.fields['location'] ?? '').replace('/reports/jobs/', '/reports/tasks/')
    return response.status === 202 ? { ...response, fields: { ...response.fields, location } } : response
  }),
  mutant('A4.16', 'every identifier is a job', () =>
    changing(
      get(/no-such-job/),
      status(200),
      content('{"state":"completed"}'),
      withField('content-type', 'application/ld+json'), // of which the description says nothing
    ),
  ),
  mutant('A4.17', 'an unknown type of content is a bad request', () =>
    changing(seen => seen.status === 415 && !isSoap(seen), status(400)),
  ),
  mutant('A4.18', 'a coding is applied and not named', () =>
    changing(seen => seen.fields['accept-encoding'] === 'gzip', withoutField('content-encoding')),
  ),
  mutant('A4.19', 'Vary does not name Accept', () => changing(get(orderItem), withField('vary', 'Accept-Encoding'))),
  mutant('A4.20', 'a stale change is a conflict', () =>
    changing(seen => seen.status === 412 && seen.fields['if-none-match'] === undefined, status(409)),
  ),
  mutant('A4.21', 'Location names another item', () =>
    changing(
      seen => isOf(seen, 'POST', /^\/api\/v2\/(orders|products|customers)$/) && seen.status === 201,
      seen => withField('location', `${seen.path}/${seen.path.replace(/.*\/(.).*/, '$1')}-1`)(seen),
    ),
  ),
  mutant('A4.22', 'a 429 has no Retry-After', () => changing(seen => seen.status === 429, withoutField('retry-after'))),
  mutant('A4.23', 'a filter selects everything', () =>
    receiving(request => ({
      target: request.target.replace(/^(\/api\/v2\/\w+)\?(?!sort|fields|cursor|page|size|id|q)\w+=[^&]*$/, '$1'),
    })),
  ),
  mutant('A4.23', 'of two filters the second is ignored', () =>
    receiving(request => ({
      target: request.target.replace(
        /^(\/api\/v2\/\w+\?(?!sort|size|cursor)[a-z]+=[^&]*)&(?!size|cursor|sort|page|fields).*$/,
        '$1',
      ),
    })),
  ),
  mutant('A4.23', 'a filter that nothing matches is ignored', () => serve => async request => {
    const response = await serve(request)
    if (
      request.method !== 'GET' ||
      !/^\/api\/v2\/\w+\?(?!sort|fields|cursor|page|size|id|q)\w+=9[^&]*$/.test(request.target)
    )
      return response
    return response.status === 200 ? serve({ ...request, target: request.target.replace(/\?.*/, '') }) : response
  }),
  mutant('A4.23', 'the next page forgets the filter', () =>
    changing(
      seen => get(/^\/api\/v2\/\w+$/)(seen) && ok(seen) && /^\w+=[^&]*&size=1$/.test(seen.query),
      json(page => ({ ...page, _links: { ...page['_links'], next: { href: '/api/v2/orders?page=2' } } })),
    ),
  ),
  mutant('A4.23', 'the reversed order is the order', () =>
    receiving(request => ({ target: request.target.replace('sort=-', 'sort=') })),
  ),
  mutant('A4.24', 'fields= is ignored', () =>
    receiving(request => ({ target: request.target.replace(/\?fields=\w+$/, '') })),
  ),
  mutant('A4.24', 'of two fields the second is left out', () =>
    receiving(request => ({ target: request.target.replace(/(\?fields=\w+)(?:,|%2C)\w+$/, '$1') })),
  ),
  mutant('A4.25', 'a connection remembers the credentials of its last request', () => {
    let last: { readonly target: string; readonly authorization: string | undefined } | undefined
    return serve => async request => {
      const { target, method, fields } = request
      const authorization = fields['authorization'] ?? (last?.target === target ? last.authorization : undefined)
      const isRead = method === 'GET' && target.startsWith('/api/')
      last = { target, authorization: fields['authorization'] }
      return serve(
        isRead && authorization !== undefined ? { ...request, fields: { ...fields, authorization } } : request,
      )
    }
  }),
  mutant('A5.1', 'the challenge names another scheme', () =>
    changing(seen => seen.status === 401, withField('www-authenticate', 'Digest realm="orders"')),
  ),
  mutant('A5.2', 'whoever may read may remove', () =>
    changing(seen => isOf(seen, 'DELETE', item) && seen.status === 403, status(412)),
  ),
  mutant('A5.3', 'a wrong password is a refusal of a known caller', () =>
    changing(seen => seen.status === 401 && /^Basic bm9ib2R5/.test(seen.fields['authorization'] ?? ''), status(403)),
  ),
  mutant('A7.1', 'a retrieval is answered 203', () => changing(seen => get(/^\/api\/v1$/)(seen), status(203))),
  mutant('A7.2', 'a PUT that creates is a plain success', () =>
    changing(seen => seen.method === 'PUT' && seen.status === 201, status(200)),
  ),
  mutant('A7.3', 'the Location of a job is not an address', () =>
    changing(seen => isOf(seen, 'POST', /^\/api/) && seen.status === 202, withField('location', 'http://[')),
  ),
  mutant('A7.4', 'a 204 has content', () =>
    changing(
      seen => seen.method === 'DELETE' && seen.status === 204,
      content('gone'),
      withField('content-type', 'text/plain'),
    ),
  ),
  mutant('A7.5', 'a moved page does not say where to', () =>
    changing(seen => get(/^\/api\/v1$/)(seen), status(301), content('')),
  ),
  mutant('A7.6', 'a 304 has no entity tag', () => changing(seen => seen.status === 304, withoutField('etag'))),
  mutant('A7.7', 'what is not JSON is not found', () =>
    changing(seen => seen.status === 400 && seen.sent === '{"', status(404)),
  ),
  mutant('A7.8', 'a 401 has no challenge', () =>
    changing(seen => seen.status === 401, withoutField('www-authenticate')),
  ),
  mutant('A7.9', 'a known caller is asked who it is', () =>
    changing(
      seen => isOf(seen, 'POST', /^\/api\/v2\/\w+$/) && seen.status === 403,
      status(401),
      withField('www-authenticate', 'Basic realm="orders"'),
    ),
  ),
  mutant('A7.10', 'an unknown path is a bad request', () => changing(get(/no-such-resource/), status(400))),
  mutant('A7.11', 'a conflict of state is unprocessable', () =>
    changing(seen => isOf(seen, 'POST', /\/cancellation$/) && seen.status === 409, status(422)),
  ),
  mutant('A7.12', 'If-None-Match: * is ignored', () =>
    receiving(request => ({
      fields:
        request.method === 'PUT' && /items?|-new/.test(request.target) && request.fields['if-none-match'] === '*'
          ? { ...without(request.fields, 'if-none-match'), 'if-match': '*' }
          : request.fields,
    })),
  ),
  mutant('A7.13', 'content that breaks the schema is forbidden', () =>
    changing(seen => isOf(seen, 'POST', /^\/api/) && seen.status === 422 && /unexpected/.test(seen.sent), status(403)),
  ),
  mutant('A7.14', 'a 429 is not a problem', () =>
    changing(seen => seen.status === 429, withField('content-type', 'text/plain')),
  ),
  mutant('A7.15', 'an error shows where it was thrown', () =>
    changing(seen => seen.method === 'BREW', content('Error\n    at Front.serve (/srv/front.ts:12:3)')),
  ),
  mutant('A7.16', 'an overload is kept by caches', () => {
    let limited: string | undefined
    return changing(
      seen => {
        const { authorization } = seen.fields
        if (seen.status === 429) limited = authorization
        return limited !== undefined && isOf(seen, 'POST', /searches$/) && authorization !== limited
      },
      status(503),
      content('busy'),
      withField('content-type', 'text/plain'),
      withoutField('location'),
      withField('retry-after', '1'),
      withField('cache-control', 'public, max-age=3600'),
    )
  }),
  mutant('A7.17', 'a broken rule is a malformed request', () =>
    changing(seen => seen.method === 'PATCH' && /"test"/.test(seen.sent), status(400)),
  ),
  mutant('A7.18', 'an odd identifier breaks the service', () => changing(get(/%27%22/), status(500))),
  mutant('A8.1', 'there is no limit', () =>
    changing(
      seen => seen.status === 429,
      status(201),
      content(''),
      withoutField('content-type'),
      withField('location', '/api/v2/searches/s-1'),
    ),
  ),
  mutant('A8.2', 'one policy for all', () =>
    changing(
      seen => seen.response.fields['ratelimit-policy'] !== undefined,
      withField('ratelimit-policy', '"all";q=10;w=60'),
    ),
  ),
  mutant('A8.3', 'a tebibyte is a bad request', () =>
    changing(seen => seen.status === 413 && !isSoap(seen), status(400)),
  ),
  mutant('A9.1', 'the old version has gone', () => changing(get(/^\/api\/v1\/\w+$/), status(404))),
  mutant('A9.2', 'a vendor type is answered as JSON', () =>
    changing(
      seen => get(item)(seen) && /vnd/.test(seen.fields['accept'] ?? ''),
      withField('content-type', 'application/json'),
    ),
  ),
  mutant('A9.3', 'the old version has other identifiers', () =>
    changing(
      get(/^\/api\/v1\/\w+\/[^/]+$/),
      json(value => ({ ...value, id: `v1-${value.id}` })),
    ),
  ),

  mutant('B2.1', 'a prefix means something', () => acceptedFault(sends(/odd-prefix/))),
  mutant('B2.2', 'no Body is needed', () => acceptedInstead(({ sent }) => /Envelope/.test(sent) && !/Body/.test(sent))),
  mutant('B2.3', 'a block for another node is not ignored', () => acceptedFault(sends(/another-node/))),
  mutant('B2.4', 'an unknown mandatory block is a plain fault', () =>
    changing(
      seen => sends(/x:Unknown/)(seen) && /MustUnderstand</.test(seen.text) && !/NoSuchOperation/.test(seen.sent),
      plainFault(/:MustUnderstand</),
    ),
  ),
  mutant('B2.6', 'an RPC response has another name', () =>
    changing(
      seen => isAccepted(seen) && /rpc|encoded/.test(seen.path),
      text(given => given.replaceAll(/(\w+)Response/g, '$1Result')),
    ),
  ),
  mutant('B2.7', 'the response is an undeclared element', () =>
    changing(
      seen => isAccepted(seen) && /\/soap\/v\d$/.test(seen.path),
      text(given => given.replaceAll(/(\w+)Response/g, '$1Answer')),
    ),
  ),
  mutant('B2.8', 'a literal response names an encoding', () =>
    changing(
      seen => isAccepted(seen) && /\/soap\/v1$/.test(seen.path),
      text(given => given.replace(/Response xmlns=/, 'Response xmlns:e="urn:e" e:encodingStyle="urn:e" xmlns=')),
    ),
  ),
  mutant('B2.9', 'a reason has no language', () =>
    changing(seen => isSoap(seen) && seen.text.includes('xml:lang'), code(/ xml:lang="\w+"/g, '')),
  ),
  mutant('B2.10', 'a fault has a code of its own', () =>
    changing(
      seen => sends(/NoSuchOperation/)(seen) && isRefused(seen) && !/MustUnderstand/.test(seen.text),
      text(given => given.replace(/:(?:Sender|Client)</, ':Oops<')),
    ),
  ),
  mutant('B2.11', 'a response has no Action', () => changing(isAccepted, code(/<(\w+):Action.*?<\/\1:Action>/g, ''))),
  mutant('B2.12', 'a binding is of nothing', () =>
    changing(seen => /wsdl$/.test(seen.query), code(/<wsdl:message name="NotifyDelivery/, '<wsdl:message name="Lost')),
  ),
  mutant('B2.13', 'a WSDL 2.0 has no endpoint', () =>
    changing(seen => seen.query === 'wsdl2', code(/<(\w+:)?endpoint\b/g, '<$1place')),
  ),
  mutant('B4.1', 'an endpoint can be replaced', () =>
    changing(seen => isOf(seen, 'PUT', /^\/soap/), status(204), content(''), withoutField('content-type')),
  ),
  mutant('B4.2', 'SOAP 1.2 comes as text/xml', () =>
    changing(
      seen => isAccepted(seen) && is12(seen) && !isPackage(seen),
      withField('content-type', 'text/xml; charset=utf-8'),
    ),
  ),
  mutant('B4.3', 'the action means nothing', () =>
    receiving(request => ({
      fields: /another-action/.test(JSON.stringify(request.fields))
        ? {
            ...without(request.fields, 'soapaction'),
            'content-type': request.fields['content-type']?.replace(/; action=.*/, '') ?? '',
          }
        : request.fields,
    })),
  ),
  mutant('B4.4', 'a success is answered 201', () => changing(isAccepted, status(201))),
  mutant('B4.5', 'an unknown operation is answered 404', () =>
    changing(seen => sends(/NoSuchOperation/)(seen) && isRefused(seen), status(404)),
  ),
  mutant('B4.6', 'a path is an operation', () => {
    const first = new Map<string, string>()
    return changing(
      seen => {
        if (
          !isAccepted(seen) ||
          isPackage(seen) ||
          !/:List/.test(seen.sent) ||
          /Security|Addressing|addressing/.test(seen.sent)
        )
          return false
        const key = seen.path + is11(seen)
        if (!first.has(key)) first.set(key, seen.text)
        return first.get(key) !== seen.text
      },
      seen => ({ content: Buffer.from(first.get(seen.path + is11(seen)) ?? '') }),
    )
  }),
  mutant('B4.7', 'XML without an Envelope is accepted', () => acceptedInstead(({ sent }) => sent.startsWith('<p:'))),
  mutant('B4.8', 'the Body comes before its blocks', () =>
    changing(
      seen => sends(/NoSuchOperation/)(seen) && /:MustUnderstand</.test(seen.text),
      plainFault(/:MustUnderstand</),
    ),
  ),
  mutant('B4.10', 'a one-way message has a response', () =>
    changing(seen => isSoap(seen) && seen.status === 202, status(200)),
  ),
  mutant('B4.11', 'a response does not say to what', () =>
    changing(isAccepted, code(/<(\w+):RelatesTo.*?<\/\1:RelatesTo>/g, '')),
  ),
  mutant('B4.12', 'packages are not accepted', () =>
    changing(seen => isSoap(seen) && /^multipart/.test(seen.fields['content-type'] ?? ''), status(415), content('')),
  ),
  mutant('B5.1', 'a wrong password is accepted', () => acceptedInstead(({ sent }) => />nobody</.test(sent))),
  mutant('B5.2', 'a valid token is refused', () => acceptedFault(sends(/>alice-secret</))),
  {
    ...mutant('B5.4', 'the Body is read where it was not signed', () => serve => {
      return acceptedInstead(sends(/x:Wrapper/))(serveSignedMessages(serve))
    }),
    profile: attackProfile,
  },
  mutant('B5.5', 'a DTD is accepted', () => acceptedInstead(({ sent }) => /^<!DOCTYPE s:/.test(sent))),
  mutant('B7.1', 'an unknown media type breaks the service', () =>
    changing(seen => isSoap(seen) && seen.status === 415, status(500), content('')),
  ),
  mutant('B7.1', 'an unknown media type is not answered', () => ending(seen => isSoap(seen) && seen.status === 415)),
  mutant('B7.2', 'an unknown version is a plain fault', () =>
    changing(seen => sends(/soap-9\.9/)(seen) && !/Unknown/.test(seen.sent), plainFault(/:VersionMismatch</)),
  ),
  mutant('B7.3', 'an unknown operation is the node’s fault', () =>
    changing(
      seen => sends(/NoSuchOperation/)(seen),
      text(given => given.replace(/:Sender</, ':Receiver<').replace(/:Client</, ':Server<')),
    ),
  ),
  mutant('B7.4', 'a failure has no detail', () =>
    changing(
      seen => sends(/>probe</)(seen) && isRefused(seen),
      text(given => given.replace(/<soap:Detail>.*<\/soap:Detail>|<detail>.*<\/detail>/, '')),
    ),
  ),
  mutant('B7.5', 'a failure is not declared', () =>
    changing(seen => sends(/>probe</)(seen) && isRefused(seen), code(/NotFound/g, 'Absent')),
  ),
  mutant('B8.1', 'a tebibyte of SOAP breaks the service', () =>
    changing(seen => isSoap(seen) && seen.status === 413, status(500)),
  ),
  mutant('B9.1', 'SOAP 1.1 is answered in SOAP 1.2', () =>
    changing(
      seen => isAccepted(seen) && is11(seen) && !isPackage(seen) && /\/soap\/v1$/.test(seen.path),
      text(given =>
        given.replace('http://schemas.xmlsoap.org/soap/envelope/', 'http://www.w3.org/2003/05/soap-envelope'),
      ),
      withField('content-type', 'application/soap+xml; charset=utf-8'),
    ),
  ),
  mutant('B9.3', 'one version takes messages of the other', () =>
    acceptedInstead(seen => seen.path === '/soap/v2' && /orders:v1/.test(seen.sent)),
  ),
  mutant('A1.7', 'GET of an action performs it', () =>
    receiving(request =>
      request.method === 'GET' && /cancellation$/.test(request.target)
        ? {
            method: 'POST',
            content: contentOf('{}'),
            fields: { ...request.fields, 'content-type': 'application/json' },
          }
        : {},
    ),
  ),
  mutant('A2.5', 'a problem has the status of another response', () =>
    changing(
      seen => isProblem(seen) && seen.status === 412,
      json(problem => ({ ...problem, status: 400 })),
    ),
  ),
  mutant('A4.1', 'previous of the second page leads to itself', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      json(page => (page._links.previous ? { ...page, _links: { ...page._links, previous: page._links.self } } : page)),
    ),
  ),
  mutant('A4.1', 'the next page is of another host', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      json(page =>
        page._links.next
          ? { ...page, _links: { ...page._links, next: { href: `http://10.0.0.7${page._links.next.href}` } } }
          : page,
      ),
    ),
  ),
  mutant('A4.3', 'HEAD passes over If-None-Match', () =>
    receiving(request => (request.method === 'HEAD' ? { fields: omitted(request.fields, 'if-none-match') } : {})),
  ),
  mutant('A4.3', 'If-Modified-Since counts beside If-None-Match', () =>
    receiving(({ fields }) =>
      fields['if-modified-since'] === undefined ? {} : { fields: omitted(fields, 'if-none-match') },
    ),
  ),
  mutant('A4.4', 'PUT of another value changes nothing', () => unchanging('PUT', /"name":"Alice Archerx?"/)),
  mutant('A4.5', 'a merge patch of another value changes nothing', () => unchanging('PATCH', /^\{"name"/)),
  mutant('A4.6', 'a collection lists what was removed', () => {
    const known = new Map<string, unknown>()
    const gone = new Map<string, unknown>()
    return changing(
      seen => {
        if (get(item)(seen) && ok(seen) && isJson(seen)) known.set(seen.path, JSON.parse(seen.text))
        if (seen.method === 'DELETE' && seen.status === 204 && known.has(seen.path))
          gone.set(seen.path, known.get(seen.path))
        return get(/^\/api\/v2\/[a-z]+$/)(seen) && ok(seen) && isJson(seen) && seen.query === '' && !!gone.size
      },
      seen =>
        json(page => {
          const kept = [...gone].filter(([path]) => path.startsWith(`${seen.path}/`))
          return { ...page, items: [...page.items, ...kept.map(([, value]) => value)] }
        })(seen),
    )
  }),
  mutant('A4.17', 'the last type of Accept is chosen, whatever its quality', () =>
    receiving(({ fields }) => ({
      fields: {
        ...fields,
        ...(fields['accept'] && { accept: (fields['accept'].split(',').at(-1) ?? '').replace(/;\s*q=.*/, '') }),
      },
    })),
  ),
  mutant('A4.18', 'a coded response has a Vary without Accept-Encoding', () =>
    changing(({ response }) => response.fields['content-encoding'] !== undefined, withField('vary', 'Accept')),
  ),
  mutant('A4.18', 'gzip;q=0 gives gzip', () =>
    receiving(({ fields }) =>
      /gzip;q=0/.test(fields['accept-encoding'] ?? '') ? { fields: { ...fields, 'accept-encoding': 'gzip' } } : {},
    ),
  ),
  mutant('A4.19', 'If-Modified-Since of any date is 304', () =>
    changing(seen => get(item)(seen) && /1994/.test(seen.fields['if-modified-since'] ?? ''), status(304), content('')),
  ),
  mutant('A4.19', 'shared caches may keep what needed credentials', () =>
    changing(
      seen => seen.method === 'GET' && ok(seen) && seen.fields['authorization'] !== undefined && isJson(seen),
      withField('cache-control', 's-maxage=3600'),
    ),
  ),
  mutant('A4.20', 'a DELETE that is refused with 412 removes the item', () => serve => async request => {
    const answer = await serve(request)
    if (request.method === 'DELETE' && answer.status === 412)
      await serve({ ...request, fields: { ...request.fields, 'if-match': '*' } })
    return answer
  }),
  mutant('A4.20', 'PATCH passes over If-Match', () =>
    receiving(request =>
      request.method === 'PATCH' && request.fields['if-match'] === '"no-such-version"'
        ? { fields: { ...request.fields, 'if-match': '*' } }
        : {},
    ),
  ),
  mutant('A4.20', 'a list of entity tags never matches', () =>
    changing(seen => /,/.test(seen.fields['if-match'] ?? ''), status(412)),
  ),
  mutant('A5.3', 'a known name with any password is let in', () =>
    receiving(({ fields }) => {
      const [, credentials = ''] = /^Basic (.*)/.exec(fields['authorization'] ?? '') ?? []
      const [name = ''] = Buffer.from(credentials, 'base64').toString().split(':')
      return ['alice', 'clara', 'maria'].includes(name) ? { fields: { ...fields, authorization: basicOf(name) } } : {}
    }),
  ),
  mutant('A5.3', 'changes need no credentials', () =>
    receiving(({ method, fields, target }) =>
      !['GET', 'HEAD'].includes(method) && target.startsWith('/api/') && fields['authorization'] === undefined
        ? { fields: { ...fields, authorization: basicOf('maria') } }
        : {},
    ),
  ),
  mutant('A7.6', 'a 304 has another entity tag', () =>
    changing(seen => seen.status === 304, withField('etag', '"other"')),
  ),
  mutant('A7.7', 'PUT of what is not JSON is the fault of the service', () =>
    changing(seen => seen.method === 'PUT' && seen.sent === '{"', status(500)),
  ),
  mutant('A7.13', 'content without a required member is the fault of the service', () =>
    changing(
      seen => isOf(seen, 'POST', /^\/api\/v2\/[a-z]+$/) && seen.status === 422 && !/unexpected|"-"/.test(seen.sent),
      status(500),
    ),
  ),
  mutant('A7.18', 'an odd identifier ends the process', () => serve => async request => {
    if (request.target.endsWith('/constructor')) throw new Unreachable('the connection was closed')
    return serve(request)
  }),
  mutant('B2.3', 'a mandatory block for the role none is refused', () =>
    changing(seen => isAccepted(seen) && /role\/none/.test(seen.sent), ...faulty('Sender', 'Client')),
  ),
  mutant('B2.4', 'a mandatory block for the ultimate receiver is ignored', () =>
    acceptedInstead(sends(/role\/ultimateReceiver/)),
  ),
  mutant('B2.4', 'mustUnderstand="true" is not seen', () => acceptedInstead(sends(/mustUnderstand="true"/))),
  mutant('B2.9', 'the Role of a fault is in no namespace', () =>
    changing(
      seen => isSoap(seen) && is12(seen) && isRefused(seen),
      text(given => given.replaceAll(/(<\/?)\w+:Role>/g, '$1Role>')),
    ),
  ),
  mutant('B4.3', 'the action of another operation is accepted', () =>
    receiving(({ fields, target }) => {
      if (!target.startsWith('/soap/')) return {}
      const known = /urn:diglot:orders:v\d\/\w+/
      return {
        fields: {
          ...(known.test(fields['soapaction'] ?? '') ? omitted(fields, 'soapaction') : fields),
          'content-type': (fields['content-type'] ?? '').replace(/; ?action="?urn:diglot:orders[^;]*/, ''),
        },
      }
    }),
  ),
  mutant('B4.5', 'a fault of an operation comes with 404', () =>
    changing(seen => isSoap(seen) && isRefused(seen) && /NotFound/.test(seen.text), status(404)),
  ),
  mutant('B5.1', 'a token with a known name and any password is accepted', () =>
    acceptedInstead(seen => />(?:alice|clara|maria)</.test(seen.sent) && /-wrong</.test(seen.sent)),
  ),
  mutant('B9.1', 'a fault of SOAP 1.1 comes as one of SOAP 1.2', () =>
    changing(
      seen =>
        isSoap(seen) &&
        is11(seen) &&
        isRefused(seen) &&
        /NoSuchOperation/.test(seen.sent) &&
        !/MustUnderstand/.test(seen.text),
      ...faulty('Sender', 'Client', '2003'),
      withField('content-type', 'application/soap+xml; charset=utf-8'),
    ),
  ),
  mutant('B2.7', 'elements of an answer are in another order', () =>
    changing(
      isAccepted,
      text(given => given.replaceAll(/(<id>[^<]*<\/id>)(<customer>[^<]*<\/customer>)/g, '$2$1')),
    ),
  ),
  mutant('B2.7', 'an answer lacks what its schema requires', () =>
    changing(
      isAccepted,
      text(given => given.replaceAll(/<currency>\w+<\/currency>/g, '')),
    ),
  ),
  mutant('B2.7', 'a moment of an answer is none', () =>
    changing(
      isAccepted,
      text(given => given.replaceAll(/<placedAt>[^<]*/g, '<placedAt>yesterday')),
    ),
  ),
  mutant('B2.7', 'elements of an answer are in no namespace', () =>
    changing(
      isAccepted,
      text(given => given.replaceAll(/<(orders?)>/g, '<$1 xmlns="">')),
    ),
  ),
  mutant('B2.7', 'the Body of an answer has two elements', () =>
    changing(
      isAccepted,
      text(given => given.replace(/<\/(\w+):Body>/, '<x xmlns="urn:x"/></$1:Body>')),
    ),
  ),
  mutant('B7.5', 'the Detail of a fault has what its schema does not', () =>
    changing(
      seen => isSoap(seen) && isRefused(seen) && /<NotFound/.test(seen.text),
      text(given => given.replace(/(<NotFound[^>]*>)/, '$1<what xmlns="urn:odd">1</what>')),
    ),
  ),
]

/** Not where a coding is asked for, whose octets are those of the whole. */
const isJson = ({ response, fields }: Seen): boolean =>
  /json/.test(String(response.fields['content-type'])) && fields['accept-encoding'] === undefined
const without = (fields: Readonly<Record<string, string>>, name: string): Record<string, string> =>
  Object.assign(Object.create(null), Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name)))

/** A message that the service accepts is refused with a fault of its sender. */
function acceptedFault(matches: (seen: Seen) => boolean): Mutation {
  const fault11 = '<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault>'
  const fault12 =
    '<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">no</s:Text></s:Reason></s:Fault>'
  return changing(
    seen => isAccepted(seen) && matches(seen),
    status(500),
    seen => content(writeEnvelope(seen, is11(seen) ? fault11 : fault12))(seen),
  )
}

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

/** No run from outside can judge these: the catalogue says of each what it would need. */
const unjudged = ['A1.5', 'A9.4', 'B2.5', 'B2.14', 'B4.9', 'B5.3', 'B9.2', 'C6.1']

it('each rule has a mutant, but for those that no run can judge', async () => {
  const broken = new Set([...mutants.map(({ rule }) => rule), 'A5.4'])
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

  it('passes with TLS of today', { skip }, async () => assert.deepEqual(await judge({}), ['A5.4 pass']))
  it('fails with TLS 1.1 alone', { skip }, async () =>
    assert.deepEqual(await judge({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }), [
      'A5.4 fail',
    ]),
  )
})

/** Runs at once: each waits for a job most of its time. */
const together = 6

describe('each rule can fail, and it alone', async () => {
  // Started here, so that each lives until the end of the suite.
  const services = await Promise.all(mutants.map(() => serveOrdersInMemory()))
  const failuresOf = async ({ make, profile }: Mutant, at: number): Promise<readonly string[]> => {
    const serve = services[at]
    assert.ok(serve)
    const options = profile ? { ...ordersOptions, profile } : ordersOptions
    const { verdicts } = await runCheck(createMemoryTransport(make()(serve)), options)
    return verdicts.filter(({ status }) => status === 'fail').map(({ rule, reason }) => `${rule.id}: ${reason}`)
  }
  const runs = new Map<Mutant, Promise<readonly string[]>>()
  const startAhead = (from: number): void => {
    for (const [at, each] of mutants.entries())
      if (at >= from && at < from + together && !runs.has(each)) runs.set(each, failuresOf(each, at))
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
  for (const [at, each] of mutants.entries())
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

describe('each attack can succeed, and it alone is named', { concurrency: 4 }, async () => {
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

  it('in memory all pass, but for those that need a socket', async () => {
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

  it('over a socket all pass, and each mutant of the wire is named', async () => {
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
