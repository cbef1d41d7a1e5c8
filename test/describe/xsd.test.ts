/** The reader of messages accepts what the schema allows (rule B2.7); libxml2 judges. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnyField } from '../../src/contract/field.ts'
import { t } from '../../src/contract/field.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { readSettledScalar } from '../../src/contract/lexical/settled-text.ts'
import { isScalar } from '../../src/contract/shape.ts'
import { compileTypeNames } from '../../src/contract/type-names.ts'
import { writeDocument, writeTag } from '../../src/describe/markup.ts'
import { writeSchemaTag, writeXsd } from '../../src/describe/xsd.ts'
import { SchemaTypes } from '../../src/describe/xsd-types.ts'
import { escapeText } from '../../src/xml/write.ts'
import { scalars, services } from './contracts.ts'
import { judge } from './oracle.ts'
import { shop } from './orders-contract.ts'

const v1 = judge(writeXsd(shop, 'v1'))
const v2 = judge(writeXsd(shop, 'v2'))
const in1 = (name: string, content: string) => `<${name} xmlns="urn:diglot:orders:v1">${content}</${name}>`
const in2 = (name: string, content: string) => in1(name, content).replace(':v1', ':v2')
const line = '<line><product>p-1</product><quantity>2</quantity></line>'
const draft = (more = '') => `<order><lines>${line}</lines><currency>EUR</currency>${more}</order>`
const order = `<order><id>o-1</id><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity>
  <price>12.50</price></line></lines><currency>EUR</currency><total>25.00</total><placedAt>2026-11-21T12:30:00Z</placedAt>
  <state>placed</state><version>3</version></order>`

const rows: readonly (readonly [title: string, valid: boolean, document: string])[] = [
  ['B2.7 GetOrder has an id', true, in1('GetOrder', '<id>o-1</id>')],
  ['B2.7 and nothing else', false, in1('GetOrder', '<id>o-1</id><version>1</version>')],
  ['B2.7 the last child of an item is its version', true, in1('GetOrderResponse', order)],
  [
    'B2.7 children in the contract’s order',
    false,
    in1(
      'GetOrderResponse',
      order.replace('<id>o-1</id>', '').replace('<order>', '<order><customer>c-1</customer><id>o-1</id>'),
    ),
  ],
  ['B2.7 CreateOrder without read-schemaOfValue fields, and without customer', true, in1('CreateOrder', draft())],
  ['B2.7 CreateOrder with read-schemaOfValue fields', true, in1('CreateOrder', order)],
  ['B2.7 a list below its minimum length', false, in1('CreateOrder', draft().replace(line, ''))],
  ['B9.3 note is not in v1', false, in1('CreateOrder', draft('<note>n</note>'))],
  ['B9.3 note is in v2', true, in2('CreateOrder', draft('<note>n</note>'))],
  [
    'B9.3 v2 has a namespace of its own',
    false,
    in1('CreateOrder', draft()).replaceAll('<order>', '<order xmlns="urn:diglot:orders:v2">'),
  ],
  ['elementFormDefault: children are in the namespace', false, in1('GetOrder', '<id xmlns="">o-1</id>')],
  [
    'B2.7 a change has a version next to the id',
    true,
    in1('ReplaceOrder', `<id>o-1</id><version>3</version>${draft()}`),
  ],
  [
    'B2.7 the fields of the input of an action are children',
    true,
    in1('PayOrder', '<id>o-1</id><method>card</method><amount>25.00</amount>'),
  ],
  ['enumeration', false, in1('PayOrder', '<id>o-1</id><method>cash</method><amount>25.00</amount>')],
  ['decimal: two places', false, in1('PayOrder', '<id>o-1</id><method>card</method><amount>25.001</amount>')],
  [
    'decimal: twelve digits, ten before the point',
    false,
    in1('PayOrder', '<id>o-1</id><method>card</method><amount>12345678901</amount>'),
  ],
  ['decimal: no sign', false, in1('PayOrder', '<id>o-1</id><method>card</method><amount>+25</amount>')],
  ['an empty reply', true, in1('DeleteOrderResponse', '')],
  [
    'a list has its items, and further children',
    true,
    in1('ListOrdersResponse', `<orders>${order}</orders><total>1</total><next>abc</next>`),
  ],
  ['an empty list', true, in1('ListOrdersResponse', '<orders/>')],
  ['filters by equality', true, in1('ListOrders', '<size>10</size><sort>-total</sort><state>paid</state>')],
  ['a filter is typed', false, in1('ListOrders', '<state>payed</state>')],
  [
    'B4.12 a picture is base64',
    true,
    in1('PutProductPicture', '<id>p-1</id><picture>AAEC</picture><mediaType>image/png</mediaType>'),
  ],
  [
    'B4.12 of a declared media type',
    false,
    in1('PutProductPicture', '<id>p-1</id><picture>AAEC</picture><mediaType>text/html</mediaType>'),
  ],
  ['B7.5 a fault of the contract', true, in1('OutOfStock', '<product>p-1</product><stock>0</stock>')],
  [
    'B7.5 a fault of every service',
    true,
    in1('StateConflict', '<state>paid</state><possible><transition>ship</transition></possible>'),
  ],
  [
    'a job and its result',
    true,
    in1(
      'GetReportJobResponse',
      '<job><id>j</id><state>completed</state><progress>1</progress><createdAt>2026-11-21T12:30:00Z</createdAt></job><report><from>2026-01-01</from><to>2026-01-31</to><kind>sales</kind><rows><row><product>p-1</product><name>n</name><currency>EUR</currency><quantity>1</quantity><amount>1.00</amount></row></rows><totals><total><currency>EUR</currency><amount>1.00</amount></total></totals></report>',
    ),
  ],
]
for (const [title, valid, message] of rows)
  test(title, () => {
    const flaw = (message.includes(':v2') ? v2 : v1).flaw(message)
    assert.equal(flaw === undefined, valid, flaw ?? 'valid')
  })

test('D1 a schema refers to no other document', () => {
  assert.doesNotMatch(writeXsd(shop, 'v1'), /schemaLocation|xs:import|xs:include/)
})
test('B4.12 the element of a file declares no media type for which a generator has a class', () => {
  const files = writeXsd(shop, 'v1').match(/<xs:element name="picture"[^>]*>/g)
  assert.equal(files?.length, 2)
  for (const each of files ?? []) assert.match(each, / xmime:expectedContentTypes="application\/octet-stream"/)
})
test('D5 any contract has a valid schema, with any names', () => {
  fc.assert(
    fc.property(services, service => {
      judge(writeXsd(service, 'v1'))
    }),
    { numRuns: 60 },
  )
})

const shapes: Readonly<Record<string, { field: AnyField; lead: string; item?: AnyField }>> = {
  attribute: { field: t.object({ code: t.int().attribute(), text: t.string() }), lead: '' },
  union: { field: t.union('kind', { card: { number: t.string() }, cash: {} }), lead: '' },
  nullable: { field: t.int().nullable(), lead: '' },
  nested: { field: t.list(t.list(t.int())), lead: '' },
  map: { field: t.map(t.int(), { key: t.enum('a', 'b'), max: 2 }), lead: '' },
  named: { field: t.list(t.int(), { element: 'entry', max: 2 }), lead: '' },
}
const structures: readonly (readonly [keyof typeof shapes, boolean, string])[] = [
  ['attribute', true, '<value code="5"><text>x</text></value>'],
  ['attribute', false, '<value><text>x</text></value>'],
  ['attribute', false, '<value><code>5</code><text>x</text></value>'],
  ['union', true, '<value><card><number>1</number></card></value>'],
  ['union', true, '<value><cash/></value>'],
  ['union', false, '<value><card><number>1</number></card><cash/></value>'],
  ['union', false, '<value/>'],
  ['nullable', true, '<value xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>'],
  ['nullable', false, '<value/>'],
  ['nested', true, '<value><value><item>1</item></value><value/></value>'],
  ['map', true, '<value><entry><key>a</key><value>1</value></entry></value>'],
  ['map', true, '<value/>'],
  ['map', false, '<value><entry><key>c</key><value>1</value></entry></value>'],
  ['map', false, '<value><entry><value>1</value><key>a</key></entry></value>'],
  ['named', true, '<value><entry>1</entry><entry>2</entry></value>'],
  ['named', false, '<value><entry>1</entry><entry>2</entry><entry>3</entry></value>'],
]
for (const [name, valid, message] of structures)
  test(`${name}: ${message} is ${valid ? 'valid' : 'invalid'}`, () => {
    const flaw = judge(schemaOfValue(shapes[name]?.field ?? t.string())).flaw(`<root xmlns="urn:x">${message}</root>`)
    assert.equal(flaw === undefined, valid, flaw ?? 'valid')
  })

/** A schema of one element with one value. */
function schemaOfValue(field: AnyField): string {
  const fields = { value: field }
  const types = new SchemaTypes(compileTypeNames([{ element: 'root', fields, form: 'qualified' }]), 'qualified')
  const content = writeTag('xs:complexType', {}, types.content(fields, 'qualified'))
  const root = writeTag('xs:element', { name: 'root' }, content)
  return writeDocument(writeSchemaTag('urn:x', types, {}, [...types.definitions, root]))
}

