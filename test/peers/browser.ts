/** A browser as people have it: Debian's Chromium, driven by Playwright; axe looks at each page. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { missing } from './peer.ts'

const executablePath = '/usr/bin/chromium'
export const skipBrowser = existsSync(executablePath) ? false : missing('/usr/bin/chromium', 'chromium')

const quiet = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** A browser with a profile of its own; closed at the end of the tests. */
export async function openBrowser(baseURL: string, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'diglot-browser-'))
  const browser = await chromium.launchPersistentContext(profile, { executablePath, args: quiet, baseURL, ...options })
  browser.setDefaultTimeout(15_000)
  after(async () => {
    await browser.close()
    rmSync(profile, { recursive: true, force: true })
  })
  return browser
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Injected by the test, past the policy of the page: the page itself loads only what is ours. What opens rises for 0.18 s: colours are measured when it stands. */
export async function requireAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(await loadAxe())
  await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => undefined)')
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
  assert.deepEqual(found, [], name)
  await keepPicture(page, name)
}
interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}
let axe: string | undefined
async function loadAxe(): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return (axe ??= await readFile(axePath, 'utf8'))
}

/** A picture for people that look at what they have changed: in the folder DIGLOT_PICTURES, if it is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env['DIGLOT_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name.replace(/\W+/g, '-')}.png`), fullPage: true, timeout: 60_000 })
}
