/** Row 14: what each parameter of a query means, and which one a refusal names. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import app from '../../examples/orders/service.ts'
import type { Pairs } from '../../src/http/uri.ts'
import { writeCursor } from '../../src/rest/page-cursor.ts'
import { parseParameters } from '../../src/rest/query-parameters.ts'
import { compileRoutes, matchRoute } from '../../src/rest/route.ts'
import { Refused } from '../../src/service/refusal.ts'

const routes = compileRoutes(app.contract)
const orders = app.contract.resources.find(each => each.name === 'orders') ?? assert.fail('no orders')
const pairsOf = (text: string): Pairs =>
  text === ''
    ? []
    : text.split('&').map(pair => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)] as const)

function parse(target: string, method = 'GET', lenient = false) {
  const [path = '', query = ''] = target.split('?')
  const found = matchRoute(routes, path.split('/').slice(1), 0) ?? assert.fail(`no route for ${path}`)
  const operation = found.route.methods.get(method) ?? assert.fail(`no ${method} of ${path}`)
  return parseParameters(operation, found.route, found.id, pairsOf(query), lenient)
}
const queryOf = (target: string, method?: string) => parse(target, method).query ?? assert.fail('no query')
/** Name and detail of the refusal. */
function refusalOf(target: string, method?: string): readonly [string, string] {
  try {
    parse(target, method)
  } catch (thrown) {
    assert.ok(thrown instanceof Refused)
    const refusal = thrown.refusal as unknown as { kind: string; name: string; detail: string }
    assert.equal(refusal.kind, 'bad-parameter')
    return [refusal.name, refusal.detail]
  }
  return assert.fail('it was not refused')
}

describe('without parameters', () => {
  it('a list has twenty items in the order of the contract, counted', () => {
    assert.deepEqual(parse('/orders'), {
      query: {
        filters: [],
        sort: [{ field: 'placedAt', descending: true }],
        size: 20,
        counted: true,
        octets: 4 * 1024 * 1024,
      },
      only: undefined,
      kept: [],
      page: undefined,
    })
  })
  it('an item and a change have none', () => {
    for (const [path, method] of [
      ['/orders/o-1', 'GET'],
      ['/orders/o-1', 'PUT'],
      ['/orders', 'POST'],
      ['/reports/jobs/j-1', 'GET'],
    ] as const)
      assert.deepEqual(parse(path, method), { query: undefined, only: undefined, kept: [], page: undefined })
  })
  it('a list below an item has the filter of its owner', () => {
    const { filters } = queryOf('/customers/c-7/orders?state=paid')
    assert.deepEqual(filters, [
      { field: 'customer', is: 'eq', value: 'c-7' },
      { field: 'state', is: 'eq', value: 'paid' },
    ])
  })
})

