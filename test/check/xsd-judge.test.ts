/** The judge of SOAP answers by the XML Schema of their description (XML Schema Parts 1 and 2). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SchemaJudge } from '../../src/check/xsd-judge.ts'
import { Malformed, parseXml } from '../../src/xml/index.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const parse = (text: string) => {
  const document = parseXml(new TextEncoder().encode(text))
  assert.ok(!(document instanceof Malformed))
  return document.root
}
const judge = new SchemaJudge([
  parse(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">
  <xs:element name="order" type="t:Order"/>
  <xs:element name="head" type="xs:string"/>
  <xs:element name="tail" type="xs:string" substitutionGroup="t:head"/>
  <xs:group name="names"><xs:sequence><xs:element name="first" type="xs:string"/><xs:element name="last" type="xs:string" minOccurs="0"/></xs:sequence></xs:group>
  <xs:simpleType name="Size"><xs:restriction base="xs:int"><xs:minInclusive value="1"/><xs:maxInclusive value="9"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="Kind"><xs:restriction base="xs:string"><xs:enumeration value="a"/><xs:enumeration value="b"/></xs:restriction></xs:simpleType>
  <xs:complexType name="Base"><xs:sequence><xs:element name="id" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="Order"><xs:complexContent><xs:extension base="t:Base"><xs:sequence>
    <xs:element name="at" type="xs:dateTime" minOccurs="0"/>
    <xs:element name="size" type="t:Size" minOccurs="0" maxOccurs="3"/>
    <xs:choice minOccurs="0"><xs:element name="card" type="xs:boolean"/><xs:element name="cash" type="xs:decimal"/></xs:choice>
    <xs:element name="kind" type="t:Kind" minOccurs="0" nillable="true"/>
    <xs:group ref="t:names" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element ref="t:head" minOccurs="0"/>
    <xs:element name="any" minOccurs="0"><xs:complexType><xs:sequence><xs:any minOccurs="0" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="bag" minOccurs="0"><xs:complexType><xs:all><xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:int" minOccurs="0"/></xs:all></xs:complexType></xs:element>
  </xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`),
])
const order = (content: string) =>
  judge.findMismatch(
    parse(`<order xmlns="urn:t" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><id>1</id>${content}</order>`),
  )

const sound = [
  '',
  '<at>2026-01-01T09:00:00Z</at><size>1</size><size>9</size>',
  '<card>true</card>',
  '<cash>-1.50</cash><kind>a</kind>',
  '<kind i:nil="true"/>',
  '<kind i:nil=" 0 ">a</kind>',
  '<first>a</first><last>b</last><first>c</first>',
  '<head>a</head>',
  '<tail>a</tail>',
  '<any><z xmlns="urn:z"/><z xmlns="urn:z"/></any>',
  '<bag><y>1</y><x>2</x></bag>',
  '<bag i:type="other"><q/></bag>',
]
for (const content of sound)
  test(`valid: ${content || 'only what is required'}`, () => assert.equal(order(content), undefined))

const flawed: readonly (readonly [content: string, says: RegExp])[] = [
  ['<size>1</size><at>2026-01-01T09:00:00Z</at>', /order has at where size or card or cash|order has at where/],
  ['<at>yesterday</at>', /order\/at is "yesterday", not of the type xs:dateTime/],
  ['<size>0</size>', /against minInclusive 1/],
  ['<size i:nil="true"/>', /order\/size has xsi:nil, which its declaration does not allow/],
  ['<size i:nil="false">1</size>', /order\/size has xsi:nil/],
  ['<size>1</size><size>1</size><size>1</size><size>1</size>', /order has size where/],
  ['<card>true</card><cash>1</cash>', /order has cash where/],
  ['<card>yes</card>', /xs:boolean/],
  ['<kind>c</kind>', /not one of a, b/],
  ['<kind xmlns="">a</kind>', /order has \{\}kind where/],
  ['<last>b</last>', /order has last where/],
  ['<any><z xmlns="urn:z"/><z xmlns="urn:z"/><z xmlns="urn:z"/></any>', /any has z where nothing is declared/],
  ['<bag><y>1</y></bag>', /bag ends where x is declared/],
  ['<size><deep/></size>', /has deep, where its type is simple/],
]
for (const [content, says] of flawed)
  test(`flawed: ${content}`, () => assert.match(order(content) ?? 'nothing is wrong', says))

test('a missing required element is named', () => {
  assert.match(judge.findMismatch(parse('<order xmlns="urn:t"/>')) ?? '', /order ends where id is declared/)
})
test('content that the schemas do not describe gets no verdict', () => {
  assert.equal(judge.findMismatch(parse('<other xmlns="urn:t"/>')), undefined)
  assert.equal(judge.findTypeMismatch(parse('<part>x</part>'), 'urn:else', 'Type'), undefined)
  assert.match(
    judge.findTypeMismatch(parse('<part>x</part>'), 'http://www.w3.org/2001/XMLSchema', 'int') ?? '',
    /type xs:int/,
  )
})
test('a long list is judged in linear time', async () => {
  const list = '<first>a</first><last>b</last>'.repeat(2000)
  await assertCpuMsBelow(2000, () => assert.equal(order(list), undefined))
})

/** [base, facets, what they allow, what they do not] */
const facets: readonly (readonly [base: string, facets: string, allowed: string, refused: string | undefined])[] = [
  ['xs:token', '<xs:maxLength value="3"/>', '  a  b ', 'abcd'],
  ['xs:normalizedString', '<xs:enumeration value="a&#9;b"/>', 'a b', 'a c'],
  ['xs:decimal', '<xs:enumeration value="1.50"/>', '1.5', '2'],
  ['t:Narrow', '<xs:enumeration value="a"/>', 'a', 'b'],
  ['t:Flags', '<xs:enumeration value="true"/>', '1', undefined],
  ['t:Flags', '<xs:maxLength value="2"/>', 'true false', undefined],
  ['xs:QName', '<xs:enumeration value="t:a"/>', 'x:a', undefined],
  ['xs:date', '<xs:enumeration value="2026-01-01Z"/>', '2026-01-01+00:00', undefined],
]
for (const [base, inside, allowed, refused] of facets)
  test(`Part 2 §4.3 no judgement is false: ${allowed} is a value of ${base} with ${inside}`, () => {
    const judged = new SchemaJudge([
      parse(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
        <xs:simpleType name="Flags"><xs:list itemType="xs:boolean"/></xs:simpleType>
        <xs:simpleType name="Narrow"><xs:restriction base="xs:string"><xs:maxLength value="9"/></xs:restriction></xs:simpleType>
        <xs:simpleType name="R"><xs:restriction base="${base}">${inside}</xs:restriction></xs:simpleType>
        <xs:element name="r" type="t:R"/></xs:schema>`),
    ])
    const mismatchOf = (text: string) =>
      judged.findMismatch(parse(`<t:r xmlns:t="urn:t" xmlns:x="urn:t">${text}</t:r>`))
    assert.equal(mismatchOf(allowed), undefined)
    if (refused !== undefined) assert.ok(mismatchOf(refused))
  })
