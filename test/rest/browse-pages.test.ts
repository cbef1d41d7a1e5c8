/** What the pages of the interface show: each part for those, and where, it has a use. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { anyone, fault, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'
import { json, type OrdersOverRest, order, startOrders } from './orders-over-rest.ts'

const html = { accept: 'text/html' }

/** Each element of the body on a line: its tag as written, then its text. */
const outline = (text: string): readonly string[] =>
  text
    .replace(/[\s\S]*<body[^>]*>/, '')
    .replace(/<(style|script|svg|pre)[\s\S]*?<\/\1>/g, '')
    .replace(/<(?=[a-z])/g, '\n<')
    .replace(/<\/[a-z0-9]+>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll(/%22\d+-v%22/g, 'TAG')
    .replaceAll(/cursor=[\w-]+/g, 'cursor=C')
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)

const pageOf = async (shop: OrdersOverRest, who: keyof OrdersOverRest['as'], at: string) => {
  const { text, status } = await shop.as[who]('GET', at, html)
  assert.equal(status, 200, `${who} ${at}`)
  const lines = outline(text)
  return {
    lines,
    /** The lines that match. */
    all: (pattern: RegExp) => lines.filter(line => pattern.test(line)),
    /** The lines from the one that begins with this, up to the next that does. */
    part: (from: string, to: string) => {
      const begin = lines.findIndex(line => line.startsWith(from))
      const end = lines.findIndex((line, at) => at > begin && line.startsWith(to))
      return begin < 0 ? [] : lines.slice(begin, end < 0 ? undefined : end)
    },
    cells: () =>
      lines.flatMap((line, at) =>
        line.startsWith('<td') ? [(/>(.+)$/.exec(line) ?? [])[1] ?? lines[at + 1] ?? ''] : [],
      ),
  }
}

describe('the entry page', async () => {
  const shop = await startOrders()
  it('leads to each resource, and says what its items allow', async () => {
    const page = await pageOf(shop, 'anyone', '/api/v2')
    assert.deepEqual(page.part('<h2>Resources', '<section').slice(1), [
      '<ul class="cards">',
      '<li class="card">',
      '<a href="/api/v2/orders" rel="orders">Orders',
      '<p>Items with actions: pay, cancel, ship, track, deliver',
      '<li class="card">',
      '<a href="/api/v2/customers" rel="customers">Customers',
      '<p>Items with actions: merge',
      '<li class="card">',
      '<a href="/api/v2/products" rel="products">Products',
      '<p>Items to read and change',
    ])
    assert.deepEqual(page.part('<h2>Also here', '<section').slice(1), [
      '<ul class="cards">',
      '<li class="card">',
      '<a href="/api/v1" rel="v1">V1',
      '<p>A version of the contract',
      '<li class="card">',
      '<a href="/api/v2" rel="v2">V2',
      '<p>A version of the contract',
    ])
    assert.deepEqual(page.all(/<h2>/), ['<h2>Resources', '<h2>Also here', '<h2>What you may do', '<h2>As HTTP'])
    assert.deepEqual(page.all(/^<p>Version/), [
      '<p>Version v2. One contract, two faces: the same resources over HTTP and as SOAP messages.',
    ])
  })
  it('has a form for each job and for a search, if its reader may start them', async () => {
    const strange = await pageOf(shop, 'anyone', '/api/v2')
    assert.deepEqual(strange.all(/<form id="(searches|reports)-post"/), [])
    const page = await pageOf(shop, 'clara', '/api/v2')
    assert.deepEqual(
      page.part('<section id="actions">', '<section>').filter(line => /<form|<h3|<button|<summary>/.test(line)),
      [
        '<summary>Searches',
        '<form id="searches-post" method="post" action="/api/v2/searches?_method=POST" aria-labelledby="searches-post-title">',
        '<h3 id="searches-post-title">Start searches',
        '<button data-rel="searches">Start searches',
        '<summary>Reports',
        '<form id="reports-post" method="post" action="/api/v2/reports?_method=POST" aria-labelledby="reports-post-title">',
        '<h3 id="reports-post-title">Start reports',
        '<button data-rel="reports">Start reports',
      ],
    )
  })
  it('A5.2 says of each operation whether its reader may ever call it', async () => {
    const rights = async (who: keyof OrdersOverRest['as']) => {
      const page = await pageOf(shop, who, '/api/v2')
      const cells = page.cells()
      const rows = Array.from({ length: cells.length / 3 }, (_, i) => cells.slice(3 * i, 3 * i + 3))
      const yes = rows.filter(([, , may]) => may === '<span class="yes">✓ yes')
      const no = rows.filter(([, , may]) => may === '<span class="no">– no')
      assert.equal(yes.length + no.length, rows.length)
      const [summary] = page.all(/operations$/)
      return { summary, yes: yes.map(([name, request]) => `${name?.slice(6)} ${request}`), all: rows.length }
    }
    const anyone = await rights('anyone')
    assert.deepEqual(anyone.yes, [
      'ListProducts GET /products',
      'SearchProducts QUERY /products',
      'GetProduct GET /products/{id}',
      'GetProductPicture GET /products/{id}/picture',
    ])
    assert.equal(anyone.summary, '<summary>Without signing in: 4 of 39 operations')
    const alice = await rights('alice')
    const maria = await rights('maria')
    assert.equal(alice.summary, `<summary>As alice: ${alice.yes.length} of 39 operations`)
    assert.equal(maria.summary, `<summary>As maria: ${maria.yes.length} of 39 operations`)
    assert.ok(alice.yes.includes('PayOrder POST /orders/{id}/payment'))
    assert.ok(!alice.yes.includes('ShipOrder POST /orders/{id}/shipment'))
    assert.ok(maria.yes.includes('DeleteOrders DELETE /orders') && !alice.yes.includes('DeleteOrders DELETE /orders'))
    for (const each of anyone.yes) assert.ok(alice.yes.includes(each) && maria.yes.includes(each), each)
  })
})

