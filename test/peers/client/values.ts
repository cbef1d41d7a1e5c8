/** What goes there and comes back, of each kind: the ends of its space, and what is easily lost on the way. */
import type { Draft } from '../../../src/contract/field.ts'
import type { values } from './samples.ts'

export type Sample = Draft<typeof values>
export type Kind = keyof Sample

const octets = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 31) % 256)

export const table: { readonly [K in Kind]-?: readonly NonNullable<Sample[K]>[] } = {
  text: ['plain', '', 'a < b & c > "d" \'e\'', 'Grüße, 数, \u{1F600}', ']]>', 'one\ntwo\tthree', '  spaces  around  '],
  flag: [true, false],
  byte: [0, -128, 127],
  short: [0, -32_768, 32_767],
  int: [0, -2_147_483_648, 2_147_483_647],
  unsignedByte: [0, 255],
  unsignedShort: [0, 65_535],
  unsignedInt: [0n, 4_294_967_295n],
  long: [0n, 9_007_199_254_740_993n, -(2n ** 63n), 2n ** 63n - 1n],
  unsignedLong: [0n, 2n ** 53n + 1n, 2n ** 64n - 1n],
  integer: [0n, -1n, 123_456_789_012_345_678_901_234_567_890n],
  decimal: ['0.0000', '-0.0001', '12345678901.2345', '0.1000'],
  double: [
    0,
    -1.5,
    0.1,
    1e-300,
    1.7976931348623157e308,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
  ],
  float: [0, 0.5, -1.25, Math.fround(0.1), Math.fround(3.4e38)],
  date: ['2026-11-21', '2024-02-29', '1999-12-31'],
  time: ['12:30:00', '23:59:59.5'],
  dateTime: ['2026-11-21T12:30:00Z', '2026-11-21T12:30:00.125Z', '2026-11-21T12:30:00+02:00'],
  duration: ['P1DT12H', 'PT0.5S', '-P1DT1H'],
  base64: [octets(0), octets(1), octets(256), octets(70_000)],
  hex: [octets(0), octets(256)],
  choice: ['red', 'dark-blue'],
  token: ['a', 'a b'],
  uri: ['urn:x', 'http://a.example/b?c=d&e#f'],
  names: [[], ['one'], ['', 'two', '数']],
  parts: [[], [{ name: 'a', weight: 0.5 }, { name: 'b' }]],
  whole: [{ name: 'x' }, { name: 'y', weight: 2 }],
  maybe: ['here'],
}

/** What a peer cannot carry, and why. */
export type Losses = {
  readonly [K in Kind]?: { readonly why: string; readonly values: (value: NonNullable<Sample[K]>) => boolean }
}

/** Samples in which each value stands that is not lost, and in one of them nothing optional. */
export function* sent(losses: Losses): Generator<Sample> {
  const kept = Object.entries(table).map(([kind, all]) => {
    const lost = losses[kind as Kind]?.values as ((value: unknown) => boolean) | undefined
    return [kind, (all as readonly unknown[]).filter(each => !lost?.(each))] as const
  })
  const most = Math.max(...kept.map(([, all]) => all.length))
  for (let at = 0; at < most; at++) {
    const sample = kept.map(([kind, all]) => [kind, all[at % all.length]])
    yield Object.fromEntries(at === 1 ? sample.filter(([kind]) => kind !== 'maybe') : sample) as Sample // one of each
  }
}
