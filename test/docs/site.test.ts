/** `diglot docs`: what a site holds, what it keeps from its readers, and who reads it at /docs. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { anyone, exchange, header, implement, port, resource, role, type SecurityRule, service, t, x } from 'diglot'
import { startTestService } from 'diglot/testing'
import bank from '../../examples/bank/service.ts'
import helloApp, { hello } from '../../examples/hello/service.ts'
import { shop } from '../../examples/orders/contract.ts'
import orders from '../../examples/orders/service.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { buildSite, type SiteFiles, type SiteOptions } from '../../src/docs/build-site.ts'
import { DocsImpossible, writeDocs } from '../../src/docs/docs-command.ts'

const address = 'https://shop.example'
const site = (app: Parameters<typeof buildSite>[0], options: Partial<SiteOptions> = {}) =>
  buildSite(app, { address, examples: true, ...options })
const pagesOf = (files: SiteFiles) => [...files].filter(([path]) => path.endsWith('.html'))
const pageOf = (files: SiteFiles, path: string): string => files.get(path) ?? assert.fail(`there is no ${path}`)

test('a single resource has pages with examples of both faces, and none of a list', async () => {
  const open = { read: [anyone], create: [anyone], change: [anyone], remove: [anyone] }
  const rates = resource('rates', {
    single: true,
    fields: { daily: t.int() },
    states: ['draft', 'valid'],
    actions: on => ({ publish: on('draft').to('valid', { rel: 'publication' }) }),
  }).rules({ allow: { ...open, publish: [anyone] } })
  const inn = service('inn', { namespace: 'urn:inn', resources: [rates] })
  for (const seed of [() => ({}), () => ({ items: { rates: { daily: 4, state: 'draft' as const } } })]) {
    const files = await site(implement(inn, { rates: { publish: () => {} } }, { seed }))
    for (const { name, message } of listOperations(inn as never)) {
      const page = pageOf(files, `v1/operations/${name}.html`)
      assert.deepEqual(
        [/<h3>Request by REST<\/h3>/.test(page), /<h3>Request by SOAP<\/h3>/.test(page)],
        [true, message],
        name,
      )
      assert.match(page, /<h3>Response, 20\d<\/h3>/, name)
      assert.doesNotMatch(page, /one of rates|\{id\}|undefined/, name)
    }
    assert.match(pageOf(files, 'v1/operations/CreateRates.html'), /Creates the rates, once[\s\S]*PUT \/api\/v1\/rates/)
    assert.equal(files.has('v1/operations/ListRates.html'), false)
  }
})

test('attachments of a port: which parts a message has, and what proves them', async () => {
  const album = x.namespace('urn:album')
  const open = exchange({
    action: 'urn:Open',
    input: album.element('Open', x.string),
    output: x.body({ cover: x.attachment(x.base64Binary, 'image/png', 'image/jpeg'), note: x.attachment(x.string) }),
  })
  const refer = exchange({ action: 'urn:Refer', input: album.element('Refer', x.swaRef), output: 'empty' })
  const close = exchange({ action: 'urn:Close', input: album.element('Close', x.string), output: 'empty' })
  const pageOfRule = async (security: SecurityRule) => {
    const declared = port('Album', {
      namespace: 'urn:album',
      security,
      allow: [anyone],
      exchanges: { open, refer, close },
    })
    const app = implement(service('album', { namespace: 'urn:album', resources: [], ports: [declared] }), {
      Album: {
        open: () => ({
          cover: { mediaType: 'image/png', value: new Uint8Array() },
          note: { mediaType: 'text/plain', value: '' },
        }),
        refer: () => {},
        close: () => {},
      },
    })
    const files = await site(app)
    const rows = pageOf(files, 'ports.html').split('<tr ')
    assert.match(
      rows.find(each => each.includes('>open<')) ?? '',
      /answer: <code>cover<\/code> \(image\/png, image\/jpeg\), <code>note<\/code>/,
    )
    assert.match(rows.find(each => each.includes('>refer<')) ?? '', /request: those that it refers to \(swaRef\)/)
    assert.match(rows.find(each => each.includes('>close<')) ?? '', /"Attachments"><\/td>/)
    return pageOf(files, 'message-security.html')
  }
  assert.match(await pageOfRule({ callers: ['x509'] }), /so is the content of each attachment/)
  assert.match(await pageOfRule({ callers: ['x509'], attachments: 'complete' }), /the fields that describe it/)
  const own = { open: 'none', refer: 'none' } as const
  assert.doesNotMatch(await pageOfRule({ callers: ['x509'], operations: own }), /attachment/, 'close has none')
})

test('a port has a WSDL, with its policies, and with the operations that the reader may call', async () => {
  const desk = x.namespace('urn:desk')
  const ask = (name: string) =>
    ({ action: `urn:${name}`, input: desk.element(name, x.string), output: 'empty' }) as const
  const declared = port('Desk', {
    namespace: 'urn:desk',
    security: { callers: ['x509'], operations: { Close: { callers: ['x509'], encrypted: true } } },
    exchanges: {
      Open: exchange({ ...ask('Open'), allow: [anyone] }),
      Close: exchange({ ...ask('Close'), allow: [role('clerk')] }),
    },
  })
  const contract = service('desk', { namespace: 'urn:desk', resources: [], ports: [declared] })
  const app = implement(contract, { Desk: { Open: () => {}, Close: () => {} } })
  const wsdl = pageOf(await site(app), 'port-Desk.wsdl')
  assert.ok(wsdl.includes(`location="${address}/soap/Desk"`))
  assert.match(wsdl, /sp:EncryptedParts/)
  const forAnyone = pageOf(await site(app, { roles: [] }), 'port-Desk.wsdl')
  assert.match(forAnyone, /sp:SignedParts/)
  assert.doesNotMatch(forAnyone, /Close|EncryptedParts/)
})

describe('the site of the orders service', () => {
  let files: SiteFiles
  before(async () => {
    files = await site(orders)
  })

  test('each operation of each version has a page, with an example of both faces that succeeded', () => {
    for (const version of ['v1', 'v2'])
      for (const { name, message, oneWay } of listOperations(orders.contract)) {
        const page = pageOf(files, `${version}/operations/${name}.html`)
        const asked = [/<h3>Request by REST<\/h3>/.test(page), /<h3>Request by SOAP<\/h3>/.test(page)]
        assert.deepEqual(asked, [!oneWay, message], `${version} ${name}`)
        const [, example = ''] = page.split('<h2>Example</h2>')
        assert.match(example, /<h3>Response, 20\d<\/h3>/, `${version} ${name}`)
      }
  })

  test('a rule of the service shows in an example that is refused, by both faces', () => {
    const [, refused = ''] = pageOf(files, 'v2/operations/PayOrder.html').split('The same, refused')
    assert.match(refused, /422 Unprocessable Content[\s\S]*PaymentDeclined/)
    assert.match(refused, /code:PaymentDeclined/)
  })

  test('an old version has its own fields and addresses', () => {
    assert.doesNotMatch(pageOf(files, 'v1/resources/orders.html'), /<code>note<\/code>/)
    assert.match(pageOf(files, 'v2/resources/orders.html'), /<code>note<\/code>/)
    assert.match(pageOf(files, 'v1/operations/GetOrder.html'), /GET \/api\/v1\/orders\/o-1 HTTP/)
  })

  test('what differs between versions is told for both faces', () => {
    const page = pageOf(files, 'changes.html')
    assert.match(page, /From v1 to v2/)
    assert.match(page, /v2\.Order\/note/)
    assert.match(page, /\{urn:diglot:orders:v2\}note/)
  })

  test('the machine is drawn, and told in words', () => {
    const page = pageOf(files, 'v2/resources/orders.html')
    assert.match(page, /<svg class="machine wide"[^>]*aria-label="The states of orders: placed,/)
    assert.match(page, /<td[^>]*>placed<\/td><td[^>]*><code>pay<\/code><\/td><td[^>]*>paid<\/td>/)
  })

  test('rights are those of the contract', () => {
    const page = pageOf(files, 'access.html')
    assert.match(page, /<code>DeleteOrders<\/code>.*?– 401.*?– 403.*?– 403.*?✓ yes/)
    assert.match(page, /✓ if customer is the caller&#39;s customer/)
  })

  test('every link leads to a page, and to a place in it; nothing else is loaded', () => {
    for (const [path, page] of pagesOf(files)) {
      assert.doesNotMatch(page, /<script|<form|\sstyle=|\son\w+=/, path)
      assert.match(
        page,
        /<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;|default-src 'none'/,
      )
      for (const [, to = ''] of page.matchAll(/(?:href|src)="([^"]*)"/g)) {
        const [file = '', place] = to.split('#')
        const target = file === '' ? path : posix.join(posix.dirname(path), file)
        assert.ok(files.has(target), `${path} → ${to}`)
        if (place) assert.match(files.get(target) ?? '', new RegExp(`id="${place}"`), `${path} → ${to}`)
      }
      const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length, path)
    }
  })
})

test('the same contract makes the same site, also with what is drawn by chance', async () => {
  const [one, other] = [await site(helloApp), await site(helloApp)]
  assert.deepEqual(other, one)
  assert.match(pageOf(one, 'v1/operations/CreateGreeting.html'), /g-00example00000000001/)
})

test('headers have a page, and are sent with the examples', async () => {
  const files = await site(bank)
  assert.match(pageOf(files, 'headers.html'), /id="Branch"[\s\S]*Field branch in HTTP[\s\S]*mustUnderstand/)
  const page = pageOf(files, 'v1/operations/CreateTransfer.html')
  assert.match(page, /Branch: 2026/)
  assert.match(page, /:mustUnderstand=&quot;1&quot;&gt;2026&lt;/)
})

describe('what a site keeps from its readers', () => {
  test('a site for customers has no operation, role or transition of others, in pages and descriptions', async () => {
    const files = await site(orders, { roles: ['customer'] })
    assert.ok(files.has('v2/operations/PayOrder.html'))
    for (const [path, text] of files)
      assert.doesNotMatch(text, /manager|clerk|maria|clara|ShipOrder|DeliverOrder|MergeCustomer|NotifyDelivery/, path)
  })

  test('a site for anyone has what needs no credentials', async () => {
    const files = await site(orders, { roles: [] })
    const operations = [...files.keys()].filter(path => path.startsWith('v2/operations/'))
    assert.deepEqual(operations.map(path => posix.basename(path, '.html')).sort(), [
      'GetProduct',
      'GetProductPicture',
      'ListProducts',
      'SearchProducts',
    ])
    for (const [path, text] of files) assert.doesNotMatch(text, /manager|clerk|alice/, path)
  })

  const boss = role('boss')
  const secrets = resource('secrets', {
    fields: { id: t.id('s'), name: t.string(), cost: t.string().optional().internal() },
    states: ['open', 'shut'],
    actions: on => ({ shut: on('open').to('shut', { rel: 'shutting' }) }),
  }).rules({ allow: { read: [anyone], create: [anyone], shut: [boss] } })
  const contract = service('vault', {
    namespace: 'urn:example:vault',
    resources: [secrets],
    versions: { v1: { retired: true }, v2: {}, v3: { deprecated: '2026-01-01' } },
    headers: { Trace: header(t.string()) },
  })
  const app = implement(
    contract,
    { secrets: { shut: () => {} } },
    { seed: () => ({ items: { secrets: [{ id: 's-1', name: 'a', cost: 'hidden-cost', state: 'open' }] } }) },
  )

  test('no internal field, no retired version', async () => {
    const files = await site(app)
    assert.ok(!files.has('v1/index.html') && files.has('v2/index.html'))
    for (const [path, text] of files) assert.doesNotMatch(text, /cost/, path)
    assert.match(pageOf(files, 'index.html'), /deprecated from 2026-01-01 on/)
  })

  test('a transition of others is not drawn', async () => {
    const files = await site(app, { roles: [] })
    for (const [path, text] of files) assert.doesNotMatch(text, /boss|ShutSecret|shutting/, path)
  })

  test('a resource of others is not named, nor are its texts', async () => {
    const plans = resource('plans', {
      description: 'What is to come.',
      fields: { id: t.id('p'), text: t.string() },
    }).rules({ allow: { read: [boss], create: [boss] } })
    const two = service('two', { namespace: 'urn:example:two', resources: [secrets, plans] })
    const files = await site(implement(two, { secrets: { shut: () => {} } }), { roles: [] })
    for (const [path, text] of files) assert.doesNotMatch(text, /plan|What is to come/i, path)
  })

  test('handlers are called only for examples', async () => {
    let calls = 0
    const derive = () => {
      calls++
      return {}
    }
    const counting = implement(contract, { secrets: { derive, shut: () => {} } })
    const files = await site(counting, { examples: false })
    assert.equal(calls, 0)
    assert.doesNotMatch(pageOf(files, 'v3/operations/CreateSecret.html'), /Example/)
    await site(counting)
    assert.ok(calls > 0)
  })
})

test('message security: what each endpoint of this service asks for', async () => {
  const partner = role('partner')
  const things = resource('things', { fields: { id: t.id('t'), name: t.string() } }).rules({
    allow: { read: [partner], create: [partner] },
  })
  const secure = service('secure', {
    namespace: 'urn:example:secure',
    resources: [things],
    versions: {
      v1: {
        security: {
          callers: ['x509'],
          answers: 'signed',
          operations: { CreateThing: { callers: [{ by: 'x509' }], encrypted: true, answers: 'encrypted' } },
        },
      },
    },
  })
  const files = await site(implement(secure, {}), { examples: false })
  const page = pageOf(files, 'message-security.html')
  assert.match(
    page,
    /POST \/soap\/v1<\/h2>[\s\S]*Every message[\s\S]*X\.509 certificate[\s\S]*CreateThing[\s\S]*encrypted/,
  )
})

describe('diglot docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-docs-'))
  const flags = { role: [], address, examples: false, output: folder }
  const write = (more: object) => writeDocs(helloApp, 'service.ts', { ...flags, ...more }, async () => helloApp)
  test('a site that stands there is replaced, and nothing else is touched', async t => {
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const output = join(folder, 'site')
    await writeDocs(orders, 'service.ts', { ...flags, output }, async () => orders)
    writeFileSync(join(output, 'notes.txt'), 'mine')
    assert.match(await write({ output }), /files in .*site: open/)
    assert.ok(!existsSync(join(output, 'v2/operations/PayOrder.html')))
    assert.ok(existsSync(join(output, 'v1/operations/GetGreeting.html')))
    assert.equal(readFileSync(join(output, 'notes.txt'), 'utf8'), 'mine')
    const other = join(folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'thesis.txt'), 'mine')
    await assert.rejects(write({ output: other }), DocsImpossible)
    await write({ output: other, force: true })
    await assert.rejects(write({ output, role: ['king'] }), /king is not a role of hello: use anyone/)
  })
})

describe('/docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-docs-'))
  const flags = { address, examples: false }
  const write = async (name: string, role: readonly string[]) => {
    const output = join(folder, name)
    await writeDocs(orders, 'service.ts', { ...flags, role, output }, async () => orders)
    return output
  }
  const open = (docs: string | object) => startTestService(shop, orders, { docs: docs as string })
  const html = { headers: { accept: 'text/html' }, redirect: 'manual' } as const

  test('a site of everything has no readers until they are named', async () => {
    const all = await write('all', [])
    await assert.rejects(open(all), /covers all roles: name its readers/)
    await using named = await open({ folder: all, readers: ['manager'] })
    const start = `${named.address}/docs/index.html`
    assert.equal((await named.fetchAs('maria')(start)).status, 200)
    assert.equal((await named.fetchAs('alice')(start)).status, 403)
    assert.equal((await named.fetchAs()(start)).status, 401)
  })

  test('a site for customers is theirs; a browser is led to the sign-in', async () => {
    await using served = await open(await write('customers', ['customer']))
    const start = `${served.address}/docs/index.html`
    const page = await served.fetchAs('alice')(start, html)
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('cache-control'), 'private, no-cache')
    assert.match(page.headers.get('vary') ?? '', /Authorization, Cookie/)
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    assert.equal((await served.fetchAs('clara')(start)).status, 403)
    const sent = await served.fetchAs()(start, html)
    assert.deepEqual([sent.status, sent.headers.get('location')], [303, '/login?to=%2Fdocs%2Findex.html'])
    const entry = await served.fetchAs()(`${served.address}/api/v2`, html)
    assert.match(await entry.text(), /<a href="\/docs" rel="service-doc">Documentation</, 'RFC 8631 §4.1')
    const home = await served.fetchAs()(`${served.address}/docs`, html)
    assert.deepEqual([home.status, home.headers.get('location')], [308, '/docs/index.html'])
    assert.equal((await served.fetchAs('alice')(`${served.address}/docs/v2/operations/ShipOrder.html`)).status, 404)
  })

  test('a site for anyone is public, and only what its manifest lists is served', async () => {
    const output = await write('public', ['anyone'])
    writeFileSync(join(output, 'secret.html'), 'mine')
    await using served = await open(output)
    const style = await served.fetchAs()(`${served.address}/docs/look/page.css`)
    assert.deepEqual([style.status, style.headers.get('cache-control')], [200, 'public, max-age=60'])
    for (const path of ['secret.html', 'site.json', '../../package.json', '%2e%2e/site.json'])
      assert.notEqual((await served.fetchAs('maria')(`${served.address}/docs/${path}`)).status, 200, path)
  })

  test('a site whose writing was cut off is not served, and the next one leaves nothing of it', async () => {
    const output = await write('cut', ['customer'])
    const ofClerks = join(output, 'v2/operations/ShipOrder.html')
    const blocked = join(output, 'look/page.css') // the last ones are the look
    rmSync(blocked)
    mkdirSync(blocked)
    await assert.rejects(write('cut', []), /EISDIR/)
    assert.ok(existsSync(ofClerks), 'it was written before')
    await assert.rejects(open(output), /is not complete: write it again with diglot docs/)
    rmSync(blocked, { recursive: true })
    await using served = await open(await write('cut', ['customer']))
    assert.ok(!existsSync(ofClerks))
    assert.equal((await served.fetchAs('alice')(`${served.address}/docs/index.html`)).status, 200)
  })

  test('a manifest that leads out of its folder ends the start', async () => {
    const output = await write('forged', ['anyone'])
    const manifest = JSON.parse(readFileSync(join(output, 'site.json'), 'utf8'))
    for (const path of ['../index.html', '/etc/passwd', 'a/../../b.html', '.hidden/a.html']) {
      writeFileSync(join(output, 'site.json'), JSON.stringify({ ...manifest, files: [path] }))
      await assert.rejects(open(output), /was not written by diglot docs/)
    }
    await assert.rejects(open(join(folder, 'nowhere')), /cannot be read: write the site with diglot docs -o/)
  })

  test('without the option there is no such page', async () => {
    await using served = await startTestService(hello, helloApp)
    assert.equal((await served.fetchAs()(`${served.address}/docs`)).status, 404)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))
})
