/**
 * A contract with every kind of field and every kind of rule that a store reads, and arbitrary
 * values of it.
 */
import fc from 'fast-check'
import type { AnyField, Fields, Scalar } from '../../src/contract/field.ts'
import { t } from '../../src/contract/field.ts'
import { job } from '../../src/contract/job.ts'
import { writeScaledDecimal } from '../../src/contract/lexical/decimal.ts'
import { role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { entryFields } from '../../src/contract/shape.ts'

const owner = role('owner')

export const deep = t.object(
  {
    text: t.string(),
    number: t.long(),
    bytes: t.bytes().optional(),
    double: t.double(),
    decimal: t.decimal(18, 6),
    nothing: t.int().optional().nullable(),
    list: t.list(t.list(t.long())),
  },
  'Deep',
)

export const every = {
  id: t.id('x'),
  string: t.string(),
  token: t.string({ xsd: 'token' }).optional(),
  boolean: t.boolean(),
  int: t.int(),
  long: t.long(),
  whole: t.long({ xsd: 'integer' }),
  unsigned: t.long({ xsd: 'unsignedLong' }).optional(),
  small: t.decimal(5, 2),
  money: t.decimal(18, 4),
  units: t.decimal(18, 0).optional(),
  double: t.double(),
  date: t.date(),
  time: t.time(),
  dateTime: t.dateTime(),
  duration: t.duration(),
  bytes: t.bytes(),
  enum: t.enum('red', 'green', 'blue'),
  ref: t.ref('makers'),
  list: t.list(t.string()),
  object: deep,
  objects: t.list(deep).optional(),
  union: t.union('kind', { circle: { radius: t.double(), area: t.long() }, label: { text: t.string() } }),
  map: t.map(t.long()),
  maps: t.map(t.map(deep.nullable()), { key: t.enum('red', 'green') }).optional(),
  nullable: t.int().nullable(),
  both: t.string().optional().nullable(),
  bothLong: t.long().optional().nullable(),
  bothTime: t.dateTime().optional().nullable(),
  bothList: t.list(t.bytes()).optional().nullable(),
} satisfies Fields

export const things = resource('things', {
  fields: every,
  actions: on => ({
    weigh: on().stay({ rel: 'weight', output: { grams: t.long(), proof: t.bytes() }, kept: true }),
  }),
  files: { picture: { mediaTypes: ['image/png'], max: 1000 } },
}).rules({
  filter: ['long', 'double', 'bothTime', 'enum'],
  sort: ['whole', 'money', 'dateTime'],
  allow: { read: [owner.owning({ ref: 'maker' })] },
})

export const makers = resource('makers', {
  fields: { id: t.id('m'), name: t.string(), motto: t.string().optional(), town: t.ref('towns').optional() },
}).rules({ relations: { items: { of: 'items', by: 'maker' } }, search: ['name', 'town.name'], allow: {} })

export const towns = resource('towns', { fields: { id: t.id('t'), name: t.string() } }).rules({ allow: {} })

const Line = t.object({
  maker: t.ref('makers'),
  remark: t.string().optional(),
  inner: t.object({ of: t.ref('towns').optional() }),
})
export const items = resource('items', {
  fields: {
    id: t.id('i'),
    maker: t.ref('makers').optional(),
    note: t.string().optional(),
    rank: t.int().optional(),
    price: t.decimal(8, 2).optional(),
    at: t.dateTime().optional(),
    lines: t.list(Line).optional(),
    others: t.list(t.ref('makers')).optional(),
    origin: t.object({ town: t.ref('towns').optional() }).optional(),
  },
}).rules({
  relations: { maker: { by: 'maker' } },
  filter: ['maker', 'note', 'rank', 'price', 'at', 'lines.maker', 'lines.inner.of', 'others', 'origin.town'],
  sort: ['note', 'rank', 'price', 'at', 'id'],
  search: [
    'note',
    'maker.name',
    'maker.town.name',
    'lines.remark',
    'lines.maker.name',
    'lines.inner.of.name',
    'others.motto',
  ],
  allow: { read: [owner.owning({ maker: 'maker' })] },
})

export const digests = job('digests', { input: {}, output: {}, allow: [owner], keep: 60 })

export const everything: Service = service('everything', {
  namespace: 'urn:everything',
  resources: [things, makers, towns, items],
  jobs: [digests],
}) as unknown as Service // a service of these resources is read as one of any

const pad = (value: number, length = 2): string => String(value).padStart(length, '0')
const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max })
const zone = fc.oneof(
  fc.constantFrom('', 'Z', '+14:00', '-14:00'),
  fc
    .tuple(fc.constantFrom('+', '-'), between(0, 13), between(0, 59))
    .map(([sign, h, m]) => `${sign}${pad(h)}:${pad(m)}`),
)
const year = fc.oneof(between(0, 9999), between(1900, 2100)).map(value => pad(value, 4))
const day = fc.tuple(year, between(1, 12), between(1, 28)).map(([y, m, d]) => `${y}-${pad(m)}-${pad(d)}`)
const fraction = fc.oneof(
  fc.constant(''),
  fc.stringMatching(/^[0-9]{1,12}$/).map(digits => `.${digits}`),
)
const clock = fc
  .tuple(between(0, 23), between(0, 59), between(0, 59), fraction)
  .map(([h, m, s, f]) => `${pad(h)}:${pad(m)}:${pad(s)}${f}`)