describe('a filter', () => {
  for (const [text, field, is, value] of [
    ['state=paid', 'state', 'eq', 'paid'],
    ['state[eq]=paid', 'state', 'eq', 'paid'],
    ['state[ne]=paid', 'state', 'ne', 'paid'],
    ['state[in]=paid,placed', 'state', 'in', ['paid', 'placed']],
    ['state[in]=paid', 'state', 'in', ['paid']],
    ['note[in]=a\\,b,c', 'note', 'in', ['a,b', 'c']],
    ['note[in]=a\\\\,b\\c,d\\', 'note', 'in', ['a\\', 'b\\c', 'd\\']],
    ['total[gt]=9.50', 'total', 'gt', '9.50'],
    ['total[gte]=9.50', 'total', 'gte', '9.50'],
    ['total[lt]=9.50', 'total', 'lt', '9.50'],
    ['total[lte]=9.50', 'total', 'lte', '9.50'],
    ['note=a,b', 'note', 'eq', 'a,b'],
    ['note[absent]=true', 'note', 'absent', true],
    ['note[absent]=false', 'note', 'absent', false],
  ] as const)
    it(text, () => assert.deepEqual(queryOf(`/orders?${text}`).filters, [{ field, is, value }]))
  it('may be given several times, and then all conditions hold', () => {
    assert.equal(queryOf('/orders?total[gte]=1.00&total[lte]=2.00&state=paid&state[ne]=placed').filters.length, 4)
  })
  for (const [target, name, says] of [
    ['/orders?note[absent]=yes', 'note[absent]', /true or false/],
    [
      '/orders?total[absent]=true',
      'total[absent]',
      /^is not a comparison of total: use total, total\[ne\], total\[gt\], total\[gte\], total\[lt\], total\[lte\], total\[in\]$/,
    ],
    ['/orders?state=none', 'state', /must be one of placed, paid/],
    ['/orders?state[in]=paid,none', 'state[in]', /must be one of placed, paid/],
    ['/orders?state[in]=paid&state[in]=placed', 'state[in]', /is given twice, .*: separate the values by commas/],
    ['/orders?total[gte]=x', 'total[gte]', /./],
    [
      '/orders?lines=1',
      'lines',
      /^is not a known query parameter here: use id, customer, lines\.product, .*, page, size, cursor, sort, fields$/,
    ],
    ['/orders?state[like]=p', 'state[like]', /^is not a comparison of state: use state, state\[ne\], /],
    ['/orders?state[EQ]=paid', 'state[EQ]', /is not a comparison of state/],
    ['/orders?state[eq=paid', 'state[eq', /is not a comparison of state/],
    ['/orders?state]=paid', 'state]', /is not a known query parameter here/],
    ['/orders?__proto__=1', '__proto__', /is not a known query parameter here/],
    ['/orders/o-1?state=paid', 'state', /^is not a known query parameter here: use fields$/],
    ['/orders?q=lamp', 'q', /is not a known query parameter here/],
    ['/search?q=lamp&state[ne]=paid', 'state[ne]', /^is not a comparison of state: use state$/],
    ['/search?q=lamp&total=1.00', 'total', /is not a known query parameter here/],
  ] as const)
    it(`is refused with its name: ${target}`, () => {
      const [named, detail] = refusalOf(target)
      assert.equal(named, name)
      assert.match(detail, says)
    })
})

describe('the window', () => {
  it('by number begins after the pages before it, and only the first page is counted', () => {
    for (const [text, size, offset, page, counted] of [
      ['size=1', 1, undefined, undefined, true],
      ['size=100', 100, undefined, undefined, true],
      ['page=1', 20, 0, 1, true],
      ['page=2', 20, 20, 2, false],
      ['page=3&size=7', 7, 14, 3, false],
      ['page=100&size=100', 100, 9900, 100, false],
      ['page=10000&size=1', 1, 9999, 10_000, false],
    ] as const) {
      const parsed = parse(`/orders?${text}`)
      assert.deepEqual(
        [parsed.query?.size, parsed.query?.offset, parsed.page, parsed.query?.counted],
        [size, offset, page, counted],
        text,
      )
    }
  })
  for (const [text, name, says] of [
    ['size=0', 'size', /must be a whole number from 1 to 100/],
    ['size=101', 'size', /must be a whole number from 1 to 100/],
    ['size=-1', 'size', /whole number/],
    ['size=1.5', 'size', /whole number/],
    ['size=', 'size', /whole number/],
    ['size=0000000001', 'size', /whole number/],
    ['page=0', 'page', /must be a whole number from 1 to 1000000/],
    ['page=1000001&size=1', 'page', /must be a whole number from 1 to 1000000/],
    ['page=501', 'page', /must not go beyond item 10000: follow the link next/],
    ['page=101&size=100', 'page', /must not go beyond item 10000/],
    ['page=10001&size=1', 'page', /must not go beyond item 10000/],
    ['cursor=x', 'cursor', /is not a cursor of this query: follow a link to a page/],
    ['page=1&cursor=x', 'cursor', /cannot be combined with page: give one of them/],
    ['size=1&size=2', 'size', /is given twice/],
    ['size=1&size=1', 'size', /is given twice/],
  ] as const)
    it(`is refused: ${text}`, () => {
      const [named, detail] = refusalOf(`/orders?${text}`)
      assert.equal(named, name)
      assert.match(detail, says)
    })
  it('by cursor continues after its row, and is not counted', () => {
    const sort = [{ field: 'total', descending: false }]
    const from = { keys: ['9.50'], id: 'o-7', backwards: true }
    const text = writeCursor(orders, sort, from)
    const { query, page, kept } = parse(`/orders?sort=total&size=3&state=paid&cursor=${text}`)
    assert.deepEqual([query?.from, query?.counted, query?.offset, page], [from, false, undefined, undefined])
    assert.deepEqual(kept, [
      ['sort', 'total'],
      ['size', '3'],
      ['state', 'paid'],
    ])
    assert.equal(refusalOf(`/orders?sort=-total&cursor=${text}`)[0], 'cursor', 'it belongs to its sort')
  })
  it('of a page by number is not part of the query that other pages keep', () => {
    assert.deepEqual(parse('/orders?page=2&note=x').kept, [['note', 'x']])
  })
})