describe('the page of a list', async () => {
  const shop = await startOrders()
  const filters = '/api/v2/orders?size=2&sort=-total&state=paid'

  it('sorts by each column that the contract sorts by, and reverses the current one', async () => {
    const heads = async (at: string) =>
      (await pageOf(shop, 'clara', at)).lines.flatMap((line, i, lines) =>
        line.startsWith('<th ')
          ? [
              (/aria-sort="(\w+)"/.exec(line)?.[1] ?? '') +
                (line.endsWith('>') ? lines[i + 1] : line.replace(/.*>/, '')),
            ]
          : [],
      )
    assert.deepEqual(await heads(filters), [
      'Id',
      '<a href="?size=2&state=paid&sort=customer">Customer',
      '<a href="?size=2&state=paid&sort=currency">Currency',
      'descending<a href="?size=2&state=paid&sort=total">Total ↓',
      'Note',
      '<a href="?size=2&state=paid&sort=placedAt">Placed at',
      '<a href="?size=2&state=paid&sort=state">State',
      '<a href="?size=2&state=paid&sort=paidAt">Paid at',
      'Carrier',
      'Tracking number',
    ])
    const ascending = await heads('/api/v2/orders?page=2&sort=total,-customer')
    assert.equal(ascending[3], 'ascending<a href="?sort=-total">Total ↑')
    assert.equal(ascending[1], '<a href="?sort=customer">Customer', 'the second order is none of the head')
  })

  it('keeps the query in its controls', async () => {
    const page = await pageOf(shop, 'clara', filters)
    assert.deepEqual(page.all(/ selected/), [
      '<option value="paid" selected>paid',
      '<option value="-total" selected>Total, descending',
      '<option value="2" selected>2',
    ])
    assert.deepEqual(page.part('<select id="size"', '<button').slice(1), [
      '<option value="">',
      '<option value="10">10',
      '<option value="20">20',
      '<option value="50">50',
      '<option value="100">100',
      '<option value="2" selected>2',
    ])
    const from = await pageOf(shop, 'clara', '/api/v2/orders?customer=c-2&total[gte]=3.50&size=20')
    assert.deepEqual(
      from.all(/<input .* value="[^"]+"/).map(line => /name="([^"]+)".* value="([^"]+)"/.exec(line)?.slice(1)),
      [
        ['_find', '1'],
        ['customer', 'c-2'],
        ['total[gte]', '3.50'],
      ],
    )
    assert.deepEqual(from.all(/<option value="\d+"/), [
      '<option value="10">10',
      '<option value="20" selected>20',
      '<option value="50">50',
      '<option value="100">100',
    ])
  })

  it('has a control for each way to filter: from and to for ordered values, one for the rest', async () => {
    const { part } = await pageOf(shop, 'clara', '/api/v2/orders')
    const labels = part('<details', '<button>Show').filter(line => line.startsWith('<label'))
    assert.deepEqual(
      labels.map(line => line.replace(/<label for="([^"]+)">(.*)/, '$1: $2')),
      [
        'find-id: Id',
        'find-customer: Customer',
        'find-lines-product: Lines.product',
        'find-currency: Currency',
        'find-total-gte-: Total from',
        'find-total-lte-: Total to',
        'find-note: Note',
        'find-note-absent-: Note absent',
        'find-placedAt-gte-utc: Placed at from (UTC)',
        'find-placedAt-lte-utc: Placed at to (UTC)',
        'find-state: State',
        'find-paidAt-gte-utc: Paid at from (UTC)',
        'find-paidAt-lte-utc: Paid at to (UTC)',
        'find-paidAt-absent-: Paid at absent',
        'find-carrier: Carrier',
        'find-carrier-absent-: Carrier absent',
        'find-trackingNumber: Tracking number',
        'find-trackingNumber-absent-: Tracking number absent',
        'order: Order',
        'size: Items on a page',
      ],
    )
  })

  for (const [query, isOpen] of [
    ['', false],
    ['?size=3', false],
    ['?page=2', false],
    ['?state=paid', true],
    ['?sort=total', true],
  ] as const)
    it(`opens its filters if one is set: ${query || 'none'}`, async () => {
      const page = await pageOf(shop, 'clara', `/api/v2/orders${query}`)
      const [before] = page.lines.flatMap((line, i, lines) =>
        line === '<summary>Filter and order' ? [lines[i - 1]] : [],
      )
      assert.equal(before, isOpen ? '<details open>' : '<details>')
    })

  it('has a row for each item, whose first column leads to it, with links to the items that it refers to', async () => {
    const page = await pageOf(shop, 'clara', filters)
    assert.deepEqual(page.cells().slice(0, 10), [
      '<a href="/api/v2/orders/o-32">o-32',
      '<a href="/api/v2/customers/c-2">c-2',
      '<span class="choice">USD',
      '<span class="number">290.75',
      '<td role="cell" data-label="Placed at">',
      '<time datetime="2026-01-09T03:00:00.000Z">2026-01-09 03:00:00Z',
      '<span class="choice">paid',
      '<time datetime="2026-01-09T04:00:00.000Z">2026-01-09 04:00:00Z',
      '<td role="cell" data-label="Tracking number">',
      '<tr role="row">',
    ])
    assert.equal(page.cells().length, 20)
    assert.deepEqual(page.all(/role="status"/), ['<p role="status">2 of 20'])
  })

  it('says so if there are no items', async () => {
    const page = await pageOf(shop, 'clara', '/api/v2/orders?customer=c-9')
    assert.deepEqual(page.all(/class="panel"|<table|role="status"/), [
      '<p role="status">0 of 0',
      '<p class="panel">There is nothing here.',
    ])
  })

  it('leads to the pages before and after it, if there are any', async () => {
    const pages = async (at: string) => (await pageOf(shop, 'clara', at)).all(/Pages|rel="(next|prev)"/)
    assert.deepEqual(await pages(filters), [
      '<nav class="pages" aria-label="Pages">',
      '<a href="/api/v2/orders?size=2&sort=-total&state=paid&cursor=C" rel="next">Next page →',
    ])
    assert.deepEqual(await pages('/api/v2/orders?size=1&page=2'), [
      '<nav class="pages" aria-label="Pages">',
      '<a href="/api/v2/orders?size=1&page=1" rel="prev">← Previous page',
      '<a href="/api/v2/orders?size=1&page=3" rel="next">Next page →',
    ])
    assert.deepEqual(await pages('/api/v2/orders?size=100'), [])
  })

  it('A4.7 offers to remove the items that its filters show, if the contract allows it, and never all', async () => {
    const bulk = async (who: 'clara' | 'maria', at: string) =>
      (await pageOf(shop, who, at)).all(/_method=DELETE|class="danger"|Remove all/)
    assert.deepEqual(await bulk('maria', '/api/v2/orders?state=cancelled&size=1&page=2&sort=total'), [
      '<summary>Remove all orders that these filters show',
      '<form method="post" action="/api/v2/orders?state=cancelled&_method=DELETE">',
      '<button class="danger">Remove all orders that these filters show',
    ])
    for (const [who, at] of [
      ['clara', '/api/v2/orders?state=cancelled'],
      ['maria', '/api/v2/orders'],
      ['maria', '/api/v2/orders?size=1&sort=total&fields=id'],
      ['maria', '/api/v2/orders?customer=c-9'],
      ['maria', '/api/v2/products?price=1.00'],
    ] as const)
      assert.deepEqual(await bulk(who, at), [], `${who} ${at}`)
  })

  it('searches for words if the contract searches these items', async () => {
    const words = async (at: string) => (await pageOf(shop, 'clara', at)).all(/<form .*role="search"/)
    assert.deepEqual(await words('/api/v2/orders'), [
      '<form class="words" method="get" action="/api/v2/search" role="search" aria-label="Words">',
      '<form method="get" role="search" aria-label="Filters">',
    ])
    assert.deepEqual(await words('/api/v2/products'), ['<form method="get" role="search" aria-label="Filters">'])
    const products = await pageOf(shop, 'clara', '/api/v2/products?q=lamp')
    assert.deepEqual(products.all(/id="words"/), [
      '<input id="words" name="q" type="search" value="lamp" maxlength="1000">',
    ])
    assert.deepEqual(await words('/api/v2/search?q=lamp&size=1'), [
      '<form method="get" action="/api/v2/search" role="search" aria-label="Filters">',
    ])
    const found = await pageOf(shop, 'clara', '/api/v2/search?q=lamp&size=1')
    assert.deepEqual(found.all(/id="words"|<button>|role="status"|<details>|<label for="find/), [
      '<input id="words" name="q" type="search" value="lamp" maxlength="1000">',
      '<label for="find-state">State',
      '<label for="find-customer">Customer',
      '<button>Search',
      '<p role="status">1 of 15',
      '<details>',
    ])
    const made = await shop.as.clara('POST', '/api/v2/searches', json, { q: 'lamp' })
    const stored = await pageOf(shop, 'clara', made.fields['location'] ?? '')
    assert.deepEqual(stored.all(/role="search"|<th .*<a|Filter and order/), [], 'a stored search has its own terms')
    assert.deepEqual(stored.all(/role="status"/), ['<p role="status">15 of 15'])
  })

  it('has a form for a new item, if its reader may make one', async () => {
    const forms = async (who: 'clara' | 'anyone', at: string) =>
      (await pageOf(shop, who, at)).all(/<form id=|<h2>Add|Create one/)
    assert.deepEqual(await forms('clara', '/api/v2/orders?size=1'), [
      '<h2>Add',
      '<summary>Create one',
      '<form id="create-post" method="post" action="/api/v2/orders?_method=POST" aria-labelledby="create-post-title">',
    ])
    assert.deepEqual(await forms('anyone', '/api/v2/products'), [])
  })
})

