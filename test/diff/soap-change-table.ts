/**
 * Single changes of a WSDL, each with what it does to the callers that write what changed and to
 * those that read it (rule B9.2). Tests hold `src/diff` against it; peers hold it against clients.
 */
export const xs = 'http://www.w3.org/2001/XMLSchema'
export interface Shape {
  /** Global components of the schema; `Thing` is both asked and answered. */
  readonly schema: string
  readonly uri?: string
  readonly action?: string
  readonly parts?: string
  readonly binding?: string
  readonly operation?: string
  readonly form?: string
}
/** An operation of the document: the elements of its request and answer, and what they contain. */
interface WrittenOperation {
  readonly request: string
  readonly response: string
  readonly asked: string
  readonly answered: string
}
export const element = (name: string, type = 'xs:string', more = ''): string =>
  `<xs:element name="${name}" type="${type}"${more}/>`
const thingElement = element('thing', 't:Thing')
const mark = element('mark', 'xs:string', ' form="qualified"')
const bothWays: WrittenOperation = { request: 'Do', response: 'Done', asked: thingElement, answered: thingElement }
/** The same type, asked by one operation and answered by another; a mark names the value. */
export const eachWay: readonly WrittenOperation[] = [
  { request: 'Take', response: 'Taken', asked: mark + thingElement, answered: mark },
  { request: 'Give', response: 'Given', asked: mark, answered: thingElement },
]

export const writeSchema = (
  { schema, uri = 'urn:x', form = 'qualified' }: Shape,
  operations: readonly WrittenOperation[] = [bothWays],
): string => {
  const root = (name: string, content: string) =>
    `\n<xs:element name="${name}"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`
  const roots = operations.map(each => root(each.request, each.asked) + root(each.response, each.answered))
  return `<xs:schema xmlns:xs="${xs}" xmlns:t="${uri}" targetNamespace="${uri}"
  elementFormDefault="${form}">${schema}${roots.join('')}\n</xs:schema>`
}

export const writeWsdl = (shape: Shape, operations: readonly WrittenOperation[] = [bothWays]): string => {
  const { uri = 'urn:x', action, parts = '', binding = '', operation = '' } = shape
  const messages = operations.map(
    ({ request, response }) => `
<message name="${request.toLowerCase()}"><part name="body" element="t:${request}"/>${parts}</message>
<message name="${response.toLowerCase()}"><part name="body" element="t:${response}"/></message>`,
  )
  const offered = operations.map(
    ({ request, response }) =>
      `<operation name="${request}"><input message="t:${request.toLowerCase()}"/><output message="t:${response.toLowerCase()}"/>${operation}</operation>`,
  )
  const bound = operations.map(
    ({ request }) => `
  <operation name="${request}"><s:operation soapAction="${action ?? `urn:${request.toLowerCase()}`}"/>
    <input><s:body use="literal"${parts ? ' parts="body"' : ''}/>${binding}</input><output><s:body use="literal"/></output>
    ${operation && '<fault name="late"><s:fault name="late" use="literal"/></fault>'}</operation>`,
  )
  return `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:xs="${xs}" xmlns:t="${uri}" targetNamespace="${uri}">
<types>${writeSchema(shape, operations)}</types>${messages.join('')}
<message name="late"><part name="detail" element="t:Late"/></message>
<portType name="P">${offered.join('')}</portType>
<binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>${bound.join('')}</binding>
<service name="S"><port name="A" binding="t:B"><s:address location="http://127.0.0.1/"/></port></service>
</definitions>`
}

export const thing = (content: string, more = ''): Shape => ({
  schema: `<xs:complexType name="Thing"><xs:sequence>${content}</xs:sequence>${more}</xs:complexType>`,
})
const optional = ' minOccurs="0"'
const many = ' maxOccurs="unbounded"'
export const a = (type: string, more = ''): Shape => thing(element('a', type, more))
export const simple = (facets: string, base = 'xs:string'): Shape =>
  thing(
    `<xs:element name="a"><xs:simpleType><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType></xs:element>`,
  )
const values = (...all: string[]): Shape => simple(all.map(each => `<xs:enumeration value="${each}"/>`).join(''))
const writeChoice = (...names: string[]): string =>
  `<xs:choice>${names.map(name => element(name)).join('')}</xs:choice>`
const choice = (...names: string[]): Shape => thing(writeChoice(...names))
const attribute = (use: string): Shape => thing(element('a'), `<xs:attribute name="at" type="xs:string" use="${use}"/>`)
const ab = element('a') + element('b')
const any = '<xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded" namespace="##other"/>'

