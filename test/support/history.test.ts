/** The judge of histories finds what it is there for: each contradiction, and none in a sound history. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deed, judgeFeed, judgeHistory, type QuotedPosition, type ToldChange } from './history.ts'

const deed = (kind: Deed['kind'], at: number, position: number, mark: string, more: Partial<Deed> = {}): Deed => ({
  key: 'k',
  kind,
  began: at,
  ended: at + 1,
  outcome: 'done',
  position,
  mark,
  tag: `${position}${mark}`,
  ...more,
})
const sound = [deed('set', 0, 1, 'a'), deed('set', 2, 2, 'b'), deed('read', 4, 2, 'b')]
const never = Number.POSITIVE_INFINITY
const cases: Record<string, [readonly Deed[], RegExp | undefined]> = {
  'a sound history': [sound, undefined],
  'an unknown change that took effect': [
    [deed('set', 0, 1, 'a', { outcome: 'unknown', ended: never }), deed('read', 2, 1, 'a')],
    undefined,
  ],
  'an unknown change that took none': [
    [deed('set', 0, 1, 'a', { outcome: 'unknown', ended: never }), deed('set', 2, 1, 'b'), deed('read', 4, 1, 'b')],
    undefined,
  ],
  'a read beside a change, which sees either state': [
    [deed('set', 0, 1, 'a', { ended: 9 }), deed('read', 1, 1, 'a'), deed('read', 3, 1, 'a')],
    undefined,
  ],
  'a change that came second': [[...sound, deed('set', 2, 2, 'c', { outcome: 'stale' })], undefined],
  'a lost update': [[...sound, deed('set', 2, 2, 'c')], /position 2 was written by b and c/],
  'a stale read': [[...sound, deed('read', 6, 1, 'a')], /after 2 was seen/],
  'a read of what is written later': [[deed('read', 0, 1, 'a'), deed('set', 2, 1, 'a')], /before it was written/],
  'an effect of what was refused': [
    [deed('set', 0, 1, 'a', { outcome: 'refused' }), deed('read', 2, 1, 'a')],
    /a was refused, and is read/,
  ],
  'a read of what nobody wrote': [[deed('read', 2, 1, 'a')], /nobody wrote it/],
  'a tag for two contents': [[...sound, deed('read', 4, 3, 'c', { tag: '2b' })], /2b names/],
  'a refusal for nothing': [[...sound, deed('set', 6, 3, 'c', { outcome: 'stale' })], /and nobody had/],
}
for (const [title, [deeds, found]] of Object.entries(cases))
  test(`judges ${title}`, () => {
    const said = judgeHistory(deeds).join('\n')
    if (found) assert.match(said, found)
    else assert.equal(said, '')
  })

const change = (sequence: number, id: string, what = 'changed', version = sequence): ToldChange => ({
  sequence,
  resource: id.startsWith('o') ? 'orders' : 'products',
  id,
  version,
  what,
})
/** The key is at 0, at 1, is read, and is at 2. */
const told = [change(1, 'k', 'created'), change(2, 'k'), change(3, 'o-1', 'created'), change(5, 'k')]
const feeds: Record<string, [Partial<Record<'told' | 'followed', ToldChange[]>>, QuotedPosition, RegExp | undefined]> =
  {
    'a sound feed': [{}, { id: 'o-1', key: 'k', position: 1 }, undefined],
    'a change that rests on what was no longer so': [{}, { id: 'o-1', key: 'k', position: 0 }, /which was at 1/],
    'a change that is not told': [{}, { id: 'o-2', key: 'k', position: 1 }, /o-2 was made, and is not told/],
    'a change told twice': [
      { told: [...told, change(6, 'k')], followed: [...told, change(6, 'k')] },
      { id: 'o-1', key: 'k', position: 1 },
      /k is at 2, and 3 changes are told/,
    ],
    'a version that comes again': [
      { told: [...told.slice(0, 3), change(5, 'k', 'changed', 2)] },
      { id: 'o-1', key: 'k', position: 1 },
      /goes back to version 2/,
    ],
    'a number that is filled later': [
      { followed: [...told.slice(0, 2), ...told.slice(3)] },
      { id: 'o-1', key: 'k', position: 1 },
      /3 o-1 3 was missed/,
    ],
  }
for (const [title, [given, quote, found]] of Object.entries(feeds))
  test(`judges ${title}`, () => {
    const { told: all = told, followed = all } = given
    const said = judgeFeed(all, followed, new Map([['k', 2]]), [quote]).join('\n')
    if (found) assert.match(said, found)
    else assert.equal(said, '')
  })
