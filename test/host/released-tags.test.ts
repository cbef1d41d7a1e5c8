/** Entity tags over releases of a contract: a release may show the same rows otherwise. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { anyone, type Fields, implement, resource, service, t } from '../../src/index.ts'
import { startHosted } from './hosted-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-tags-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const release = (fields: Fields, versions = {}) => {
  const notes = resource('notes', { fields: { id: t.id('n'), ...fields } }).rules({ allow: { read: [anyone] } })
  const contract = service('pad', { namespace: 'urn:pad', resources: [notes as never], versions: { v1: versions } })
  return implement(contract as never, {} as never, {
    seed: () => ({ items: { notes: [{ id: 'n-1', text: 'a' }] } }) as never,
  })
}
const text = t.string()
const before = { text, mark: t.int().optional() }

/** [title, the fields of the next release, whether the item looks as before] */
const releases: readonly (readonly [string, Fields, boolean])[] = [
  ['the same release, started again', before, true],
  ['other words for people', { ...before, text: text.describe('What it says') }, true],
  ['another role that may set a field', { ...before, text: text.settableBy(anyone) }, true],
  ['a new field with a default', { ...before, kind: t.enum('memo', 'list').default('memo') }, false],
  ['a default of a field that was optional', { ...before, mark: t.int().default(3) }, false],
  ['a field that is called as a mark of fields', { ...before, texts: t.string().default('b') }, false],
  ['another name of a field', { words: text.was('text'), mark: before.mark }, false],
]

describe('RFC 9110 §8.8.1 a strong tag is that of one content', () => {
  for (const [at, [title, fields, isSame]] of releases.entries())
    test(`${title}: ${isSame ? '304 to the tag from before' : 'another tag'}`, async () => {
      const data = join(folder, `${at}.sqlite`)
      const first = await startHosted({ data }, release(before))
      const tags = await Promise.all(
        ['/api/notes/n-1', '/api/notes'].map(async path => [path, (await first.ask('GET', path)).fields['etag']]),
      )
      await first.server.close()
      const next = await startHosted({ data }, release(fields))
      for (const [path, tag] of tags as [string, string][]) {
        const { status, fields: answered } = await next.ask('GET', path, { 'if-none-match': tag })
        assert.deepEqual([status, answered['etag'] === tag], isSame ? [304, true] : [200, false], path)
      }
      await next.server.close()
    })
})
