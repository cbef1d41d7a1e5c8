/**
 * Store invariants 1 to 3 through HTTP, at two instances that are killed, on a database that crashes: nothing is lost,
 * doubled or seen to go back, and changes are as if made in the order of the feed. DIGLOT_HISTORY_SECONDS asks for a
 * longer run of each.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { database, noDatabase } from './database.ts'
import { judgeService, type Setting } from './history-clients.ts'
import { folder, type Running, service } from './peer.ts'

const seconds = Number(process.env['DIGLOT_HISTORY_SECONDS'] ?? 8)
const people = ['ann', 'ben', 'cem']

/** Two instances, one of which a fault kills and starts again; then come other faults, and the other one. */
async function pair(data: string, flags: readonly string[], more: readonly (() => Promise<void>)[] = []) {
  const running: (Running | undefined)[] = [await service(flags, data), await service(flags, data)]
  const tokens = people.map(each => running[0]?.token(each, 'manager') ?? '')
  const kill = async (at: number): Promise<void> => {
    const killed = running[at]
    running[at] = undefined
    await killed?.stop('SIGKILL')
    running[at] = await service(flags, data)
  }
  const all = [() => kill(0), ...more, () => kill(1), ...more]
  let faults = 0
  const setting: Setting = {
    urls: () => running.flatMap(each => each?.url ?? []),
    token: client => tokens[client % tokens.length] ?? '',
    fault: async () => all[faults++ % all.length]?.(),
  }
  return setting
}

async function judge(setting: Setting, say: (text: string) => void): Promise<void> {
  const { problems, ...counts } = await judgeService(setting, seconds)
  say(JSON.stringify({ seconds, ...counts }))
  assert.deepEqual(problems.slice(0, 20), [])
  assert.ok(counts.changes > 50 && counts.orders > 2, 'the clients were served')
}

it('two processes on one SQLite file, killed in turn', async t => {
  await judge(await pair(join(folder(), 'orders.sqlite'), []), text => t.diagnostic(text))
})

it('two instances on one PostgreSQL, killed in turn, and a server that crashes', { skip: noDatabase() }, async t => {
  const shared = await database({ durable: true })
  const crash = async (): Promise<void> => {
    await shared.stop('SIGQUIT')
    await shared.start()
  }
  await judge(await pair(join(folder(), 'keys'), ['--database', shared.url], [crash]), text => t.diagnostic(text))
})
