/** For each rule, services that break it alone: the orders service with one promise broken. */
import { Unreachable } from '../../src/check/index.ts'
import { contentOf, type HttpFields } from '../../src/http/message.ts'
import { attackProfile, ending, serveSignedMessages } from './attack-mutants.ts'
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

const ok = ({ status }: Seen): boolean => status === 200
const get =
  (path: RegExp) =>
  (seen: Seen): boolean =>
    seen.method === 'GET' && path.test(seen.path)
const read =
  (path: RegExp) =>
  (seen: Seen): boolean =>
    (seen.method === 'GET' || seen.method === 'HEAD') && path.test(seen.path)
const item = /^\/api\/v2\/[a-z]+\/[^/]+$/
const orderItem = /^\/api\/v2\/orders\/[^/]+$/
const ordersPage = /^\/api\/v2\/orders$/
const isOf = (seen: Seen, method: string, path: RegExp): boolean => seen.method === method && path.test(seen.path)
export const is12 = ({ sent }: Seen): boolean => sent.includes('2003/05/soap-envelope')
const isPackage = ({ fields }: Seen): boolean => /^multipart/.test(fields['content-type'] ?? '')
const isRefused = ({ status }: Seen): boolean => status === 500
/** The code becomes that of a message that is at fault. */
const plainFault = (from: RegExp) => (seen: Seen) =>
  text(given => given.replace(from, /Envelope xmlns:\w+="http:..schemas/.test(seen.text) ? ':Client<' : ':Sender<'))(
    seen,
  )
const code = (from: RegExp, to: string) => text(given => given.replace(from, to))
const twoBodies = sends(/<\/s:Body><s:Body>/)
const nodeFault = text(given => given.replace(/:Sender</, ':Receiver<').replace(/:Client</, ':Server<'))
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

/** A change with a weak entity tag is made as if it were the strong one. */
const matchingWeakly = (method: string): Mutation =>
  receiving(({ method: asked, fields }) =>
    asked === method && /^W\//.test(fields['if-match'] ?? '')
      ? { fields: { ...fields, 'if-match': (fields['if-match'] ?? '').slice(2) } }
      : {},
  )
/** A known caller that is refused is answered as if it had not said who it is. */
const askingAgain = (method: string): Mutation =>
  changing(
    seen => isOf(seen, method, item) && seen.status === 403,
    status(401),
    withField('www-authenticate', 'Basic realm="orders"'),
  )

/** Not where a coding is asked for, whose octets are those of the whole. */
const isPlain = ({ fields }: Seen): boolean =>
  fields['if-none-match'] === undefined && fields['if-modified-since'] === undefined && fields['accept'] === undefined
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

export const ruleMutants: readonly Mutant[] = [
  mutant(
    'A1.1',
    'HTTP/2 finds no item',
    () => serve => request => serve(request.version === '2' ? { ...request, target: '/api/v2/nothing' } : request),
  ),
  mutant('A1.2', 'a session cookie changes what is answered', () =>
    changing(
      seen => get(item)(seen) && seen.fields['cookie'] !== undefined && ok(seen),
      json(value => ({ ...value, session: 1 })),
      withoutField('etag'), // that of another content
    ),
  ),
  mutant('A1.3', 'a collection says nothing of caching', () =>
    changing(read(ordersPage), withoutField('cache-control')),
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
    changing(seen => read(/no-such-item/)(seen) && seen.fields['accept'] === undefined, status(200)),
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
  mutant('A4.19', 'Vary does not name Accept', () => changing(read(orderItem), withField('vary', 'Accept-Encoding'))),
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
      text(given => given.replaceAll(/(<\/?\w+)Response/g, '$1Answer')),
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
    changing(seen => isSoap(seen) && seen.status === 202, status(200), content('received')),
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
    changing(seen => sends(/NoSuchOperation/)(seen) && !twoBodies(seen), nodeFault),
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
          gone.clear() // once
          return { ...page, items: [...page.items, ...kept.map(([, value]) => value)] }
        })(seen),
      withoutField('etag'), // that of another content
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
      seen => read(/^/)(seen) && seen.status < 400 && /^private/.test(String(seen.response.fields['cache-control'])),
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
      seen =>
        isOf(seen, 'POST', /^\/api\/v2\/[a-z]+$/) &&
        seen.status === 422 &&
        /^\{(?!.*(?:unexpected|"-"))/.test(seen.sent),
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
  mutant('A1.7', 'HEAD of a collection makes an item', () => serve => async request => {
    if (request.method === 'HEAD' && request.target === '/api/v2/orders') {
      const fields = { ...request.fields, 'content-type': 'application/json', authorization: basicOf('alice') }
      const order = '{"customer":"c-1","lines":[{"product":"p-7","quantity":1}],"currency":"EUR"}'
      await serve({ ...request, method: 'POST', fields, content: contentOf(order) })
    }
    return serve(request)
  }),
  mutant('A1.7', 'OPTIONS of a job makes a new version of it', () => {
    let before = ''
    return changing(
      seen => {
        const last = before
        before = `${seen.method} ${seen.path}`
        return get(/\/jobs\/j/)(seen) && last === `OPTIONS ${seen.path}`
      },
      withField('etag', '"asked"'),
    )
  }),
  mutant('A2.1', 'items of a collection show a secret', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen) && !/fields=/.test(seen.query),
      json(page => ({ ...page, items: page.items.map((each: object) => ({ ...each, passwordHash: 'x' })) })),
    ),
  ),
  mutant('A2.1', 'a part of an item shows what is not declared', () =>
    changing(
      seen => get(orderItem)(seen) && ok(seen) && isJson(seen) && seen.query === '',
      json(order => ({ ...order, lines: order.lines.map((each: object) => ({ ...each, cost: '1.00' })) })),
    ),
  ),
  mutant('A2.1', 'a text breaks the pattern of its schema', () =>
    changing(
      seen => get(orderItem)(seen) && ok(seen) && isJson(seen) && seen.query === '',
      json(order => ({ ...order, total: '1,234.5' })),
    ),
  ),
  mutant('A2.2', 'links of items in a collection are texts', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      json(page => ({
        ...page,
        items: page.items.map((each: { _links: object }) => ({ ...each, _links: { ...each._links, up: '/api' } })),
      })),
    ),
  ),
  mutant('A2.2', 'the link from orders to their customer leads to nothing', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen),
      text(given => given.replaceAll(/("href":"\/api\/v2\/customers\/)[^"]*/g, '$1lost')),
    ),
  ),
  mutant('A2.3', 'a collection calls itself by the address of another', () =>
    changing(
      seen => get(ordersPage)(seen) && ok(seen) && isJson(seen) && seen.query === '',
      json(page => ({ ...page, _links: { ...page._links, self: { href: '/api/v2/products' } } })),
    ),
  ),
  mutant('A2.4', 'the template of the search leads to nothing', () =>
    changing(
      get(/^\/$/),
      text(given => given.replace('/api/v2/search{?', '/api/v2/lost{?')),
    ),
  ),
  mutant('A3.3', 'a completed job runs again', () => {
    const count = counter()
    let isOver = false
    return changing(
      seen => {
        isOver ||= get(/\/jobs\/j/)(seen) && /"completed"/.test(seen.text) && count(seen.path) > 1
        return isOver && read(/\/jobs\/j/)(seen) && ok(seen)
      },
      text(given => given.replace('"completed"', '"running"')),
      withoutField('etag'), // that of another content
    )
  }),
  mutant('A3.4', 'an order offers its cancellation in every state', () =>
    changing(
      seen => get(orderItem)(seen) && ok(seen) && isJson(seen) && seen.query === '',
      seen =>
        json(order => ({ ...order, _links: { ...order._links, cancel: { href: `${seen.path}/cancellation` } } }))(seen),
    ),
  ),
  mutant('A4.8', 'HEAD says nothing of caching', () =>
    changing(seen => seen.method === 'HEAD' && ok(seen), withoutField('cache-control')),
  ),
  mutant('A4.8', 'HEAD of a job is refused', () =>
    changing(seen => seen.method === 'HEAD' && /\/jobs\//.test(seen.path), status(405)),
  ),
  mutant('A4.8', 'HEAD of what does not exist is a success', () =>
    changing(seen => seen.method === 'HEAD' && seen.status === 404, status(200), withoutField('content-type')),
  ),
  mutant('A4.9', 'OPTIONS of an action does not have POST', () =>
    changing(seen => isOf(seen, 'OPTIONS', /\/(?:cancellation|payment)$/), withField('allow', 'OPTIONS')),
  ),
  mutant('A4.9', 'OPTIONS of a job is not found', () =>
    changing(seen => isOf(seen, 'OPTIONS', /\/jobs\//), status(404), withoutField('allow')),
  ),
  mutant('A4.9', 'OPTIONS of a collection is the fault of the service', () =>
    changing(seen => isOf(seen, 'OPTIONS', ordersPage), status(500)),
  ),
  mutant('A4.10', 'of two parts of items one is not found', () =>
    changing(get(/\/customers\/[^/]+\/orders$/), status(404)),
  ),
  mutant('A4.10', 'a part of an item has no content', () =>
    changing(read(/\/tracking$/), content(''), withoutField('content-type')),
  ),
  mutant('A4.13', 'a search finds whatever there is', () =>
    receiving((request, sent) =>
      isOf({ ...request, path: request.target } as never, 'POST', /searches$/) && /qzx/.test(sent)
        ? { content: contentOf('{}'), fields: omitted(request.fields, 'content-length') }
        : {},
    ),
  ),
  mutant('A4.13', 'the next page of a search is the first one', () =>
    receiving(request => ({ target: request.target.replace(/(\/searches\/[^?]+)\?cursor=.*/, '$1') })),
  ),
  mutant('A4.14', 'GET of /search ignores q', () =>
    receiving(request => ({ target: request.target.replace(/\/search\?q=.*/, '/search') })),
  ),
  mutant('B2.11', 'a Fault has no Action', () =>
    changing(seen => isSoap(seen) && isRefused(seen), code(/<(\w+):Action.*?<\/\1:Action>/g, '')),
  ),
  mutant('B2.11', 'the Action of a response is that of its request', () =>
    changing(isAccepted, code(/(:Action[^>]*>[^<]*)Response</g, '$1<')),
  ),
  mutant('B2.11', 'all responses have one MessageID', () =>
    changing(isAccepted, code(/(:MessageID[^>]*>)[^<]*/g, '$1urn:uuid:1')),
  ),
  mutant('B2.11', 'a response comes where ReplyTo is none', () => acceptedInstead(sends(/addressing\/none/))),
  mutant('B4.11', 'a Fault does not say to what', () =>
    changing(seen => isSoap(seen) && isRefused(seen), code(/<(\w+):RelatesTo.*?<\/\1:RelatesTo>/g, '')),
  ),
  mutant('B2.13', 'a WSDL 2.0 lacks an operation', () =>
    changing(
      seen => seen.query === 'wsdl2',
      code(/<wsdl:operation (?:name="|ref="tns:)ListOrders"[^>]*?(?:\/>|>[\s\S]*?<\/wsdl:operation>)/g, ''),
    ),
  ),
  mutant('B2.13', 'a WSDL 2.0 is not well-formed', () =>
    changing(seen => seen.query === 'wsdl2', code(/<\/wsdl:types>/g, '')),
  ),
  mutant('B2.13', 'a WSDL 2.0 has the address of another endpoint', () =>
    changing(seen => seen.query === 'wsdl2', code(/(address="[^"]*)"/g, '$1/elsewhere"')),
  ),
  mutant('B2.13', 'a WSDL 2.0 has another element', () =>
    changing(seen => seen.query === 'wsdl2', code(/element="tns:ListOrdersResponse"/g, 'element="tns:ListOrders"')),
  ),
  mutant('B2.13', 'a WSDL 2.0 has another name of the service', () =>
    changing(seen => seen.query === 'wsdl2', code(/(<wsdl:service name=")\w+/g, '$1Another')),
  ),
  mutant('A1.3', 'Cache-Control of a collection says nothing', () =>
    changing(read(ordersPage), withField('cache-control', 'maybe')),
  ),
  mutant('A1.3', 'a job says nothing of caching', () => changing(read(/\/jobs\//), withoutField('cache-control'))),
  mutant('A4.19', 'an entity tag has no quotes', () => changing(read(/^\/openapi.json$/), withField('etag', 'v1'))),
  mutant('A4.19', 'Expires is no date', () => changing(read(ordersPage), withField('expires', 'never'))),
  mutant('A4.19', 'Age is no number', () => changing(read(ordersPage), withField('age', '-5'))),
  mutant('A4.19', 'max-age is no number', () =>
    changing(read(/^\/api\/v2\/products$/), withField('cache-control', 'public, max-age=soon')),
  ),
  mutant('A4.19', 'Expires allows more than Cache-Control', () =>
    changing(
      read(ordersPage),
      withField('date', new Date().toUTCString()),
      withField('expires', new Date(Date.now() + 86_400_000).toUTCString()),
    ),
  ),
  mutant('A4.19', 'a response is stale that must be revalidated', () =>
    changing(
      read(/^\/openapi.json$/),
      withField('cache-control', 'public, max-age=60, must-revalidate'),
      withField('age', '86400'),
    ),
  ),
  mutant('A4.19', 'Last-Modified is after Date', () =>
    changing(
      seen => read(orderItem)(seen) && seen.response.fields['last-modified'] !== undefined,
      ({ response }) => {
        const modified = Date.parse(String(response.fields['last-modified']))
        return { fields: { ...response.fields, date: new Date(modified - 1000).toUTCString() } }
      },
    ),
  ),
  mutant('A4.19', 'Date is long past', () =>
    changing(read(ordersPage), withField('date', 'Sat, 29 Oct 1994 19:43:31 GMT')),
  ),
  mutant('A4.19', 'Date stands still', () => {
    const startedAt = new Date().toUTCString()
    return changing(read(orderItem), withField('date', startedAt))
  }),
  mutant('A4.19', 'what has not changed has another entity tag each time', () => {
    const count = counter()
    return changing(
      seen => get(/^\/api\/v2\/orders\/o-\d+$/)(seen) && seen.query === '' && isPlain(seen) && count('') > 20,
      seen => withField('etag', `W/"${count('tag')}"`)(seen),
    )
  }),
  mutant('A4.19', 'Last-Modified is another one when it is looked at later', () => {
    const openedAt = Date.parse('2026-11-21T12:00:00Z') // by the clock of the service
    let [last, looks] = [0, 0]
    return changing(
      seen => read(orderItem)(seen) && ok(seen),
      seen => {
        if (Date.now() - last > 900 || /1994/.test(seen.fields['if-modified-since'] ?? '')) looks++
        last = Date.now()
        return withField('last-modified', new Date(openedAt + looks * 1000).toUTCString())(seen)
      },
    )
  }),
  mutant('A4.19', 'a compressed response has the strong entity tag of the plain one', () => {
    const tags = new Map<string, string>()
    return changing(
      seen => {
        const key = `${seen.path} ${seen.fields['authorization']}`
        const isCoded = seen.response.fields['content-encoding'] !== undefined
        if (get(ordersPage)(seen) && ok(seen) && !isCoded && seen.query === '')
          tags.set(key, String(seen.response.fields['etag']))
        return get(ordersPage)(seen) && isCoded && tags.has(key)
      },
      seen => withField('etag', tags.get(`${seen.path} ${seen.fields['authorization']}`) ?? '')(seen),
    )
  }),
  mutant('A4.19', 'a collection passes over If-None-Match', () =>
    receiving(request =>
      /^\/api\/v2\/\w+$/.test(request.target) ? { fields: omitted(request.fields, 'if-none-match') } : {},
    ),
  ),
  mutant('A4.19', 'shared caches may keep for a minute what needed credentials', () =>
    changing(
      seen => read(/^/)(seen) && seen.status < 400 && /^private/.test(String(seen.response.fields['cache-control'])),
      withField('cache-control', 'max-age=60, must-revalidate'),
    ),
  ),
  mutant('A4.19', 'a language is chosen that Vary does not name', () =>
    changing(
      seen => get(orderItem)(seen) && /^de/.test(seen.fields['accept-language'] ?? ''),
      withField('content-language', 'de'),
    ),
  ),
  mutant('A4.19', 'an origin is let in that Vary does not name', () =>
    changing(
      seen => get(orderItem)(seen) && seen.fields['origin'] !== undefined,
      seen => withField('access-control-allow-origin', seen.fields['origin'] ?? '')(seen),
      withField('vary', 'Accept, Accept-Encoding, Authorization'),
    ),
  ),
  mutant('A7.6', 'a 304 has no Expires', () => changing(seen => seen.status === 304, withoutField('expires'))),
  mutant('A7.6', 'a 304 lets shared caches keep what the 200 does not', () =>
    changing(seen => seen.status === 304 && orderItem.test(seen.path), withField('cache-control', 'public, no-cache')),
  ),
  mutant('A1.1', 'HTTP/2 has no entity tag', () => serve => async request => {
    const response = await serve(request)
    if (request.version !== '2') return response
    const { etag: _, ...fields } = response.fields
    return { ...response, fields }
  }),
  mutant('A2.5', 'a problem of a precondition has no title', () =>
    changing(
      seen => isProblem(seen) && seen.status === 412,
      json(({ title: _, ...problem }) => problem),
    ),
  ),
  mutant('A4.2', 'a 201 has the representation of another item', () =>
    changing(
      seen => isOf(seen, 'POST', /^\/api\/v2\/customers$/) && seen.status === 201,
      json(customer => ({ ...customer, name: 'Another' })),
    ),
  ),
  mutant('A4.5', 'a JSON Patch of another value changes nothing', () => serve => async request => {
    const isPatch = request.method === 'PATCH' && /json-patch/.test(request.fields['content-type'] ?? '')
    if (!isPatch) return serve(request)
    const sent = await sentText(request)
    if (!/"replace"/.test(sent)) return serve({ ...request, content: contentOf(sent) })
    const fields = omitted(omitted(omitted(request.fields, 'if-match'), 'content-type'), 'content-length')
    return serve({ ...request, method: 'GET', fields, content: contentOf('') })
  }),
  mutant('A4.17', 'PUT of an unknown type is a bad request', () =>
    changing(seen => seen.method === 'PUT' && seen.status === 415, status(400)),
  ),
  mutant('A4.17', 'a collection passes over a type that it does not have', () =>
    receiving(({ fields, target }) =>
      /x-no-such/.test(fields['accept'] ?? '') && /^\/api\/v2\/\w+$/.test(target)
        ? { fields: omitted(fields, 'accept') }
        : {},
    ),
  ),
  mutant('A7.15', 'a refusal shows where it was thrown', () =>
    changing(
      seen => isProblem(seen) && seen.status === 412,
      json(problem => ({ ...problem, detail: 'Error\n    at Front.serve (/srv/front.ts:12:3)' })),
    ),
  ),
  mutant('B2.6', 'a part of an RPC response has another name', () =>
    changing(
      seen => isAccepted(seen) && /\/rpc$/.test(seen.path),
      text(given =>
        given.replace(/(<\w+:\w+Response[^>]*>)<(\w+)/, '$1<odd').replace(/<\/\w+>(<\/\w+:\w+Response>)/, '</odd>$1'),
      ),
    ),
  ),
  mutant('B2.6', 'a part of an RPC response is in a namespace', () =>
    changing(
      seen => isAccepted(seen) && /\/rpc$/.test(seen.path),
      text(given => given.replace(/(<\w+:\w+Response[^>]*><\w+)/, '$1 xmlns="urn:odd"')),
    ),
  ),
  mutant('B2.9', 'the Text of a Reason is another element', () =>
    changing(
      seen => isSoap(seen) && is12(seen) && isRefused(seen),
      text(given => given.replaceAll(/(<\/?\w+:)Text/g, '$1Words')),
    ),
  ),
  mutant('B2.9', 'a Subcode has no Value', () =>
    changing(
      seen => isSoap(seen) && is12(seen) && isRefused(seen),
      text(given => given.replace(/<\/(\w+):Code>/, '<$1:Subcode/></$1:Code>')),
    ),
  ),
  mutant('B4.5', 'a Fault of SOAP 1.1 has no faultstring', () =>
    changing(
      seen => isSoap(seen) && is11(seen) && isRefused(seen),
      text(given => given.replace(/<faultstring.*?<\/faultstring>/, '')),
    ),
  ),
  mutant('B4.5', 'a Fault of SOAP 1.2 has another element behind it', () =>
    changing(
      seen => isSoap(seen) && is12(seen) && isRefused(seen),
      text(given => given.replace(/<\/(\w+):Fault>/, '</$1:Fault><x xmlns="urn:x"/>')),
    ),
  ),

  mutant('B2.2', 'a Header after the Body is read', () => acceptedInstead(sends(/<\/s:Body><s:Header\/>/))),
  mutant('B2.2', 'of two Bodies the second one is passed over', () =>
    acceptedInstead(seen => is12(seen) && twoBodies(seen) && !/NoSuchOperation/.test(seen.sent)),
  ),
  mutant('B2.2', 'of two Bodies the last one counts', () => acceptedInstead(seen => is11(seen) && twoBodies(seen))),
  mutant('B2.4', 'NotUnderstood names another block', () =>
    changing(isSoap, code(/(qname="block:)Unknown/, '$1Optional')),
  ),
  mutant('B2.8', 'an encoded array has other members than it says', () =>
    changing(seen => isAccepted(seen) && is11(seen), code(/(arrayType="t:\w+\[)\d+/, '$199')),
  ),
  mutant('B2.8', 'an array in the encoding of SOAP 1.2 has other members than it says', () =>
    changing(seen => isAccepted(seen) && is12(seen), code(/(arraySize=")\d+/, '$199')),
  ),
  mutant('B4.1', 'HEAD of an endpoint breaks the service', () =>
    changing(seen => isOf(seen, 'HEAD', /^\/soap/), status(500)),
  ),
  mutant('B4.1', 'OPTIONS of an endpoint breaks the service', () =>
    changing(seen => isOf(seen, 'OPTIONS', /^\/soap/), status(500)),
  ),
  mutant('B4.3', 'a message of SOAP 1.2 without an action breaks the service', () =>
    changing(
      seen => isAccepted(seen) && is12(seen) && !isPackage(seen) && !/action=/.test(seen.fields['content-type'] ?? ''),
      ...faulty('Receiver', 'Server'),
    ),
  ),
  mutant('B4.10', 'a one-way message of SOAP 1.2 has a response', () =>
    changing(
      seen => isSoap(seen) && is12(seen) && seen.status === 202 && !/addressing/.test(seen.sent),
      status(200),
      seen => content(writeEnvelope(seen, ''))(seen),
      withField('content-type', 'application/soap+xml; charset=utf-8'),
    ),
  ),
  mutant('B4.10', 'a one-way message breaks the service', () =>
    changing(seen => isSoap(seen) && seen.status === 202, status(500)),
  ),
  mutant('B4.12', 'a package that answers does not say of which version it is', () =>
    changing(
      seen => isAccepted(seen) && isPackage(seen),
      ({ response }) => ({
        fields: {
          ...response.fields,
          'content-type': String(response.fields['content-type']).replace(/ start-info="[^"]*";/, ''),
        },
      }),
    ),
  ),
  mutant('B7.2', 'an Envelope without Body is the fault of the node', () =>
    changing(sends(/<s:Envelope[^>]*><\/s:/), nodeFault),
  ),
  mutant('B7.2', 'a Header after the Body is a block that is not understood', () =>
    changing(sends(/<\/s:Body><s:Header\/>/), code(/:(?:Sender|Client)</, ':MustUnderstand<')),
  ),
  mutant('B7.3', 'content that the schema does not have is the fault of the node', () =>
    changing(sends(/Unexpected/), nodeFault),
  ),
  mutant('B7.3', 'content without what the schema requires is the fault of the node', () =>
    changing(sends(/:GetOrder [^>]*><\/p:GetOrder>/), nodeFault),
  ),
  mutant('B9.1', 'a Fault of SOAP 1.1 is an element of SOAP 1.2', () =>
    changing(
      seen => sends(/>probe</)(seen) && is11(seen) && isRefused(seen) && /NotFound/.test(seen.text),
      text(given =>
        given
          .replace('<soap:Fault>', '<Fault xmlns="http://www.w3.org/2003/05/soap-envelope">')
          .replace('</soap:Fault>', '</Fault>'),
      ),
    ),
  ),
  mutant('B9.1', 'Upgrade names a version that the endpoint does not have', () =>
    changing(isSoap, code(/(SupportedEnvelope qname="s:Envelope" xmlns:s=)"[^"]*"/g, '$1"urn:example:soap-9.9"')),
  ),
  mutant('B9.3', 'the older version takes messages of the newer one', () =>
    acceptedInstead(seen => seen.path === '/soap/v1' && /orders:v2/.test(seen.sent)),
  ),
  mutant('B9.3', 'the newer version answers in the elements of the older one', () =>
    changing(
      seen => isAccepted(seen) && seen.path === '/soap/v2',
      code(/urn:diglot:orders:v2/g, 'urn:diglot:orders:v1'),
    ),
  ),
  mutant('B9.3', 'the Detail of the older version is of the newer one', () =>
    changing(
      seen => isSoap(seen) && isRefused(seen) && seen.path === '/soap/v1' && !/addressing/.test(seen.sent),
      code(/(<NotFound xmlns="urn:diglot:orders:v)1/, '$12'),
    ),
  ),

  mutant('A1.6', 'XML of an item is not well-formed', () =>
    changing(
      seen => get(item)(seen) && ok(seen) && /xml/.test(String(seen.response.fields['content-type'])),
      text(given => given.slice(0, -5)),
    ),
  ),
  mutant('A1.6', 'a collection as XML comes as JSON', () =>
    changing(
      seen => get(/^\/api\/v2\/\w+$/)(seen) && ok(seen) && seen.fields['accept'] === 'application/xml',
      withField('content-type', 'application/json'),
    ),
  ),
  mutant('A4.20', 'a weak entity tag in If-Match of a PUT matches', () => matchingWeakly('PUT')),
  mutant('A4.20', 'a weak entity tag in If-Match of a DELETE matches', () => matchingWeakly('DELETE')),
  mutant('A5.1', 'the scheme of credentials is compared letter by letter', () =>
    receiving(({ fields }) =>
      /^(?:basic|bearer) /.test(fields['authorization'] ?? '') ? { fields: omitted(fields, 'authorization') } : {},
    ),
  ),
  mutant('A5.3', 'credentials without their content break the service', () =>
    changing(seen => /^(?:Basic|Bearer)$/.test(seen.fields['authorization'] ?? ''), status(500)),
  ),
  mutant('A5.3', 'credentials that are no base64 are those of a known caller that is refused', () =>
    changing(seen => /%%%/.test(seen.fields['authorization'] ?? ''), status(403)),
  ),
  mutant('A5.3', 'an unknown scheme lets everyone in', () =>
    receiving(({ fields }) =>
      fields['authorization'] === 'no-such-scheme' ? { fields: { ...fields, authorization: basicOf('maria') } } : {},
    ),
  ),
  mutant('A7.9', 'a known caller that may not remove is asked who it is', () => askingAgain('DELETE')),
  mutant('A7.10', 'an item that does not exist is a bad request', () =>
    changing(seen => read(/no-such-item/)(seen) && seen.status === 404, status(400)),
  ),
  mutant('A7.10', 'POST to an unknown path breaks the service', () =>
    changing(seen => isOf(seen, 'POST', /no-such-resource/), status(500)),
  ),
  mutant('A7.10', 'POST to an unknown path is a success', () =>
    changing(
      seen => isOf(seen, 'POST', /no-such-resource/),
      status(200),
      content('{}'),
      withField('content-type', 'application/json'),
    ),
  ),
  mutant('A7.10', 'PATCH of what was removed breaks the service', () =>
    changing(seen => seen.method === 'PATCH' && [404, 410].includes(seen.status), status(500)),
  ),
  mutant('A7.10', 'PUT of what was removed is unprocessable', () =>
    changing(seen => seen.method === 'PUT' && [404, 410].includes(seen.status), status(422)),
  ),
  mutant('A7.13', 'PUT of content that breaks the schema is a bad request', () =>
    changing(seen => seen.method === 'PUT' && seen.status === 422, status(400)),
  ),
  mutant('A7.13', 'PATCH of content that breaks the schema breaks the service', () =>
    changing(seen => seen.method === 'PATCH' && seen.status === 422 && /unexpected/.test(seen.sent), status(500)),
  ),

  mutant('A4.4', 'letters beyond ASCII are lost', () =>
    receiving((request, sent) =>
      request.method === 'PUT' && /[^\0-\x7f]/.test(sent)
        ? { content: contentOf(sent.replace(/[^\0-\x7f]+/g, '?')), fields: omitted(request.fields, 'content-length') }
        : {},
    ),
  ),
  mutant('A4.5', 'of a JSON Patch whose test does not hold, the rest is applied', () =>
    receiving((request, sent) =>
      request.method === 'PATCH' && /"replace".*"test"/.test(sent)
        ? {
            content: contentOf(JSON.stringify(JSON.parse(sent).slice(0, 1))),
            fields: omitted(request.fields, 'content-length'),
          }
        : {},
    ),
  ),
  mutant('A4.17', 'Accept with a range that has everything is not acceptable', () =>
    changing(seen => get(item)(seen) && /\*\/\*/.test(seen.fields['accept'] ?? ''), status(406)),
  ),
  mutant('A4.17', 'a media type is compared letter by letter', () =>
    changing(seen => seen.method === 'PUT' && /^Application/.test(seen.fields['content-type'] ?? ''), status(415)),
  ),
  mutant('A4.20', 'If-Match: * makes again what was removed', () => serve => async request => {
    const isGone = request.method === 'PUT' && request.fields['if-match'] === '*'
    const response = await serve(request)
    const made = { status: 200, fields: { 'content-type': 'application/ld+json' }, content: '{}' }
    return isGone && response.status >= 400 ? made : response
  }),
  mutant('A5.3', 'SOAP lets in everyone who has credentials', () =>
    receiving(({ target, fields }) =>
      target.startsWith('/soap/') && /^Basic bm9ib2R5/.test(fields['authorization'] ?? '')
        ? { fields: { ...fields, authorization: basicOf('alice') } }
        : {},
    ),
  ),
  mutant('A7.11', 'an action that is refused has an effect', () => {
    const refused = new Set<string>()
    return changing(
      seen => {
        if (isOf(seen, 'POST', /\/cancellation$/) && seen.status === 409)
          refused.add(seen.path.replace('/cancellation', ''))
        return get(orderItem)(seen) && ok(seen) && isJson(seen) && refused.has(seen.path)
      },
      json(order => ({ ...order, note: 'refused' })),
      withField('etag', '"refused"'),
    )
  }),
  mutant('A7.13', 'a PUT that is refused changes the item', () => {
    const refused = new Set<string>()
    return changing(
      seen => {
        if (seen.method === 'PUT' && seen.status === 422) refused.add(seen.path)
        return get(item)(seen) && ok(seen) && isJson(seen) && refused.has(seen.path)
      },
      json(customer => ({ ...customer, name: 'Refused' })),
      withField('etag', '"refused"'),
    )
  }),
  mutant('B2.1', 'white space and comments between the parts of a message are refused', () =>
    acceptedFault(sends(/<!-- probe -->/)),
  ),
  mutant('B4.2', 'a charset in quotes is another one', () =>
    changing(
      seen => isAccepted(seen) && /charset="/.test(seen.fields['content-type'] ?? ''),
      status(415),
      content(''),
      withoutField('content-type'),
    ),
  ),

  mutant('A4.8', 'HEAD passes over Accept', () =>
    receiving(({ method, fields }) => (method === 'HEAD' ? { fields: omitted(fields, 'accept') } : {})),
  ),
  mutant('A4.19', 'the entity tag of JSON is taken for that of XML', () =>
    changing(
      seen => get(item)(seen) && seen.fields['accept'] === 'application/xml' && 'if-none-match' in seen.fields,
      status(304),
      content(''),
    ),
  ),
  mutant('A4.24', 'fields= of a collection is ignored', () =>
    receiving(request => ({ target: request.target.replace(/^(\/api\/v2\/\w+)\?fields=\w+$/, '$1') })),
  ),
  mutant('A7.7', 'content that is null breaks the service', () =>
    changing(seen => isOf(seen, 'POST', /^\/api/) && seen.sent === 'null', status(500)),
  ),
  mutant('A7.7', 'empty content breaks the service', () =>
    changing(seen => isOf(seen, 'POST', /^\/api\/v2\/\w+$/) && seen.sent === '' && seen.status !== 413, status(500)),
  ),
  mutant('A7.18', 'a page that is no number breaks the service', () =>
    changing(seen => get(ordersPage)(seen) && /page=[^\d]/.test(seen.query), status(500)),
  ),
  mutant('B2.11', 'an Action block that disagrees is passed over', () =>
    acceptedInstead(sends(/:Action[^>]*>urn:example:another-action</)),
  ),
  mutant('B2.11', 'a MessageID needs no Action', () =>
    acceptedInstead(seen => /:MessageID/.test(seen.sent) && !/:Action/.test(seen.sent)),
  ),

  mutant('A9.1', 'a PUT through the older version breaks the service', () =>
    changing(seen => isOf(seen, 'PUT', /^\/api\/v1\//), status(500)),
  ),

  mutant('A9.4', 'Prefer is demanded since the release before', () =>
    changing(
      get(/^\/openapi.json$/),
      text(given => given.replace('"name": "Prefer",', '$& "required": true,')),
    ),
  ),
  mutant('B9.2', 'an element of a message has another name since the release before', () =>
    changing(
      seen => /wsdl/.test(seen.query),
      text(given => given.replace('<xs:element name="into"', '<xs:element name="survivor"')),
    ),
  ),
]
