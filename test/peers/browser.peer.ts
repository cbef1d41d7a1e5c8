/**
 * The service in a browser, by pages alone: with a script and without, wide and narrow, by mouse
 * and by keyboard, light and dark. axe finds nothing on any page that these journeys pass.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser, requireAccessible, skipBrowser } from './browser.ts'
import { type Running, service } from './peer.ts'

const wide = { width: 1360, height: 900 }
const narrow = { width: 360, height: 740 }
const ways: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['with a script', { viewport: wide }],
  ['without a script', { viewport: wide, javaScriptEnabled: false }],
  ['360 pixels wide', { viewport: narrow }],
  ['dark', { viewport: wide, colorScheme: 'dark' }],
]

/** Each journey has a page of its own; what the page should not have loaded or said fails it. */
async function openPage(browser: BrowserContext): Promise<Page> {
  await browser.clearCookies()
  const page = await browser.newPage()
  page.on('console', message => {
    if (message.type() === 'error' && /Content Security Policy|Uncaught/.test(message.text()))
      assert.fail(`the page says: ${message.text()}`)
  })
  page.on('pageerror', thrown => assert.fail(thrown))
  return page
}

async function signIn(page: Page, name: string): Promise<void> {
  await page.goto('/api/v2')
  await page.getByRole('link', { name: 'Sign in' }).first().click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(`${name}-secret`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('banner').getByText(name, { exact: true }).waitFor()
}

const open = (page: Page, title: string) => page.locator('summary', { hasText: title }).click()
const form = (page: Page, name: string) => page.getByRole('form', { name, exact: true })

/** @returns the address of the new order */
async function placeOrder(page: Page): Promise<string> {
  await page.goto('/api/v2/orders')
  await open(page, 'Create one')
  const create = form(page, 'Create')
  await create.getByLabel('Customer').fill('c-1')
  await create.getByLabel('Product').fill('p-1')
  await create.getByLabel('Quantity').fill('2')
  await create.getByLabel('Currency').selectOption('EUR')
  await create.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL(/\/orders\/o-[^/]+#done$/)
  return new URL(page.url()).pathname
}

async function payOrder(page: Page, amount: string): Promise<void> {
  const pay = form(page, 'Pay')
  await pay.getByLabel('Method').selectOption('card')
  await pay.getByLabel('Amount').fill(amount)
  await pay.getByRole('button', { name: 'Pay' }).click()
}

const totalOf = (page: Page) => page.locator('dl > div', { hasText: 'Total' }).locator('.number').innerText()
const stateOf = (page: Page) => page.getByRole('img', { name: /The state is/ }).getAttribute('aria-label')

for (const [way, options] of ways)
  describe(`pages, ${way}`, { skip: skipBrowser }, async () => {
    if (skipBrowser) return
    const served: Running = await service()
    const browser = await openBrowser(served.url, options)
    const check = (page: Page, name: string) =>
      options.javaScriptEnabled === false ? Promise.resolve() : requireAccessible(page, `${way} ${name}`)

    it('a person signs in, places, pays and ships an order, and signs out', async () => {
      const page = await openPage(browser)
      await page.goto('/login')
      await check(page, 'login')
      await signIn(page, 'clara')
      await check(page, 'entry')
      await placeOrder(page)
      await page.getByText('Done. This is the current state.').waitFor()
      await check(page, 'order placed')
      assert.match((await stateOf(page)) ?? '', /The state is placed now/)
      await payOrder(page, await totalOf(page))
      await page.waitForURL(/#done$/)
      await form(page, 'Ship').getByLabel('Carrier').selectOption('dhl')
      await form(page, 'Ship').getByRole('button', { name: 'Ship' }).click()
      await form(page, 'Deliver').waitFor()
      assert.match((await stateOf(page)) ?? '', /The state is shipped now/)
      await check(page, 'order shipped')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('Authentication required').first().waitFor()
      await check(page, 'signed out')
    })

    it('a problem is shown at its field, and the typed text is kept', async () => {
      const page = await openPage(browser)
      await signIn(page, 'clara')
      await page.goto('/api/v2/orders')
      await open(page, 'Create one')
      const create = form(page, 'Create')
      await create.getByRole('button', { name: 'Add to Lines' }).click()
      if (options.javaScriptEnabled !== false) await create.getByLabel('Product').nth(1).waitFor()
      await create.getByLabel('Customer').fill('c-1')
      await create.getByLabel('Product').nth(0).fill('p-1')
      await create.getByLabel('Quantity').nth(0).fill('1')
      await create.getByLabel('Product').nth(1).fill('p-nowhere')
      await create.getByLabel('Quantity').nth(1).fill('3')
      await create.getByLabel('Currency').selectOption('EUR')
      await create.getByLabel('Note').fill('ring twice')
      await create.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('alert').waitFor()
      const again = form(page, 'Create')
      assert.equal(await again.getByLabel('Note').inputValue(), 'ring twice')
      const wrong = again.getByLabel('Product').nth(1)
      assert.equal(await wrong.inputValue(), 'p-nowhere')
      assert.equal(await wrong.getAttribute('aria-invalid'), 'true')
      assert.equal(await again.locator('[aria-invalid]').count(), 1)
      await check(page, 'problem at a field')
      await page.getByRole('alert').getByRole('link').first().click()
      assert.equal(
        await wrong.evaluate(each => each === each.ownerDocument.activeElement),
        true,
        'its link leads to the field',
      )
      await wrong.fill('p-2')
      await again.getByRole('button', { name: 'Create' }).click()
      await page.waitForURL(/#done$/)
      assert.equal(await page.getByRole('link', { name: 'p-2', exact: true }).count(), 1)
    })

    it('a late payment shows the conflict, and the possible actions', async () => {
      const page = await openPage(browser)
      await signIn(page, 'clara')
      const at = await placeOrder(page)
      const amount = await totalOf(page)
      const authorization = `Bearer ${served.token('maria', 'manager')}`
      const cancelled = await fetch(`${served.url}${at}/cancellation`, { method: 'POST', headers: { authorization } })
      assert.equal(cancelled.status, 200)
      await payOrder(page, amount)
      await page.getByRole('alert').waitFor()
      await page.getByRole('heading', { name: 'Precondition failed' }).waitFor()
      assert.match((await stateOf(page)) ?? '', /The state is cancelled now/)
      assert.equal(await form(page, 'Pay').count(), 0, 'it is no longer possible')
      await check(page, 'late payment')
    })

    it('an order is edited without overwriting another change', async () => {
      const page = await openPage(browser)
      await signIn(page, 'clara')
      const at = await placeOrder(page)
      await open(page, 'Edit this order')
      const edit = form(page, 'Edit this order')
      assert.equal(await edit.getByLabel('Quantity').inputValue(), '2')
      await edit.getByLabel('Note').fill('mine')
      const authorization = `Bearer ${served.token('maria', 'manager')}`
      const other = await fetch(`${served.url}${at}`, {
        method: 'PATCH',
        headers: { authorization, 'content-type': 'application/merge-patch+json', 'if-match': '*' },
        body: '{"note":"theirs"}',
      })
      assert.equal(other.status, 200)
      await edit.getByRole('button', { name: 'Edit this order' }).click()
      await page.getByRole('alert').waitFor()
      assert.equal(await form(page, 'Edit this order').getByLabel('Note').inputValue(), 'mine')
      await page.locator('dl').getByText('theirs', { exact: true }).waitFor()
      await check(page, 'late edit')
      await form(page, 'Edit this order').getByRole('button', { name: 'Edit this order' }).click()
      await page.waitForURL(/#done$/)
      await page.locator('dl').getByText('mine', { exact: true }).waitFor()
      await open(page, 'Change some fields')
      await form(page, 'Change some fields').getByLabel('Note').fill('a third')
      await form(page, 'Change some fields').getByRole('button', { name: 'Change some fields' }).click()
      await page.locator('dl').getByText('a third', { exact: true }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'p-1', exact: true }).count(), 1, 'the lines stay')
    })

    it('orders are filtered, sorted and paged; a product is created and removed', async () => {
      const page = await openPage(browser)
      await signIn(page, 'maria')
      await page.goto('/api/v2/orders')
      await open(page, 'Filter and order')
      const filters = page.getByRole('search', { name: 'Filters' })
      await filters.getByLabel('State').selectOption('paid')
      await filters.getByLabel('Order', { exact: true }).selectOption('total')
      await filters.getByLabel('Items on a page').selectOption('10')
      await filters.getByRole('button', { name: 'Show' }).click()
      await page.waitForURL(/state=paid/)
      assert.equal(new URL(page.url()).search, '?state=paid&sort=total&size=10')
      const totals = await page.locator('td[data-label=Total]').allInnerTexts()
      assert.deepEqual(
        totals,
        [...totals].sort((a, b) => Number(a) - Number(b)),
      )
      await check(page, 'filtered orders')
      await page.getByRole('link', { name: 'Next page' }).click()
      await page.getByRole('link', { name: 'Previous page' }).click()
      await page.waitForURL(/cursor=/)
      assert.deepEqual(await page.locator('td[data-label=Total]').allInnerTexts(), totals)
      await page.goto('/api/v2/products')
      await open(page, 'Create one')
      const create = form(page, 'Create')
      await create.getByLabel('Name').fill('Brass sundial')
      await create.getByLabel('Price').fill('12.50')
      await create.getByLabel('Stock').fill('3')
      await create.getByRole('button', { name: 'Create' }).click()
      await page.waitForURL(/#done$/)
      await open(page, 'Send the picture')
      const png = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
        'base64',
      )
      await page.getByLabel('File').setInputFiles({ name: 'lamp.png', mimeType: 'image/png', buffer: png })
      await page.getByRole('button', { name: 'Send as image/png' }).click()
      await page.waitForURL(/#done$/)
      const picture = await page.request.get(`${new URL(page.url()).pathname}/picture`)
      assert.deepEqual([picture.status(), (await picture.body()).equals(png)], [200, true])
      await open(page, 'Delete this product')
      await form(page, 'Delete this product').getByRole('button').click()
      await page.waitForURL(/\/products#done$/)
      assert.equal(await page.getByText('Brass sundial').count(), 0)
    })

    it('a report is started and viewed; a search is made; problems and decisions are explained', async () => {
      const page = await openPage(browser)
      await signIn(page, 'clara')
      await page.goto('/api/v2')
      await open(page, 'Reports')
      const report = form(page, 'Start reports')
      await report.getByLabel('From').fill('2026-01-01')
      await report.getByLabel('To').fill('2026-12-31')
      await report.getByLabel('Kind').selectOption('sales')
      await report.getByRole('button').click()
      await page.waitForURL(/\/reports\/jobs\//)
      await check(page, 'job')
      // With a script the page looks again by itself.
      const again = page.getByRole('link', { name: 'Look again' })
      if (options.javaScriptEnabled === false)
        for (let tries = 0; tries < 50 && (await again.isVisible()); tries++) {
          await page.waitForTimeout(200)
          await again.click()
        }
      await page.getByRole('link', { name: 'Result' }).click()
      await page.getByRole('heading', { name: /^Report / }).waitFor()
      await check(page, 'report')
      await page.goto('/api/v2/orders')
      const words = page.getByRole('search', { name: 'Words' })
      await words.getByLabel('Words').fill('gift')
      await words.getByRole('button', { name: 'Search' }).click()
      await page.waitForURL(/search\?q=gift/)
      await check(page, 'search')
      await page.goto('/api/v2/orders/nowhere')
      await check(page, 'not found')
      await page.getByRole('link', { name: 'About this problem' }).click()
      await check(page, 'problem explained')
      await page.goBack()
      await page.getByRole('link', { name: 'Decided at row 22' }).click()
      await page.waitForURL(/\/decisions#row-22$/)
      await check(page, 'decisions')
    })

    it('an operation is called by a message in both versions, and its fault is shown', async () => {
      const page = await openPage(browser)
      await signIn(page, 'clara')
      await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'SOAP' }).click()
      await check(page, 'soap endpoint')
      await page.getByRole('link', { name: 'GetOrder', exact: true }).click()
      const trial = form(page, 'Try GetOrder')
      for (const version of ['SOAP 1.1', 'SOAP 1.2']) {
        await trial.getByLabel('Id').fill('o-1')
        await trial.getByLabel(version).check()
        await trial.getByRole('button', { name: 'Send the message' }).click()
        const answer = page.getByRole('status').filter({ hasText: 'GetOrderResponse' })
        await answer.waitFor()
        const type = version === 'SOAP 1.1' ? 'text/xml' : 'application/soap+xml'
        assert.match(await answer.innerText(), new RegExp(`200 OK[^]*${type.replace('+', '\\+')}[^]*<id>o-1</id>`))
      }
      await check(page, 'soap answer')
      const message = page.getByLabel('Envelope of SOAP 1.2')
      await message.fill((await message.inputValue()).replace('o-1', 'o-nowhere'))
      await page.getByRole('button', { name: 'Send as shown here' }).click()
      await page.getByRole('alert').filter({ hasText: 'NotFound' }).waitFor()
      await check(page, 'soap fault')
    })
  })

describe('pages, by keyboard', { skip: skipBrowser }, async () => {
  if (skipBrowser) return
  const served = await service()
  const browser = await openBrowser(served.url, { viewport: wide })

  /** Presses Tab until what it names has the focus. */
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let pressed = 0; pressed < 120; pressed++) {
      await page.keyboard.press('Tab')
      const focused = await page.locator(':focus').evaluateAll(([at]) => {
        const labels = at && 'labels' in at ? (at.labels as { textContent: string }[] | null) : undefined
        return (labels?.[0]?.textContent ?? at?.textContent ?? '').trim()
      })
      if (focused.startsWith(name)) return
    }
    assert.fail(`Tab does not reach ${name}`)
  }

  it('a person signs in, finds an order and cancels it without a mouse', async () => {
    const page = await openPage(browser)
    await page.goto('/login?to=/api/v2/orders/o-1')
    await tabTo(page, 'Name')
    await page.keyboard.type('clara')
    await tabTo(page, 'Password')
    await page.keyboard.type('clara-secret')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/orders/o-1')
    await page.getByRole('heading', { name: 'Order o-1' }).waitFor()
    await tabTo(page, 'Skip to the content')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Reason')
    await page.keyboard.type('by keyboard')
    await tabTo(page, 'Cancel')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#done$/)
    assert.match((await stateOf(page)) ?? '', /The state is cancelled now/)
  })

  it('a person places an order, pays and ships it without a mouse', async () => {
    const page = await openPage(browser)
    const typeInto = async (name: string, text: string): Promise<void> => {
      await tabTo(page, name)
      await page.keyboard.type(text)
    }
    const press = async (name: string): Promise<void> => {
      await tabTo(page, name)
      await page.keyboard.press('Enter')
    }
    await page.goto('/login?to=/api/v2/orders')
    await typeInto('Name', 'clara')
    await typeInto('Password', 'clara-secret')
    await page.keyboard.press('Enter')
    await page.waitForURL(({ pathname }) => pathname === '/api/v2/orders')
    await press('Create one')
    await typeInto('Customer', 'c-1')
    await typeInto('Product', 'p-1')
    await typeInto('Quantity', '2')
    await typeInto('Currency', 'EUR')
    await press('Create')
    await page.waitForURL(/\/orders\/o-[^/]+#done$/)
    await typeInto('Method', 'card')
    await typeInto('Amount', await totalOf(page))
    await press('Pay')
    await form(page, 'Ship').waitFor()
    await typeInto('Carrier', 'dhl')
    await press('Ship')
    await form(page, 'Deliver').waitFor()
    assert.match((await stateOf(page)) ?? '', /The state is shipped now/)
    await requireAccessible(page, 'by keyboard')
  })
})
