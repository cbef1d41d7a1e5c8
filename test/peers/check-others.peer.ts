/**
 * The checker against services that nobody here wrote: each verdict is that of the table in
 * `others/verdicts.ts`, and each failure shows with curl as well. docs/check-others.md is made of
 * the same table.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { checkRules, openSocketTransport, runCheck } from '../../src/check/index.ts'
import { curlWords, type Evidence, evidenceOf } from './others/evidence.ts'
import { type Stack, stacks, startStack } from './others/stacks.ts'
import { verdicts } from './others/verdicts.ts'
import { missing } from './peer.ts'

/** Rules of HTTP for those that serve resources; of messages, and one of both, for those of SOAP. */
const rulesFor = ({ soap }: Stack) =>
  checkRules.filter(({ id }) => (soap ? id.startsWith('B') || id === 'A7.15' : id.startsWith('A')))

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })
const noCurl = missing('curl', 'curl')

// One after the other: some are one thread with two endpoints, and silence is measured.
describe('diglot check against others', { concurrency: 1 }, () => {
  for (const stack of stacks)
    describe(stack.name, { skip: stack.skip || noCurl, timeout: 120_000, concurrency: 1 }, () => {
      const started = Promise.withResolvers<string>()
      started.promise.catch(() => {}) // the first test says so
      it('the verdicts are those of the table, and nothing is left behind', async () => {
        startStack(stack).then(started.resolve, started.reject)
        const transport = await openSocketTransport(await started.promise)
        const { path, options } = stack
        const rules = rulesFor(stack)
        const report = await runCheck(transport, {
          basePath: path,
          allowChanges: true,
          rate: 10_000,
          rules,
          ...options,
        }).finally(() => transport.close())
        const idsOf = (status: string) =>
          report.verdicts.filter(each => each.status === status).map(({ rule }) => rule.id)
        const { pass, fail } = verdicts[stack.name]
        const said = report.verdicts
          .filter(({ status }) => status === 'fail')
          .map(({ rule, reason }) => `${rule.id} ${reason}`)
        assert.deepEqual(idsOf('fail').sort(inOrder), Object.keys(fail).sort(inOrder), said.join('\n'))
        assert.deepEqual(idsOf('pass'), pass.split(' '))
        assert.deepEqual(report.leftBehind, [])
      })

      it('each failure can be shown with curl', async () => {
        const origin = await started.promise
        const credentials = stack.options?.callers ? 'alice:alice-secret' : undefined
        for (const [id, why] of Object.entries(verdicts[stack.name].fail)) {
          const evidence = evidenceOf(stack.name, id)
          const shown = ask(curlWords(evidence, origin, stack.soap ?? '/notes/1', credentials), evidence)
          assert.match(shown, evidence.shows, `${id}: ${why}\n${shown.slice(0, 1500)}`)
        }
      })
    })
})

/** What curl prints: the head, an empty line, the content. */
function ask(words: readonly string[], { octets }: Evidence): string {
  const { stdout } = spawnSync('curl', words, {
    encoding: 'utf8',
    timeout: 15_000,
    ...(octets !== undefined && { input: octets }),
  })
  return stdout
}