describe('the page of an item', async () => {
  const shop = await startOrders()
  const forms = async (who: keyof OrdersOverRest['as'], at: string) =>
    (await pageOf(shop, who, at)).all(/<form |<h2>/).map(line => line.replace(/ aria-labelledby.*/, ''))
  const at = (await shop.as.clara('POST', '/api/v2/orders', json, order)).fields['location'] ?? ''

  it('A4.16 shows the validators that programs get for it, also for selected fields', async () => {
    for (const target of [at, `${at}?fields=total`, '/api/v2/products/p-1']) {
      const { text } = await shop.as.clara('GET', target, html)
      const { fields } = await shop.as.clara('GET', target, { accept: 'application/hal+json' })
      const shown = /HTTP\/1\.1 200 OK\n.*\nETag: (.*)\nLast-Modified: (.*)\n/.exec(text.replaceAll('&quot;', '"'))
      assert.deepEqual([shown?.[1], shown?.[2]], [fields['etag'], fields['last-modified']], target)
    }
  })
  it('A3.4 has a form for each transition that its state allows its reader, and for each change', async () => {
    assert.deepEqual(await forms('clara', at), [
      '<h2>State',
      '<h2>What can be done now',
      `<form id="payment-post" method="post" action="${at}/payment?_method=POST&_match=TAG"`,
      `<form id="cancel-post" method="post" action="${at}/cancellation?_method=POST&_match=TAG"`,
      '<h2>Change',
      `<form id="edit-put" method="post" action="${at}?_method=PUT&_match=TAG"`,
      `<form id="edit-patch" method="post" action="${at}?_method=PATCH&_match=TAG"`,
      '<h2>As HTTP',
    ])
    await shop.as.clara('POST', `${at}/cancellation`, json, {})
    assert.deepEqual(await forms('clara', at), ['<h2>State', '<h2>As HTTP'])
    assert.deepEqual(await forms('maria', at), [
      '<h2>State',
      '<h2>Change',
      `<form id="delete-delete" method="post" action="${at}?_method=DELETE&_match=TAG"`,
      '<h2>As HTTP',
    ])
  })
  it('marks the button that removes it', async () => {
    const page = await pageOf(shop, 'maria', at)
    assert.deepEqual(page.all(/<button/), ['<button class="danger" data-rel="delete">Delete this order'])
  })
  it('leads to what belongs to it, but not to the forms or to itself', async () => {
    const page = await pageOf(shop, 'clara', '/api/v2/orders/o-1')
    assert.deepEqual(page.part('<nav aria-label="Links"', '<aside').slice(1), [
      '<ul class="links">',
      '<li>',
      '<a href="/api/v2/orders" rel="collection">Collection',
      '<li>',
      '<a href="/api/v2/customers/c-1" rel="customer">Customer',
    ])
    assert.deepEqual(page.part('<nav aria-label="Way back"', '<h1').slice(1), [
      '<ol>',
      '<li>',
      '<a href="/api/v2">Start',
      '<li>',
      '<a href="/api/v2/orders">Orders',
    ])
  })
  it('of a change of some fields says that fields left empty stay, and requires none', async () => {
    const page = await pageOf(shop, 'clara', '/api/v2/orders/o-1')
    const patch = page.part('<form id="edit-patch"', '<nav')
    assert.deepEqual(
      patch.filter(line => /hint"|required/.test(line) && !/aria-describedby|id="/.test(line)),
      ['<p class="hint">Empty fields stay unchanged.'],
    )
    assert.ok(!patch.some(line => / required/.test(line)))
    const put = page.part('<form id="edit-put"', '<details')
    assert.equal(put.filter(line => / required/.test(line)).length, 4)
    assert.ok(put.includes('<option value="EUR" selected>EUR'))
  })
  it('of an item without states draws none', async () => {
    assert.deepEqual(await forms('anyone', '/api/v2/products/p-1'), ['<h2>As HTTP'])
    assert.deepEqual((await forms('maria', '/api/v2/products/p-1')).slice(0, 4), [
      '<h2>Change',
      '<form id="edit-put" method="post" action="/api/v2/products/p-1?_method=PUT&_match=TAG"',
      '<form id="edit-patch" method="post" action="/api/v2/products/p-1?_method=PATCH&_match=TAG"',
      '<form id="delete-delete" method="post" action="/api/v2/products/p-1?_method=DELETE&_match=TAG"',
    ])
  })
})