/** Text near the lexical spaces of all types. */
const lexical = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '0',
      '-0',
      '+1',
      '007',
      '12.50',
      '.5',
      '5.',
      '1e3',
      'INF',
      '-INF',
      'NaN',
      'true',
      '1',
      'TRUE',
      ' false ',
      '\t5\n',
    ],
    ...[
      '2026-11-21',
      '2026-02-30',
      '2024-02-29Z',
      '2026-11-21+14:00',
      '12:30:00',
      '12:30:00.5Z',
      '25:00:00',
      '24:00:00',
      '2026-11-21T12:30:00Z',
    ],
    ...[
      'P1D',
      'PT',
      'P1Y2M3DT4H5M6.7S',
      '-P1M',
      'P1M2Y',
      '2026',
      '--11',
      '---21',
      '--11-21',
      '2026-11',
      '--02-30',
      '12345-01-01',
    ],
    ...[
      'AAEC',
      'AAE=',
      'AA==',
      'AA',
      'A A E C',
      '00ff',
      '0F0',
      'Q==',
      'en',
      'en-GB',
      'a b',
      ' a',
      'a  b',
      'x:y',
      ':x',
      '1a',
      'urn:a b',
      'http://x/%zz',
    ],
    ...[
      'a@b',
      'abc',
      'ab12',
      '12',
      '12345',
      'a',
      'b',
      'aab',
      'x',
      'Éa',
      'Eé\u2028',
      ']',
      '-',
      'a-b-c',
      'ａ',
      '٣٣',
      'x\u00a0y@z',
    ],
    ...[
      '127',
      '128',
      '255',
      '256',
      '-1',
      '-128',
      '65535',
      '65536',
      '2147483648',
      '-2147483648',
      '9223372036854775807',
      '9223372036854775808',
    ],
    ...[
      '18446744073709551615',
      '18446744073709551616',
      '999999999999999999',
      '9999999999.99',
      '10000000000',
      '1.230',
      'o-1',
      'a/b',
      '.a',
      'a.b~c_d',
      '-x',
    ],
  ),
  fc.string({ maxLength: 12 }),
  fc.integer().map(String),
  fc.double().map(String),
)
/** Texts on which libxml2 differs from the standard or the reader, by kind. */
const differing: readonly (readonly [reason: string, holds: (kind: string, text: string) => boolean])[] = [
  ['libxml2 has its own parser of URIs', kind => kind === 'anyURI'],
  [
    'libxml2 ignores characters outside of the alphabet',
    (kind, each) => kind === 'bytes' && /[^A-Za-z0-9+/= ]/.test(each),
  ],
  ['libxml2 has no years of more than ten digits', (kind, each) => kind === 'gYear' && each.length > 9],
  [
    'libxml2 accepts an exponent without digits',
    (kind, each) => /double|float/.test(kind) && /[eE][+-]?\s*$/.test(each),
  ],
  [
    'years before 0001 and beyond 9999, and the hour 24, are of xs:date and its like, not of RFC 3339: the reader refuses them',
    (kind, each) => /^(date|time|dateTime)$/.test(kind) && /^\s*(-|\d{5}|0000)|(^|T)\s*24:/.test(each),
  ],
  ['libxml2 requires the declaration of a prefix', (kind, each) => kind === 'QName' && each.includes(':')],
]

test('B2.7 the reader of a scalar accepts what its schema allows', () => {
  fc.assert(
    fc.property(scalars, fc.array(lexical, { minLength: 1, maxLength: 30 }), (field, texts) => {
      const { shape } = field
      assert.ok(isScalar(shape))
      const kind = ('xsd' in shape && shape.xsd) || shape.kind
      const schema = schemaOfValue(field)
      const isWider = schema.includes('ECMAScript')
      const one = judge(schema)
      for (const each of texts.map(each =>
        each.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '?').toWellFormed(),
      )) {
        if (differing.some(([, holds]) => holds(kind, each))) continue
        const flaw = one.flaw(`<root xmlns="urn:x"><value>${escapeText(each)}</value></root>`)
        const value = readSettledScalar(shape, each)
        if (isWider && value instanceof Flaw) continue
        assert.equal(
          flaw === undefined,
          !(value instanceof Flaw),
          `${JSON.stringify(shape, (_, v) => (typeof v === 'bigint' ? `${v}n` : v))} ${JSON.stringify(each)}: ${flaw ?? 'valid'}, ${value instanceof Flaw ? value.detail : 'accepted'}`,
        )
      }
    }),
    { numRuns: 300 },
  )
})
