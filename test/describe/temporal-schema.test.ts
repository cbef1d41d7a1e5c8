/** What the descriptions say of dates, times and durations is what the contract accepts. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Scalar, t, type ZoneRule } from '../../src/contract/field.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { checkScalar } from '../../src/contract/lexical/scalar.ts'
import type { TemporalShape } from '../../src/contract/lexical/temporal.ts'
import { compileXsdPattern } from '../../src/contract/lexical/xsd-pattern.ts'
import { scalarSchema } from '../../src/describe/json-schema.ts'
import { temporalPattern } from '../../src/describe/temporal-pattern.ts'

const require = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'))
const ajv = new (require('ajv/dist/2020.js').default)({ strict: false })
require('ajv-formats')(ajv)

const rules: readonly ZoneRule[] = ['required', 'optional', 'prohibited']
/** Those of a contract, and those of the messages of others: any value of XML Schema. */
const shapes = [
  ...rules.flatMap(zone => [t.date({ zone }), t.time({ zone }), t.dateTime({ zone })].map(({ shape }) => shape)),
  t.duration().shape,
  ...(['date', 'time', 'dateTime'] as const).map(kind => ({ kind })),
] as TemporalShape[]

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))
const year = fc.oneof(
  fc.constantFrom('0000', '0001', '0044', '1900', '2000', '2028', '9999', '10000', '-0044', '012026', '999999999'),
  digits(4),
  digits(4),
)
const day = fc.oneof(
  fc.constantFrom('-01-31', '-11-21'),
  fc.constantFrom('-02-28', '-02-29', '-02-30', '-04-31', '-12-31', '-13-01', '-00-10', '-1-1'),
)
const time = fc.oneof(
  fc.constantFrom('09:30:00', '24:00:00', '24:00:00.0', '24:00:01', '23:59:59.999999', '9:30:00', '09:30', '12:00:60'),
  fc.constantFrom('09:30:00', '23:59:59.5'),
  fc.constantFrom('00:00:00.123456789012', '00:00:00.1234567890123', '00:00:00.'),
)
const zone = fc.constantFrom('', '', 'Z', '+01:00', '-14:00', '-00:00', '+14:01', '+1:00', 'z')
const duration = fc.oneof(
  fc.constantFrom('P1Y', '-P1D', 'PT1.5S', 'P1DT', 'PT', 'P', 'P1Y2D', 'PT1H2S', 'P3W', 'P1S', 'PT1D', 'P1.5D', '+P1D'),
  fc.stringMatching(/^-?P([0-9]{1,2}[YMD]){0,3}(T([0-9]{1,2}[HMS]){0,3})?$/),
)
const texts = fc.oneof(
  fc.tuple(year, day, zone).map(parts => parts.join('')),
  fc.tuple(time, zone).map(parts => parts.join('')),
  fc.tuple(year, day, fc.constantFrom('T', 'T', 'T', 't', ' '), time, zone).map(parts => parts.join('')),
  duration,
  fc.string({ maxLength: 12 }),
)

const accepts = (shape: TemporalShape, text: string): boolean => !(checkScalar(shape as Scalar, text) instanceof Flaw)
const nameOf = ({ kind, zone }: TemporalShape): string => `${kind}, zone ${zone ?? 'as in XML Schema'}`
/** What a pattern cannot express: how many days a month has. */
const dayOfMonth = /-(02-(29|30|31)|(04|06|09|11)-31)/
/** What RFC 3339 also allows: a leap second, letters of either case, a blank for T, other zones. */
const beyondSchema = /:60|[tz ]|[+-](1[4-9]|2\d):|\.\d{13}/

for (const shape of shapes)
  test(`A2.1 the JSON Schema of a ${nameOf(shape)} has the values that the contract accepts, and no others`, () => {
    const schema = scalarSchema(shape)
    const isValid = ajv.compile(schema)
    let accepted = 0
    fc.assert(
      fc.property(texts, text => {
        const isAccepted = accepts(shape, text)
        if (isAccepted) accepted++
        const isLoose = dayOfMonth.test(text) || ('format' in schema && (beyondSchema.test(text) || /^0000/.test(text)))
        assert.ok(isAccepted ? isValid(text) : isLoose || !isValid(text), `${text}: ${isAccepted}`)
      }),
      { numRuns: 5000 },
    )
    assert.ok(accepted > 20, `${accepted} values`)
  })

for (const shape of shapes)
  test(`XML Schema Part 2 §4.3.4 the pattern of a ${nameOf(shape)} has the same values`, () => {
    const pattern = compileXsdPattern(temporalPattern(shape))
    assert.ok(pattern)
    fc.assert(
      fc.property(texts, text => {
        const isAccepted = accepts(shape, text)
        assert.ok(isAccepted ? pattern.test(text) : !pattern.test(text) || dayOfMonth.test(text), text)
      }),
      { numRuns: 2000 },
    )
  })

test('JSON Schema Validation §7.3.1 a format is given if all values have it', () => {
  const said = Object.fromEntries(shapes.map(shape => [nameOf(shape), scalarSchema(shape)['format']]))
  const known = Object.fromEntries(Object.entries(said).filter(([, format]) => format !== undefined))
  assert.deepEqual(known, {
    'date, zone prohibited': 'date',
    'time, zone required': 'time',
    'dateTime, zone required': 'date-time',
  })
  assert.deepEqual(
    [t.date(), t.dateTime(), t.time()].map(({ shape }) => scalarSchema(shape as Scalar)['format']),
    ['date', 'date-time', undefined],
  )
})