describe('the page of a job', async () => {
  const shop = await startOrders()
  it('A3.1 reloads while it runs, and can cancel it; once done it leads to the result', async () => {
    const report = { from: '2026-01-01', to: '2026-12-31', kind: 'sales' }
    const at = (await shop.as.clara('POST', '/api/v2/reports', json, report)).fields['location'] ?? ''
    const queued = await pageOf(shop, 'clara', at)
    assert.deepEqual(queued.part('<section id="actions"', '<aside'), [
      '<section id="actions">',
      '<h2>What can be done now',
      '<div class="forms">',
      `<form id="cancel-post" method="post" action="${at}/cancellation?_method=POST" aria-labelledby="cancel-post-title">`,
      '<h3 id="cancel-post-title">Cancel',
      '<div class="buttons">',
      '<button data-rel="cancel">Cancel',
      '<p data-refresh="2">',
      '<label for="progress">Progress',
      '<progress id="progress" max="100" value="0">0 %',
      `<a href="${at}">Look again`,
    ])
    await shop.store.write(async writer => {
      const job = await writer.job(at.split('/').at(-1) ?? '')
      if (job) await writer.putJob({ ...job, progress: 0.456 })
    })
    const half = await pageOf(shop, 'clara', at)
    assert.deepEqual(half.all(/<progress/), ['<progress id="progress" max="100" value="46">46 %'])
    await shop.work()
    const done = await pageOf(shop, 'clara', at)
    assert.deepEqual(done.all(/data-refresh|<form|<progress|rel="related"/), [
      `<a href="${at.replace('/jobs/', '/')}" rel="related">Result`,
    ])
  })
})

