/** A thread moves a log that another program has kept for long (store/log-checkpoint.ts). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LogCheckpoint } from '../../src/store/log-checkpoint.ts'
import { threadProgram } from '../../src/store/read-thread.ts'

const MiB = 1 << 20

function openLog() {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  const file = join(folder, 'x.sqlite')
  const writing = new DatabaseSync(file)
  writing.exec('pragma journal_mode = wal; pragma synchronous = off; create table t (x)')
  const other = new DatabaseSync(file, { readOnly: true })
  other.exec('begin; select * from t')
  const write = (): void => {
    for (let i = 0; i < 8; i++) writing.exec(`insert into t values (randomblob(${MiB}))`)
  }
  after(() => {
    other.close()
    writing.close()
    rmSync(folder, { recursive: true })
  })
  const octets = (): number => statSync(`${file}-wal`).size
  return { file, writing, write, octets, endRead: () => other.exec('commit') }
}

async function waitFor(isTrue: () => boolean, why: string): Promise<void> {
  for (let i = 0; !isTrue(); i++) {
    assert.ok(i < 1500, why)
    await sleep(10)
  }
}

test('B2 a log that another program has kept is moved by a thread, and by commits again once that is done', async () => {
  const { file, writing, write, octets, endRead } = openLog()
  write()
  const set: number[] = []
  const setAutomatic = (pages: number): void => {
    set.push(pages)
    writing.exec(`pragma wal_autocheckpoint = ${pages}`)
  }
  const checkpoint = new LogCheckpoint({ file, program: threadProgram, octets, setAutomatic, handedOver: MiB })
  assert.deepEqual(set, [0], 'commits may still move it')
  await sleep(300)
  assert.deepEqual(set, [0], 'the other program still reads it, and commits may move it')
  endRead()
  write()
  await waitFor(() => set.at(-1) === 1000, 'commits never move it again')
  assert.ok(statSync(file).size > 8 * MiB, 'no thread moved it')
  await checkpoint.close()
})

test('B2 a short log is left to commits, and so is the log of a store that is closed', async () => {
  const { file, write, octets } = openLog()
  write()
  const set: number[] = []
  const watch = (handedOver: number) =>
    new LogCheckpoint({ file, program: threadProgram, octets, setAutomatic: pages => set.push(pages), handedOver })
  await watch(64 * MiB).close()
  assert.deepEqual(set, [])
  await watch(MiB).close()
  assert.deepEqual(set, [0, 1000])
})