const text = fc
  .string({ unit: 'grapheme', maxLength: 30 })
  .filter(each => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(each))

function scalar(shape: Scalar): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'boolean':
      return fc.boolean()
    case 'int':
      return fc.oneof(between(-2147483648, 2147483647), between(-2, 2))
    case 'long':
      if (shape.xsd === 'integer') return fc.bigInt({ min: -(10n ** 300n), max: 10n ** 300n })
      return shape.xsd === 'unsignedLong'
        ? fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
        : fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    case 'decimal': {
      const most = 10n ** BigInt(shape.digits) - 1n
      return fc.bigInt({ min: -most, max: most }).map(units => writeScaledDecimal(units, shape.places))
    }
    case 'double':
      return fc.double()
    case 'date':
      return fc.tuple(day, zone).map(parts => parts.join(''))
    case 'time':
      return fc.tuple(clock, zone).map(parts => parts.join(''))
    case 'dateTime':
      return fc.tuple(day, clock, zone).map(([d, c, z]) => `${d}T${c}${z}`)
    case 'duration':
      return fc.constantFrom('P1Y', 'P1M', 'PT0S', '-P1DT2H3M4.5S', 'P400D', 'PT36H', '-PT0.000000000001S')
    case 'bytes':
      return fc.uint8Array({ maxLength: 20 })
    case 'enum':
      return fc.constantFrom(...shape.values)
    case 'id':
    case 'ref':
      return fc.stringMatching(/^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,20}$/)
    case 'string':
      return shape.xsd === undefined ? text : fc.constantFrom('', 'a', "o'clock", 'a "b"', '%_\\')
  }
}

/** Any value of a field, as the contract's checks let it through. */
export function value(field: AnyField): fc.Arbitrary<unknown> {
  const { shape } = field
  const plain =
    shape.kind === 'list'
      ? fc.array(value(shape.item), { maxLength: 3 })
      : shape.kind === 'map'
        ? fc.dictionary(
            scalar(entryFields(shape).key.shape as Scalar) as fc.Arbitrary<string>,
            value(entryFields(shape).value),
            {
              maxKeys: 3,
              noNullPrototype: true,
            },
          )
        : shape.kind === 'object'
          ? members(shape.fields)
          : shape.kind === 'union'
            ? fc.oneof(
                ...Object.entries(shape.of).map(([kind, of]) =>
                  members(of).map(rest => ({ [shape.on]: kind, ...rest })),
                ),
              )
            : scalar(shape)
  return field.isNullable ? fc.option(plain) : plain
}

export const members = (fields: Fields): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, value(field)])), {
    requiredKeys: Object.entries(fields).flatMap(([name, field]) => (field.isOptional ? [] : [name])),
    noNullPrototype: true,
  })