/** A host with pages to sign in, and messages. */
const links = () => [
  { rel: 'login', href: '/login' },
  { rel: 'soap', href: '/soap/v2' },
]
const own = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'text/html',
  origin: 'http://localhost',
  host: 'localhost',
  'sec-fetch-site': 'same-origin',
}

describe('RFC 9110 §15.4.4 a form leads to the page of the changed item', async () => {
  const shop = await startOrders()
  const send = async (who: 'clara' | 'maria', at: string, typed = '') => {
    const { status, fields } = await shop.as[who]('POST', at, own, typed)
    return [status, fields['location']?.replace(/-new\d+/, '-new'), fields['cache-control']]
  }
  const make = async () => (await shop.as.clara('POST', '/api/v2/orders', json, order)).fields['location'] ?? ''
  const typed = 'customer=c-1&lines[0][product]=p-1&lines[0][quantity]=2&currency=EUR'
  const report = 'from=2026-01-01&to=2026-12-31&kind=sales'
  const rows: readonly (readonly [
    what: string,
    who: 'clara' | 'maria',
    at: () => Promise<string>,
    typed: string,
    to: string,
  ])[] = [
    ['a new item', 'clara', async () => '/api/v2/orders?_method=POST', typed, '/api/v2/orders/o-new#done'],
    [
      'an action',
      'clara',
      async () => `${await make()}/cancellation?_method=POST`,
      'reason=x',
      '/api/v2/orders/o-new#done',
    ],
    [
      'an action whose output is kept',
      'clara',
      async () => '/api/v2/orders/o-1/payment?_method=POST',
      'method=card&amount=4.95',
      '/api/v2/orders/o-1#done',
    ],
    [
      'a move',
      'maria',
      async () => '/api/v2/customers/c-3/merger?_method=POST',
      'into=c-2',
      '/api/v2/customers/c-2#done',
    ],
    ['a search', 'clara', async () => '/api/v2/searches?_method=POST', 'q=lamp', '/api/v2/searches/s-new#done'],
    ['a job', 'clara', async () => '/api/v2/reports?_method=POST', report, '/api/v2/reports/jobs/j-new#done'],
    [
      'the end of a job',
      'clara',
      async () => {
        const started = { from: '2026-01-01', to: '2026-12-31', kind: 'sales' }
        return `${(await shop.as.clara('POST', '/api/v2/reports', json, started)).fields['location']}/cancellation?_method=POST`
      },
      '',
      '/api/v2/reports/jobs/j-new#done',
    ],
  ]
  for (const [what, who, at, sent, to] of rows)
    it(what, async () => assert.deepEqual(await send(who, await at(), sent), [303, to, 'no-store']))
  it('but a response that is shown only once comes at once', async () => {
    const { status, text } = await shop.as.maria('POST', '/api/v2/orders?state=cancelled&_method=DELETE', own, '')
    assert.equal(status, 200)
    assert.match(text, /<dt>Removed<\/dt>/)
  })
})

