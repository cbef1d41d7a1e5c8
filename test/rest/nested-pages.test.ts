/** Pages of nested items: where they lead, and what their forms do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from '../../src/testing/index.ts'
import app, { shop } from '../service/nested-shop.ts'

test('A page of an item leads to its parent, and a form makes an item in it', async () => {
  await using running = await startTestService(shop, app)
  const ask = running.fetchAs('ann')
  const read = async (path: string): Promise<string> => {
    const response = await ask(running.address + path, { headers: { accept: 'text/html' } })
    assert.equal(response.status, 200, path)
    return response.text()
  }
  const parent = await read('/api/v2/orders/o-1')
  assert.match(parent, /href="\/api\/v2\/orders\/o-1\/notes"/)
  const list = await read('/api/v2/orders/o-1/notes')
  for (const href of ['/api/v2/orders/o-1', '/api/v2/orders/o-1/notes/n-1'])
    assert.ok(list.includes(`href="${href}"`), href)
  const item = await read('/api/v2/orders/o-1/notes/n-1')
  for (const href of ['/api/v2/orders/o-1', '/api/v2/orders/o-1/notes', '/api/v2/orders/o-1/notes/n-1/replies'])
    assert.ok(item.includes(`href="${href}"`), href)
  const reply = await read('/api/v2/orders/o-1/notes/n-1/replies/y-1')
  assert.ok(reply.includes('href="/api/v2/orders/o-1/notes/n-1"'))
  assert.ok(!reply.includes('href="/api/v2/notes/'))
  for (const page of [list, item, reply]) assert.ok(!page.includes('data-choices="/api/v2/notes"'))
  assert.ok(item.includes('name="to"'))
  const forms = [...list.matchAll(/<form[^>]*action="([^"]+)"/g)].map(([, action = '']) =>
    action.replaceAll('&amp;', '&'),
  )
  const create = forms.find(action => action.startsWith('/api/v2/orders/o-1/notes'))
  assert.ok(create, forms.join(' '))
  const sent = await ask(running.address + create, {
    ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams({ text: 'typed' }) },
    headers: { accept: 'text/html', origin: running.address },
  })
  assert.equal(sent.status, 303)
  assert.match(sent.headers.get('location') ?? '', /^\/api\/v2\/orders\/o-1\/notes\/n-[^/]+#done$/)
  assert.deepEqual(running.incidents, [])
})

test('The way back leads through each parent by its address', async () => {
  await using running = await startTestService(shop, app)
  const ask = running.fetchAs('ann')
  const trailAt = async (path: string): Promise<readonly string[]> => {
    const page = await (await ask(running.address + path, { headers: { accept: 'text/html' } })).text()
    const trail = /<nav aria-label="Way back".*?<\/nav>/s.exec(page)?.[0] ?? ''
    return [...trail.matchAll(/href="([^"]*)">([^<]*)/g)].map(([, href, text]) => `${href} ${text}`)
  }
  const top = ['/api/v2 Start', '/api/v2/orders Orders', '/api/v2/orders/o-1 Order o-1']
  const notes = [...top, '/api/v2/orders/o-1/notes Notes', '/api/v2/orders/o-1/notes/n-1 Note n-1']
  assert.deepEqual(await trailAt('/api/v2/orders/o-1/notes'), top)
  assert.deepEqual(await trailAt('/api/v2/orders/o-1/notes/n-1'), notes.slice(0, 4))
  assert.deepEqual(await trailAt('/api/v2/orders/o-1/notes/n-1/replies'), notes)
  assert.deepEqual(await trailAt('/api/v2/orders/o-1/notes/n-1/replies/none'), [
    ...notes,
    '/api/v2/orders/o-1/notes/n-1/replies Replies',
  ])
})

test('Every link of every page, from the entry on, leads to a page', async () => {
  await using running = await startTestService(shop, app)
  const ask = running.fetchAs('ann')
  const seen = new Set(['/api/v2', '/api/v2/orders/o-1/notes/n-1/replies/y-1'])
  for (const at of seen) {
    const response = await ask(running.address + at, { headers: { accept: 'text/html, */*;q=0.5' } })
    // A link may also lead to a file that is still to come.
    assert.equal(response.status, at.endsWith('/scan') ? 404 : 200, at)
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue
    for (const [, href = ''] of (await response.text()).matchAll(/<a [^>]*href="(\/api\/v2[^"#]*)"/g))
      seen.add(href.replaceAll('&amp;', '&'))
  }
  assert.ok(seen.size > 10, [...seen].join(' '))
})
