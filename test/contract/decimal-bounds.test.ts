/** XML Schema Part 2 §4.3.7–§4.3.10: bounds of decimals are compared by value, of any length. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { simpleCodecOf } from '../../src/contract/xml-simple.ts'
import { x } from '../../src/contract/xml-type.ts'

const decimals: readonly string[] = [
  ...['-1', '-0', '0', '+0', '0.0', '0.1', '0.10', '.5', '5.', '1', '01', '1.0', '+1.5', '9', '10', '-10.25'],
  ...[
    '0.000000000001',
    '0.0000000000001',
    '999999999999999',
    '99999999999999.9',
    '-99999999999999',
    '9.00000000000001',
  ],
  ...['9007199254740993', '9007199254740992', '9007199254740992.5', '0.1000000000000000001', '1234567890123456789012'],
  ...['-9007199254740993', '999999999999999.1', '1000000000000000', '0.10000000000001'],
]
/** Integers of one scale: exact. */
function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.')
  const units = BigInt(`${whole}${fraction.padEnd(30, '0')}`)
  return text.startsWith('-') ? -units : units
}

test('two decimals are ordered by their values, whether they have 15 digits or more', () => {
  for (const bound of decimals) {
    const least = simpleCodecOf(x.simple(x.decimal, { minInclusive: bound }))
    const more = simpleCodecOf(x.simple(x.decimal, { minExclusive: bound }))
    for (const value of decimals) {
      const [own, limit] = [unitsOf(value), unitsOf(bound)]
      assert.equal(!(least.check(value) instanceof Flaw), own >= limit, `${value} >= ${bound}`)
      assert.equal(!(more.check(value) instanceof Flaw), own > limit, `${value} > ${bound}`)
    }
  }
})