describe('the page of a problem', async () => {
  const shop = await startOrders({ options: { links: links as never } })
  const page = async (who: keyof OrdersOverRest['as'], method: string, at: string, typed?: string) => {
    const answer = await shop.as[who](method, at, typed === undefined ? html : own, typed)
    const lines = outline(answer.text)
    return { status: answer.status, lines, all: (pattern: RegExp) => lines.filter(line => pattern.test(line)) }
  }

  it('says what is wrong and where that was decided, and leads back', async () => {
    for (const [at, status, title, row, back] of [
      ['/api/v2/orders?x=1', 400, 'Bad query parameter', 14, []],
      ['/api/v2/orders/o-none', 404, 'Not found', 22, ['<a href="/api/v2/orders">Orders']],
      [
        '/api/v2/orders/o-none/payment',
        404,
        'Not found',
        22,
        ['<a href="/api/v2/orders">Orders', '<a href="/api/v2/orders/o-none">Order o-none'],
      ],
    ] as const) {
      const problem = await page('clara', 'GET', at)
      assert.equal(problem.status, status)
      assert.deepEqual(problem.all(/^<h1|^<h2>\d/), [`<h1>${title}`, `<h2>${status}`])
      assert.deepEqual(problem.all(/Decided/), [`<a href="/decisions#row-${row}">Decided at row ${row}`])
      const trail = problem.lines.slice(
        problem.lines.indexOf('<ol>'),
        problem.lines.findIndex(line => line.startsWith('<h1')),
      )
      assert.deepEqual(
        trail.filter(line => line.startsWith('<a')),
        ['<a href="/api/v2">Start', ...back],
      )
    }
  })
  it('names its reader only if credentials were read, and then lets them sign out', async () => {
    const known = await page('clara', 'GET', '/api/v2/orders/o-none?fields=id')
    assert.deepEqual(known.all(/class="(name|roles)"|logout|name="to"/), [
      '<span class="name">clara',
      '<span class="roles">clerk',
      '<form method="post" action="/logout">',
      '<input type="hidden" name="to" value="/api/v2/orders/o-none?fields=id">',
    ])
    assert.deepEqual((await page('clara', 'GET', '/api/v2/orders?x=1')).all(/visitor|clara/), [], 'row 14 is before')
  })
  it('401 leads to the sign-in and back', async () => {
    const told = await page('anyone', 'GET', '/api/v2/orders?size=2')
    assert.equal(told.status, 401)
    const to = '/login?to=%2Fapi%2Fv2%2Forders%3Fsize%3D2'
    assert.deepEqual(told.all(/class="button"/), [`<a href="${to}" class="button">Sign in`])
    const sent = await page('anyone', 'POST', '/api/v2/orders/o-1/cancellation?_method=POST', 'reason=x')
    assert.equal(sent.status, 401)
    const back = '/login?to=%2Fapi%2Fv2%2Forders%2Fo-1%2Fcancellation'
    assert.deepEqual(sent.all(/class="button"/), [`<a href="${back}" class="button">Sign in`])
    assert.deepEqual((await page('alice', 'GET', '/api/v2/orders/o-2')).all(/Sign in/), [])
  })
  it('has the form again with the typed values, problems at their controls, and the current values', async () => {
    const long = 'x'.repeat(501)
    const told = await page('clara', 'POST', '/api/v2/orders/o-1/cancellation?_method=POST', `reason=${long}`)
    assert.equal(told.status, 422)
    assert.deepEqual(told.all(/^<h2|href="#c|class="problem"|class="field wrong"|^x+$|^<form id/), [
      '<h2>422',
      '<a href="#cancel-post-reason">Reason must have at most 500 characters.',
      '<h2>What you sent',
      '<form id="cancel-post" method="post" action="/api/v2/orders/o-1/cancellation?_method=POST&_match=TAG" aria-labelledby="cancel-post-title">',
      '<div class="field wrong">',
      '<span class="problem" id="cancel-post-reason-problem">Must have at most 500 characters.',
      long,
      '<h2>Its current state',
      '<h2>State',
      '<h2>What can be done now',
      '<form id="payment-post" method="post" action="/api/v2/orders/o-1/payment?_method=POST&_match=TAG" aria-labelledby="payment-post-title">',
      '<h2>Change',
      '<form id="edit-put" method="post" action="/api/v2/orders/o-1?_method=PUT&_match=TAG" aria-labelledby="edit-put-title">',
      '<form id="edit-patch" method="post" action="/api/v2/orders/o-1?_method=PATCH&_match=TAG" aria-labelledby="edit-patch-title">',
      '<h2>As HTTP',
    ])
  })
})