const group = (kind: 'sequence' | 'all'): Shape => ({
  schema: `<xs:complexType name="Thing"><xs:${kind}>${ab}</xs:${kind}></xs:complexType>`,
})
const wildcard = (given: string): Shape => thing(`${element('a')}<xs:any minOccurs="0" ${given}/>`)
const anyAttribute = (given: string): Shape => thing(element('a'), `<xs:anyAttribute processContents="lax" ${given}/>`)
const attributeWith = (more: string): Shape => thing(element('a'), `<xs:attribute name="at" ${more}/>`)
const listed = (most: number): Shape => ({
  schema: `<xs:simpleType name="Numbers"><xs:list itemType="xs:int"/></xs:simpleType>
    <xs:complexType name="Thing"><xs:sequence><xs:element name="a"><xs:simpleType><xs:restriction base="t:Numbers">
    <xs:maxLength value="${most}"/></xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType>`,
})
const derived = (abstract: string): Shape => ({
  schema: `<xs:complexType name="Base"${abstract}><xs:sequence>${element('a')}</xs:sequence></xs:complexType>
    <xs:complexType name="More"><xs:complexContent><xs:extension base="t:Base"><xs:sequence>${element('b')}</xs:sequence>
    </xs:extension></xs:complexContent></xs:complexType>
    <xs:complexType name="Thing"><xs:sequence>${element('a', 't:Base')}</xs:sequence></xs:complexType>`,
})

