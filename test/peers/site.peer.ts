/**
 * A site of `diglot docs` and the guide, opened from files by a browser: without a script, light and
 * dark, wide and narrow, by keyboard. axe finds nothing on any kind of page.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import orders from '../../examples/orders/service.ts'
import { writeDocs } from '../../src/docs/docs-command.ts'
import { writeGuide } from '../docs/guide.ts'
import { openBrowser, requireAccessible, skipBrowser } from './browser.ts'

const ways: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['light and wide', { viewport: { width: 1360, height: 900 } }],
  ['dark and wide', { viewport: { width: 1360, height: 900 }, colorScheme: 'dark' }],
  ['360 pixels wide', { viewport: { width: 360, height: 740 } }],
]
const kinds = [
  ...['index', 'access', 'refusals', 'message-security', 'changes', 'v2/index'],
  ...['v2/resources/orders', 'v2/jobs/reports', 'v2/operations/PayOrder', 'v2/operations/ListOrders'],
]

async function openFile(browser: BrowserContext, base: string, path: string): Promise<Page> {
  const page = await browser.newPage()
  const said: string[] = []
  page.on('console', message => void said.push(message.text()))
  await page.goto(`${base}/${path}.html`)
  assert.deepEqual(said, [])
  return page
}

async function requireFit(browser: BrowserContext, base: string, path: string, name: string): Promise<void> {
  const page = await openFile(browser, base, path)
  const marked = await page.evaluate(`getComputedStyle(document.body, '::before').height`)
  assert.equal(marked, '6px', 'the stylesheet is loaded')
  const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  assert.ok(over <= 0, `${path} is ${over} pixels too wide`)
  await requireAccessible(page, name)
  await page.close()
}

describe('a site from files', { skip: skipBrowser }, async () => {
  if (skipBrowser) return
  const folder = mkdtempSync(join(tmpdir(), 'diglot-site-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const flags = { output: folder, role: [], address: 'https://shop.example', examples: true }
  await writeDocs(orders, '', flags, async () => orders)
  const base = pathToFileURL(folder).href

  for (const [way, options] of ways) {
    const browser = await openBrowser('about:blank', options)
    it(`${way}: every kind of page has its style, fits, and axe finds nothing`, async () => {
      for (const kind of kinds) await requireFit(browser, base, kind, `site ${way} ${kind}`)
    })

    it(`${way}: from the start to an example by keyboard`, async () => {
      const page = await openFile(browser, base, 'index')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      assert.equal(await page.evaluate('document.activeElement.id'), 'main')
      for (const name of ['Operations', 'PayOrder']) {
        await page.getByRole('link', { name, exact: true }).first().focus()
        await page.keyboard.press('Enter')
        await page.waitForLoadState()
      }
      await page.getByRole('heading', { level: 1, name: 'PayOrder' }).waitFor()
      await page.getByRole('region', { name: 'Request by SOAP' }).first().focus()
      assert.match(await page.evaluate<string>('document.activeElement.textContent'), /<PayOrder /)
      await page.close()
    })
  }
})

describe('the guide from files', { skip: skipBrowser }, async () => {
  if (skipBrowser) return
  const folder = mkdtempSync(join(tmpdir(), 'diglot-guide-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  writeGuide(folder)
  const base = pathToFileURL(folder).href
  const read = ['index', 'tutorial', 'how-to', 'readme', 'performance', 'reference/index', 'examples/clinic/service-ts']

  for (const [way, options] of ways)
    it(`${way}: pages of every kind have their style, fit, and axe finds nothing`, async () => {
      const browser = await openBrowser('about:blank', options)
      for (const path of read) await requireFit(browser, base, path, `guide ${way} ${path}`)
    })

  it('from the start by the way in for SOAP to its chapter, by keyboard', async () => {
    const browser = await openBrowser('about:blank')
    const page = await openFile(browser, base, 'index')
    await page.getByRole('link', { name: 'Send a message, read the WSDL' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 2, name: 'SOAP' }).waitFor()
    assert.match(page.url(), /\/tutorial\.html#soap$/)
    await page.getByRole('navigation', { name: 'All pages' }).getByRole('link', { name: 'Message security' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Message security' }).waitFor()
  })
})