describe('the order', () => {
  for (const [text, sort] of [
    ['sort=total', [{ field: 'total', descending: false }]],
    ['sort=-total', [{ field: 'total', descending: true }]],
    [
      'sort=-total,customer',
      [
        { field: 'total', descending: true },
        { field: 'customer', descending: false },
      ],
    ],
  ] as const)
    it(text, () => assert.deepEqual(queryOf(`/orders?${text}`).sort, sort))
  for (const [text, says] of [
    ['sort=note', /^note cannot sort orders: use customer, .*, paidAt; with "-" in front, the largest is first$/],
    ['sort=none', /^none cannot sort orders: use customer, .*, paidAt;/],
    ['sort=', /^has an empty name: use customer, .*, paidAt;/],
    ['sort=total,', /^has an empty name: use customer, .*, paidAt;/],
    ['sort=-', /^has an empty name: use customer, .*, paidAt;/],
    ['sort=--total', /^-total cannot sort orders: use customer, .*, paidAt;/],
    ['sort=total,-total', /total is given twice/],
    ['sort=total,customer,total', /total is given twice/],
  ] as const)
    it(`is refused: ${text}`, () => {
      const [name, detail] = refusalOf(`/orders?${text}`)
      assert.equal(name, 'sort')
      assert.match(detail, says)
    })
})

describe('the selection of fields', () => {
  it('is the same set for the same text, for a list and for an item', () => {
    const only = parse('/orders?fields=id,total').only
    assert.deepEqual([...(only ?? [])], ['id', 'total'])
    assert.equal(parse('/orders/o-1?fields=id,total').only, only)
    assert.equal(parse('/orders/o-1?fields=id,total').query, undefined)
    assert.equal(parse('/orders').only, undefined)
  })
  for (const [text, says] of [
    ['none', /^none is not a known field of orders: use id, /],
    ['', /^has an empty name: use id, /],
    ['id,', /^has an empty name: use id, /],
    ['id,none', /^none is not a known field of orders: use id, /],
    ['constructor', /^constructor is not a known field of orders/],
    ['id total', /^id total is not a known field of orders/],
  ] as const)
    it(`is refused: ${JSON.stringify(text)}`, () => {
      const [name, detail] = refusalOf(`/orders?fields=${text}`)
      assert.equal(name, 'fields')
      assert.match(detail, says)
    })
})