export type Verdict = 'breaking' | 'compatible'
/** [what changed, before, after, for writers, for readers] */
export const changesOfTypes: readonly (readonly [string, Shape, Shape, Verdict, Verdict])[] = [
  [
    'an optional element comes',
    a('xs:string'),
    thing(element('a') + element('b', 'xs:string', optional)),
    'compatible',
    'breaking',
  ],
  [
    '… where the schema has a wildcard for other namespaces',
    thing(element('a') + any),
    thing(element('a') + element('b', 'xs:string', optional) + any),
    'compatible',
    'breaking',
  ],
  ['a required element comes', a('xs:string'), thing(ab), 'breaking', 'breaking'],
  ['an element goes', thing(ab), a('xs:string'), 'breaking', 'breaking'],
  ['an element is renamed', a('xs:string'), thing(element('b')), 'breaking', 'breaking'],
  ['elements change their order', thing(ab), thing(element('b') + element('a')), 'breaking', 'breaking'],
  ['an element becomes optional', a('xs:string'), a('xs:string', optional), 'compatible', 'breaking'],
  ['an element becomes required', a('xs:string', optional), a('xs:string'), 'breaking', 'compatible'],
  ['an element may be repeated', a('xs:string'), a('xs:string', many), 'compatible', 'breaking'],
  ['an element is no longer repeated', a('xs:string', many), a('xs:string'), 'breaking', 'compatible'],
  ['an element may be nil', a('xs:string'), a('xs:string', ' nillable="true"'), 'compatible', 'breaking'],
  ['an element may not be nil', a('xs:string', ' nillable="true"'), a('xs:string'), 'breaking', 'compatible'],
  ['int becomes long', a('xs:int'), a('xs:long'), 'compatible', 'breaking'],
  ['long becomes int', a('xs:long'), a('xs:int'), 'breaking', 'compatible'],
  ['int becomes decimal', a('xs:int'), a('xs:decimal'), 'compatible', 'breaking'],
  ['token becomes string', a('xs:token'), a('xs:string'), 'compatible', 'breaking'],
  ['string becomes int', a('xs:string'), a('xs:int'), 'breaking', 'compatible'],
  ['date becomes dateTime', a('xs:date'), a('xs:dateTime'), 'breaking', 'breaking'],
  ['int becomes string', a('xs:int'), a('xs:string'), 'compatible', 'breaking'],
  ['float becomes double', a('xs:float'), a('xs:double'), 'compatible', 'breaking'],
  ['base64 becomes hex', a('xs:base64Binary'), a('xs:hexBinary'), 'breaking', 'breaking'],
  ['a string becomes any XML', a('xs:string'), a('xs:anyType'), 'compatible', 'breaking'],
  ['a value of an enumeration comes', values('x'), values('x', 'y'), 'compatible', 'breaking'],
  ['a value of an enumeration goes', values('x', 'y'), values('x'), 'breaking', 'compatible'],
  ['a value of an enumeration is renamed', values('x'), values('X'), 'breaking', 'breaking'],
  ['values are enumerated', a('xs:string'), values('x'), 'breaking', 'compatible'],
  ['a longest text comes', a('xs:string'), simple('<xs:maxLength value="5"/>'), 'breaking', 'compatible'],
  [
    'a text may be longer',
    simple('<xs:maxLength value="5"/>'),
    simple('<xs:maxLength value="9"/>'),
    'compatible',
    'breaking',
  ],
  [
    'a text must be shorter',
    simple('<xs:maxLength value="9"/>'),
    simple('<xs:maxLength value="5"/>'),
    'breaking',
    'compatible',
  ],
  [
    'a text has exactly another length',
    simple('<xs:length value="9"/>'),
    simple('<xs:length value="5"/>'),
    'breaking',
    'breaking',
  ],
  ['a pattern comes', a('xs:string'), simple('<xs:pattern value="x+"/>'), 'breaking', 'compatible'],
  ['a pattern goes', simple('<xs:pattern value="x+"/>'), a('xs:string'), 'compatible', 'breaking'],
  ['a pattern changes', simple('<xs:pattern value="x+"/>'), simple('<xs:pattern value="y+"/>'), 'breaking', 'breaking'],
  [
    'a minimum rises',
    simple('<xs:minInclusive value="1"/>', 'xs:int'),
    simple('<xs:minInclusive value="2"/>', 'xs:int'),
    'breaking',
    'compatible',
  ],
  [
    'a maximum rises',
    simple('<xs:maxInclusive value="1"/>', 'xs:int'),
    simple('<xs:maxInclusive value="2"/>', 'xs:int'),
    'compatible',
    'breaking',
  ],
  [
    'more digits may follow the point',
    simple('<xs:fractionDigits value="2"/>', 'xs:decimal'),
    simple('<xs:fractionDigits value="4"/>', 'xs:decimal'),
    'compatible',
    'breaking',
  ],
  ['an optional attribute comes', a('xs:string'), attribute('optional'), 'compatible', 'breaking'],
  ['a required attribute comes', a('xs:string'), attribute('required'), 'breaking', 'breaking'],
  ['an attribute is removed', attribute('optional'), a('xs:string'), 'breaking', 'breaking'],
  ['an attribute becomes required', attribute('optional'), attribute('required'), 'breaking', 'compatible'],
  ['a choice comes', choice('a', 'b'), choice('a', 'b', 'c'), 'compatible', 'breaking'],
  ['a choice goes', choice('a', 'b', 'c'), choice('a', 'b'), 'breaking', 'compatible'],
  ['an element becomes one of a choice', a('xs:string'), choice('a', 'b'), 'compatible', 'breaking'],
  ['one of a choice stands alone', choice('a', 'b'), a('xs:string'), 'breaking', 'compatible'],
  [
    'the first of two choices has one more',
    thing(writeChoice('a', 'b') + writeChoice('c', 'd')),
    thing(writeChoice('a', 'b', 'e') + writeChoice('c', 'd')),
    'compatible',
    'breaking',
  ],
  ['elements in any order become a sequence', group('all'), group('sequence'), 'breaking', 'compatible'],
  ['elements in order may come in any', group('sequence'), group('all'), 'compatible', 'breaking'],
  [
    'an element occurs twice at least',
    a('xs:string', many),
    a('xs:string', `${many} minOccurs="2"`),
    'breaking',
    'compatible',
  ],
  [
    'an element need occur once alone',
    a('xs:string', `${many} minOccurs="2"`),
    a('xs:string', many),
    'compatible',
    'breaking',
  ],
  [
    'other elements are of other namespaces alone',
    wildcard('namespace="##any"'),
    wildcard('namespace="##other"'),
    'breaking',
    'compatible',
  ],
  [
    'other attributes are of other namespaces alone',
    anyAttribute(''),
    anyAttribute('namespace="##other"'),
    'breaking',
    'compatible',
  ],
  [
    'other attributes are checked',
    anyAttribute(''),
    thing(element('a'), '<xs:anyAttribute/>'),
    'breaking',
    'compatible',
  ],
  [
    'other elements are checked',
    wildcard('processContents="lax"'),
    wildcard('processContents="strict"'),
    'breaking',
    'compatible',
  ],
  [
    'the default of an attribute changes',
    attributeWith('default="1"'),
    attributeWith('default="2"'),
    'breaking',
    'compatible',
  ],
  [
    'the value of an attribute changes',
    attributeWith('fixed="1" use="required"'),
    attributeWith('fixed="2" use="required"'),
    'breaking',
    'breaking',
  ],
  ['a list may have fewer items', listed(3), listed(2), 'breaking', 'compatible'],
  ['a type becomes abstract', derived(''), derived(' abstract="true"'), 'breaking', 'compatible'],
  [
    'a last day is a later one',
    simple('<xs:maxInclusive value="2025-12-31"/>', 'xs:date'),
    simple('<xs:maxInclusive value="2026-12-31"/>', 'xs:date'),
    'compatible',
    'breaking',
  ],
  ...([
    ['xs:dateTime', '2026-01-01T00:00:00Z', '2026-01-01T00:30:00-01:00'],
    ['xs:dateTime', '2026-01-01T00:00:00.5', '2026-01-01T00:00:00.75'],
    ['xs:dateTime', '2026-01-01T00:00:00', '2026-01-02T00:00:00Z'],
    ['xs:time', '12:00:00Z', '12:00:00-02:00'],
    ['xs:time', '09:00:00', '10:00:00'],
    ['xs:date', '2026-01-01Z', '2026-01-02Z'],
    ['xs:date', '-0044-03-15', '0001-01-01'],
    ['xs:gYear', '2026', '2027'],
    ['xs:gMonthDay', '--02-28', '--03-01'],
    ['xs:duration', 'P1M', 'PT745H'],
    ['xs:duration', 'PT59.5S', 'PT1M'],
    ['xs:double', '1e3', '1e4'],
    ['xs:decimal', '10000000000000000.1', '10000000000000000.2'],
    ['xs:integer', '9007199254740992', '9007199254740993'],
  ] as const).map(
    ([type, low, high]) =>
      [
        `a bound of ${type} moves from ${low} to ${high}`,
        simple(`<xs:maxInclusive value="${low}"/>`, type),
        simple(`<xs:maxInclusive value="${high}"/>`, type),
        'compatible',
        'breaking',
      ] as const,
  ), // biome-ignore format: a table
  [
    'a bound without a zone gets one, and may be earlier or later',
    simple('<xs:minInclusive value="2026-01-01T00:00:00"/>', 'xs:dateTime'),
    simple('<xs:minInclusive value="2026-01-01T10:00:00Z"/>', 'xs:dateTime'),
    'breaking',
    'breaking',
  ],
  [
    'a month becomes 30 days, which may be more or fewer',
    simple('<xs:minInclusive value="P1M"/>', 'xs:duration'),
    simple('<xs:minInclusive value="P30D"/>', 'xs:duration'),
    'breaking',
    'breaking',
  ],
  [
    'local elements lose their namespace',
    a('xs:string'),
    { ...a('xs:string'), form: 'unqualified' },
    'breaking',
    'breaking',
  ],
]

