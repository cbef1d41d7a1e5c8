import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

import { mistakes, readMistake } from './mistakes.ts'

function simulate(...words: readonly string[]) {
  const compiled = join(import.meta.dirname, '../compile-cache.ts')
  const program = ['--conditions=diglot-source', '--import', compiled, join(import.meta.dirname, 'run.ts'), ...words]
  return spawnSync(process.execPath, program, { encoding: 'utf8', timeout: 120_000 })
}

test('in forty worlds nothing is lost, duplicated or misreported, whatever fails in them', () => {
  const { status, stdout, stderr } = simulate('--seeds', '40')
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /^40 worlds from seed 0, 0 with problems/m)
})

test('a world can be replayed to the octet, whatever worlds ran before it', () => {
  const digestsOf = (from: number, seeds: number) =>
    simulate('--from', String(from), '--seeds', String(seeds), '--digests').stdout.split('\n').slice(0, seeds)
  const all = digestsOf(10, 6)
  assert.equal(new Set(all.map(line => line.split(' ')[1])).size, 6)
  assert.deepEqual(digestsOf(13, 3), all.slice(3))
})

test('each mistake that a world must detect can be made: its text occurs once in its file', () => {
  const root = join(import.meta.dirname, '../..')
  for (const mistake of mistakes) {
    const { right, wrong } = readMistake(root, mistake)
    assert.notEqual(wrong, right, mistake.what)
  }
})