describe('the same for programs', async () => {
  const shop = await startOrders()
  const request = async (who: keyof OrdersOverRest['as'], at: string) => {
    const { text } = await shop.as[who]('GET', at, html)
    const panes = [...text.matchAll(/<pre[^>]*>([\s\S]*?)<\/pre>/g)].map(([, inside]) => inside ?? '')
    return { asked: panes[0]?.split('\n'), told: (panes[1] ?? '').replaceAll('&quot;', '"'), count: panes.length }
  }
  it('is the request that gets the same response, with credentials if there were any', async () => {
    const { asked, told, count } = await request('clara', '/api/v2/orders?size=2&state=paid')
    assert.deepEqual(asked, [
      'GET /api/v2/orders?size=2&amp;state=paid HTTP/1.1',
      'Accept: application/hal+json',
      'Authorization: Bearer …',
    ])
    assert.match(told, /^HTTP\/1\.1 200 OK\nContent-Type: application\/hal\+json\n\n\{\n/)
    assert.equal(count, 2)
    assert.deepEqual((await request('anyone', '/api/v2/products/p-1')).asked, [
      'GET /api/v2/products/p-1 HTTP/1.1',
      'Accept: application/hal+json',
    ])
  })
  it('is cut if it is longer than 20,000 characters, and says so', async () => {
    const { told } = await request('clara', '/api/v2/orders?size=100')
    assert.ok(told.replace(/<[^>]+>/g, '').length < 25_000, `${told.length}`)
    assert.match(told.slice(-200), /…|more/)
    const { told: few } = await request('clara', '/api/v2/orders?size=1')
    assert.ok(!few.includes('…'))
  })
})

it('the entry describes actions that someone may perform, and not those for handlers', async () => {
  const offers = resource('offers', {
    fields: { id: t.id('o'), state: t.state() },
    states: ['open', 'over'],
    actions: on => ({
      takeBack: on('open').stay({ rel: 'withdrawal' }),
      expire: on('open').to('over', { rel: 'expiry' }),
    }),
  }).rules({ allow: { read: [anyone], takeBack: [anyone], expire: [] } })
  const market = service('market', { namespace: 'urn:example:market', resources: [offers] })
  const handlers = { offers: { takeBack: () => {}, expire: () => {} } }
  await using tests = await startTestService(market, implement(market, handlers))
  const page = await (await tests.fetchAs()(`${tests.address}/api/v1`, { headers: html })).text()
  assert.match(page, /<p>Items with actions: take back<\/p>/)
})

describe('a field with a title', async () => {
  const Taken = fault('Taken', { status: 409, title: 'Taken', description: 'Wait until it is free.', detail: { until: t.date() } }) // biome-ignore format: one line
  const letters = resource('letters', {
    fields: { id: t.id('l'), plate: t.string({ max: 3 }).describe('As on the car', { title: 'Number plate' }) },
  }).rules({ sort: ['plate'], allow: { read: [anyone], create: [anyone] }, faults: { create: [Taken] } })
  const post = service('post', { namespace: 'urn:example:post', resources: [letters] })
  const tests = await startTestService(
    post,
    implement(post, {
      letters: {
        derive: (ctx, { plate }) => {
          if (plate === 'X') ctx.fail(Taken, { until: '2027-01-31' })
          return {}
        },
      },
    }),
  )
  after(() => tests.close())
  const ask = async (at: string, init: RequestInit = {}) =>
    (await tests.fetchAs()(`${tests.address}/api/v1/letters${at}`, { ...init, headers: { ...html, ...init.headers } })).text() // biome-ignore format: one line

  it('has that title among the sort orders of its list', async () => {
    assert.match(await ask(''), />Number plate, ascending<.*>Number plate, descending</s)
  })
  it('has its title beside the text of a declared fault', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(tests.address).origin }
    const page = await ask('?_method=POST', { method: 'POST', headers, body: 'plate=X' })
    assert.match(page, /<p>Wait until it is free\.<\/p><dl><div><dt>Until<\/dt><dd><time[^>]*>2027-01-31/)
    assert.match(page, /value="X"/)
  })
  it('has that title if a form has it wrong', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(tests.address).origin }
    assert.match(await ask('?_method=POST', { method: 'POST', headers, body: 'plate=ABCD' }), />Number plate must have/)
  })
})