const late = '<xs:element name="Late" type="xs:string"/>'
export const plain: Shape = { ...a('xs:string'), schema: a('xs:string').schema + late }
const block = {
  parts: '<part name="branch" element="t:Late"/>',
  binding: '<s:header message="t:do" part="branch" use="literal"/>',
}
const blockWithFault = {
  ...block,
  binding: block.binding.replace('/>', '><s:headerfault message="t:late" part="detail" use="literal"/></s:header>'),
}
/** The request has an attachment, next to its Body. */
const attaching = (...types: readonly string[]) => ({
  parts: '<part name="branch" type="xs:base64Binary"/>',
  binding: `<m:multipartRelated xmlns:m="http://schemas.xmlsoap.org/wsdl/mime/"><m:part>${types.map(each => `<m:content part="branch" type="${each}"/>`).join('')}</m:part></m:multipartRelated>`,
})
/** An element refers to an attachment. */
const referring = (type: string): Shape => ({
  schema: a(type).schema.replace('type="ref:', 'xmlns:ref="http://ws-i.org/profiles/basic/1.1/xsd" type="ref:') + late,
})
/** [what changed, before, after, breaks] */
export const changesOfOperations: readonly (readonly [string, Shape, Shape, boolean])[] = [
  ['the namespace', plain, { ...plain, uri: 'urn:y' }, true],
  ['the action', plain, { ...plain, action: 'urn:other' }, true],
  ['a fault comes', plain, { ...plain, operation: '<fault name="late" message="t:late"/>' }, false],
  ['a fault goes', { ...plain, operation: '<fault name="late" message="t:late"/>' }, plain, false],
  ['a fault about a header block is added', { ...plain, ...block }, { ...plain, ...blockWithFault }, false],
  [
    'octets in the XML become those of an attachment',
    { ...plain, schema: a('xs:base64Binary').schema + late },
    referring('ref:swaRef'),
    true,
  ],
  [
    'a URI becomes the octets of an attachment',
    { ...plain, schema: a('xs:anyURI').schema + late },
    referring('ref:swaRef'),
    true,
  ],
  ['an attachment comes', plain, { ...plain, ...attaching('image/png') }, true],
  [
    'a media type of an attachment comes',
    { ...plain, ...attaching('image/png') },
    { ...plain, ...attaching('image/png', 'image/gif') },
    false,
  ],
  [
    'a media type of an attachment goes',
    { ...plain, ...attaching('image/png', 'image/gif') },
    { ...plain, ...attaching('image/png') },
    true,
  ],
  ['a header block is added', plain, { ...plain, ...block }, true],
  ['a header block goes', { ...plain, ...block }, plain, true],
]
