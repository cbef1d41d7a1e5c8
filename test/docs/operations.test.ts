/** docs/operations.md says of limits what the code does: each number stands in the code, too. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')

/** A number in words or digits, as the page writes it. */
const numberOf = (text: string): number =>
  ({ Eight: 8, two: 2, hundred: 100, thousand: 1000, ten: 10 })[text] ?? Number(text.replaceAll(',', ''))

const rows: readonly (readonly [says: RegExp, file: string, is: RegExp, unit?: number])[] = [
  [/may send ([\d,]+) requests a second/, 'host/open-service.ts', /floodLimit = ([\d_]+)/],
  [/and hold ([\d,]+) connections; the next .* receives 429/, 'server/limits.ts', /connectionsPerAddress: ([\d_]+)/],
  [/A process has at most ([\d,]+) connections/, 'server/limits.ts', /connections: ([\d_]+)/],
  [/and ([\d,]+) requests in progress; the next one receives 503/, 'host/operations/overload.ts', /concurrent = (\d+)/],
  [/event loop is (two) seconds late/, 'host/operations/overload.ts', /late = (\d+)/, 1000],
  [/Passwords are checked (two) at a time/, 'identity/password-proof.ts', /bounds = \{ running: (\d+)/],
  [/Up to (\d+) of one address and/, 'identity/password-proof.ts', /waitingOfCaller: (\d+)/],
  [/and (\d+) in all wait; the next one receives 503/, 'identity/password-proof.ts', /waiting: (\d+)/],
  [/once its items have (\d+) MiB/, 'rest/limits.ts', /pageOctets: (\d+) \* 1024 \* 1024/],
  [/\((\d+) KiB in SOAP\)/, 'soap/operations/message-query.ts', /pageOctets = (\d+) \* 1024/],
  [/(\d+) of one caller wait and \d+ in all, then 503/, 'service/large-work.ts', /waitingOfCaller: (\d+)/],
  [/\d+ of one caller wait and (\d+) in all, then 503/, 'service/large-work.ts', /waiting: (\d+)/],
  [/(Eight) pages are in progress at once/, 'service/turns.ts', /underWayMax = (\d+)/],
  [/at once, (two) of one caller/, 'service/turns.ts', /underWayOfCallerMax = (\d+)/],
  [/a caller with (\d+) more waiting receives 503/, 'service/turns.ts', /waitingMax = (\d+)/],
  [/At most a (hundred) jobs of one caller wait; the next .* receives 429/, 'service/job.ts', /callerJobsMax = (\d+)/],
  [
    /at most ([\d,]+) requests a minute and \d+ streams/,
    'pages/changes.ts',
    /callerRate = \{ count: (\d+), seconds: 60 \}/,
  ],
  [/requests a minute and (\d+) streams/, 'pages/change-streams.ts', /callerStreamsMax = (\d+)/],
  [/at most (\d+) sign-ins of a process wait/, 'identity/openid.ts', /askingMax = (\d+)/],
  [/the last (thousand), or as many as `--limit` says/, 'cli/work-and-records.ts', /1_000_000\), (\d+)\)/],
]
for (const [says, file, is, unit = 1] of rows)
  test(`docs/operations.md: ${says.source.replaceAll(/[()\\]/g, '')}`, () => {
    const told = says.exec(page)?.[1]
    const found = is.exec(readFileSync(join(root, 'src', file), 'utf8'))?.[1]
    assert.ok(told && found, `${told} on the page, ${found} in ${file}`)
    assert.equal(numberOf(told) * unit, Number(found.replaceAll('_', '')))
  })

test('deploy/diglot.service uses options of diglot serve, and systemd accepts it', t => {
  const unit = readFileSync(join(root, 'deploy', 'diglot.service'), 'utf8')
  const options = readFileSync(join(root, 'docs', 'command-line.md'), 'utf8').split('## `diglot serve`')[1] ?? ''
  const started = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? ''
  assert.match(started, / serve service\.ts /)
  for (const [option] of started.matchAll(/--[\w-]+/g)) assert.ok(options.includes(`| \`${option} `), option)
  assert.match(unit, /^ExecReload=.*-HUP \$MAINPID$/m)
  const folder = mkdtempSync(join(tmpdir(), 'diglot-unit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'diglot.service')
  writeFileSync(file, unit.replace('/usr/bin/node', '/bin/sh'))
  const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  if (error) return t.diagnostic('systemd is not here: only the options were compared')
  assert.deepEqual([status, stderr], [0, ''])
})
