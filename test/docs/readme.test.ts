/** README.md, "Try it": its commands are run against the orders service, and print what it shows. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { basic, json, startHosted } from '../host/hosted-service.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
const isCurlThere = spawnSync('curl', ['--version']).status === 0

interface Shown {
  readonly command: string
  readonly printed: string
}
/** Blocks that begin with `$ curl`; a command ends where its quotes do. */
const listCommands = (): readonly Shown[] =>
  [...page.matchAll(/^ {4}\$ (curl (?:[^'\n]|'[^']*')*)\n((?: {4}.*\n)+)/gm)].map(([, command = '', printed = '']) => ({
    command,
    printed,
  }))

/** White space is the page's; `…` stands for what differs each time. */
const toPattern = (printed: string): RegExp =>
  new RegExp(
    `^${printed
      .replaceAll(/\s+/g, '')
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '[^<"]+')}$`,
  )

test('README: a curl command prints what the page shows, and both faces see one order', {
  skip: isCurlThere ? false : 'skipped: curl is not installed',
}, async () => {
  const { server, ask } = await startHosted()
  const alice = basic('alice', 'alice-secret')
  const before = await ask('GET', '/api/orders/o-1', alice)
  const commands = listCommands()
  assert.equal(commands.length, 2)
  for (const { command, printed } of commands) {
    const words = command.replaceAll('http://127.0.0.1:8080', server.url)
    const child = spawn('sh', ['-c', words], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.equal(status, 0, words)
    assert.match(said.replaceAll(/\s+/g, ''), toPattern(printed), words)
  }
  const etag = String(before.fields['etag'])
  const after = await ask('GET', '/api/orders/o-1', { ...alice, 'if-none-match': etag })
  assert.equal(after.status, 200)
  assert.equal(JSON.parse(after.text)._links.payment, undefined)
  const change = { ...alice, ...json, 'if-match': etag }
  assert.equal((await ask('POST', '/api/orders/o-1/cancellation', change, '{"reason":"late"}')).status, 412)
})

test('README: its client begins with an order that its commands do not change', () => {
  const ordersIn = (text: string): ReadonlySet<string> => new Set(text.match(/\bo-\d+\b/g))
  const commands = ordersIn(
    listCommands()
      .map(({ command }) => command)
      .join(),
  )
  const client = ordersIn(/^```ts\n([\s\S]*?createRestClient[\s\S]*?)^```/m.exec(page)?.[1] ?? '')
  assert.ok(commands.size > 0 && client.size > 0, 'both name orders')
  assert.ok(commands.isDisjointFrom(client), [...commands, ...client].join())
})

test('the clinic has less than 200 lines of code, as the README says', () => {
  const folder = join(import.meta.dirname, '..', '..', 'examples', 'clinic')
  const sources = readdirSync(folder).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const lines = sources.flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n'))
  const code = lines.filter(line => !/^\s*(?:$|\/\/|\/\*\*.*\*\/$)/.test(line))
  assert.ok(code.length > 100 && code.length < 200, `${code.length} lines`)
})