describe('a search', () => {
  it('has its words in q, in lower case, each once', () => {
    const query = queryOf('/search?q=Brass lamp, brass&state=paid&size=5')
    assert.deepEqual([query.words, query.size], [['brass', 'lamp'], 5])
    assert.deepEqual(query.filters, [{ field: 'state', is: 'eq', value: 'paid' }])
    assert.equal(queryOf('/search?state=paid').words, undefined)
    assert.deepEqual(queryOf('/search?q=').words, [])
  })
  it('has 500 words at most', () => {
    const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ')
    assert.equal(queryOf(`/search?q=${words(500)}`).words?.length, 500)
    assert.deepEqual(refusalOf(`/search?q=${words(501)}`), ['q', 'has more than 500 words'])
  })
  it('by QUERY has its words in the content, and pages in the target', () => {
    const query = queryOf('/orders?size=5', 'QUERY')
    assert.deepEqual([query.size, query.words], [5, undefined])
    assert.equal(refusalOf('/orders?q=lamp', 'QUERY')[0], 'q')
    assert.equal(refusalOf('/orders?state=paid', 'QUERY')[0], 'state')
  })
})

describe('A4.7 a bulk removal', () => {
  it('has filters, and no window, order or selection', () => {
    assert.deepEqual(parse('/orders?state=cancelled', 'DELETE').query, {
      filters: [{ field: 'state', is: 'eq', value: 'cancelled' }],
      sort: [],
      size: 100,
      counted: false,
    })
    for (const text of ['size=1', 'page=1', 'sort=total', 'fields=id', 'cursor=x']) {
      const [name, detail] = refusalOf(`/orders?state=cancelled&${text}`, 'DELETE')
      assert.equal(name, text.split('=')[0])
      assert.match(detail, /^is not a known query parameter here: use id, .*, trackingNumber$/)
    }
  })
  it('without a filter is refused', () => {
    assert.match(refusalOf('/orders', 'DELETE')[1], /requires a filter: give at least one/)
  })
})

describe('RFC 7240 §4.4 handling=lenient', () => {
  it('ignores unknown parameters, and nothing else', () => {
    const { query, kept } = parse('/orders?x=1&state=paid&y[z]=2&size=3', 'GET', true)
    assert.deepEqual([query?.size, query?.filters.length], [3, 1])
    assert.deepEqual(kept, [
      ['state', 'paid'],
      ['size', '3'],
    ])
    for (const target of ['/orders?size=0', '/orders?state=none', '/orders?size=1&size=2', '/orders?sort=none'])
      assert.throws(() => parse(target, 'GET', true), Refused, target)
  })
})

describe('a path', () => {
  for (const [path, template, id] of [
    ['/orders', '/orders', undefined],
    ['/orders/o-1', '/orders/{id}', 'o-1'],
    ['/orders/o-1/payment', '/orders/{id}/payment', 'o-1'],
    ['/customers/c-1/orders', '/customers/{id}/orders', 'c-1'],
    ['/products/p-1/picture', '/products/{id}/picture', 'p-1'],
    ['/search', '/search', undefined],
    ['/searches/s-1', '/searches/{id}', 's-1'],
    ['/reports/jobs/j-1', '/reports/jobs/{id}', 'j-1'],
    ['/reports/jobs/j-1/cancellation', '/reports/jobs/{id}/cancellation', 'j-1'],
    ['/reports/j-1', '/reports/{id}', 'j-1'],
    ['/none', undefined, undefined],
    ['/orders/', undefined, undefined],
    ['/orders/a b', undefined, undefined],
    ['/orders/o-1/none', undefined, undefined],
    ['/orders/o-1/payment/x', undefined, undefined],
    ['/reports/jobs', undefined, undefined],
    ['/reports/jobs/j-1/none', undefined, undefined],
  ] as const)
    it(`${path} is ${template ?? 'no route'}`, () => {
      const found = matchRoute(routes, path.split('/').slice(1), 0)
      assert.deepEqual([found?.route.template, found?.id], [template, id])
      const behind = matchRoute(routes, ['api', 'v2', ...path.split('/').slice(1)], 2)
      assert.equal(behind?.route, found?.route)
    })
})
