/**
 * Ten thousand simulated worlds, and mistakes that they have to notice (`test/simulation`). DIGLOT_SIMULATION_SEEDS asks
 * for more worlds, from another seed by DIGLOT_SIMULATION_FROM.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'

const folder = join(import.meta.dirname, '../simulation')
const seeds = Number(process.env['DIGLOT_SIMULATION_SEEDS'] ?? 10_000)
const from = Number(process.env['DIGLOT_SIMULATION_FROM'] ?? 0)
/** As many as there are cores in `.ci/run`. */
const processes = 2

/** Few short collections: what a world leaves behind is whole services. */
const roomy = ['--max-semi-space-size=64']

const run = promisify(execFile)
const told = (thrown: { readonly stdout?: string; readonly stderr?: string }) => thrown

it(`${seeds} worlds of two instances, their clients and their partner, with faults: nothing is lost or duplicated`, async t => {
  const each = Math.ceil(seeds / processes)
  const parts = Array.from({ length: processes }, (_, i) => {
    const words = ['--from', String(from + i * each), '--seeds', String(each)]
    return run(process.execPath, [...roomy, '--conditions=diglot-source', join(folder, 'run.ts'), ...words]).catch(told)
  })
  for (const { stdout = '', stderr = '' } of await Promise.all(parts)) {
    t.diagnostic(stdout.trim().split('\n').at(-1) ?? '')
    assert.match(stdout, new RegExp(`^${each} worlds from seed \\d+, 0 with problems`, 'm'), stdout + stderr)
  }
})

it('mistakes in the store, its queue, keys, jobs, the feed and deliveries are detected', async t => {
  const { stdout = '', stderr = '' } = await run(process.execPath, [join(folder, 'mutants.ts')]).catch(told)
  t.diagnostic(stdout.trim().split('\n').at(-1) ?? '')
  assert.match(stdout, /^(\d+) of \1 mistakes were noticed/m, stdout + stderr)
})
