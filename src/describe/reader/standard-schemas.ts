/**
 * Schemas that documents import by namespace but often do not include: others build their types on
 * them. Each contains what its specification declares.
 */

const anyElements = '<xs:sequence><xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>'
const otherAttributes = '<xs:anyAttribute namespace="##other" processContents="lax"/>'
const element = (name: string, type: string): string => `<xs:element name="${name}" type="tns:${type}"/>`
const container = (name: string): string =>
  `${element(name, `${name}Type`)}<xs:complexType name="${name}Type">${anyElements}${otherAttributes}</xs:complexType>`
const textWith = (name: string, base: string, attributes = ''): string =>
  `<xs:complexType name="${name}"><xs:simpleContent><xs:extension base="xs:${base}">${attributes}${otherAttributes}</xs:extension></xs:simpleContent></xs:complexType>`

const addressingUri = 'http://www.w3.org/2005/08/addressing'
const replyUri = `${addressingUri}/reply`
const faultCodes = [
  ...['InvalidAddressingHeader', 'InvalidAddress', 'InvalidEPR', 'InvalidCardinality', 'MissingAddressInEPR'],
  ...['DuplicateMessageID', 'ActionMismatch', 'MessageAddressingHeaderRequired', 'DestinationUnreachable'],
  ...['ActionNotSupported', 'EndpointUnavailable'],
]
/** WS-Addressing 1.0 Core and SOAP Binding. */
const addressing = `
  ${['EndpointReference', 'From', 'ReplyTo', 'FaultTo'].map(each => element(each, 'EndpointReferenceType')).join('')}
  <xs:complexType name="EndpointReferenceType"><xs:sequence>
    <xs:element name="Address" type="tns:AttributedURIType"/>
    <xs:element ref="tns:ReferenceParameters" minOccurs="0"/>
    <xs:element ref="tns:Metadata" minOccurs="0"/>
    <xs:any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence>${otherAttributes}</xs:complexType>
  ${container('ReferenceParameters')}${container('Metadata')}
  ${['MessageID', 'To', 'Action', 'ProblemIRI'].map(each => element(each, 'AttributedURIType')).join('')}
  ${element('RelatesTo', 'RelatesToType')}
  ${textWith('RelatesToType', 'anyURI', `<xs:attribute name="RelationshipType" type="tns:RelationshipTypeOpenEnum" default="${replyUri}"/>`)}
  <xs:simpleType name="RelationshipTypeOpenEnum"><xs:union memberTypes="tns:RelationshipType xs:anyURI"/></xs:simpleType>
  <xs:simpleType name="RelationshipType"><xs:restriction base="xs:anyURI"><xs:enumeration value="${replyUri}"/></xs:restriction></xs:simpleType>
  ${textWith('AttributedURIType', 'anyURI')}${textWith('AttributedUnsignedLongType', 'unsignedLong')}${textWith('AttributedQNameType', 'QName')}
  <xs:attribute name="IsReferenceParameter" type="xs:boolean"/>
  <xs:simpleType name="FaultCodesOpenEnumType"><xs:union memberTypes="tns:FaultCodesType xs:QName"/></xs:simpleType>
  <xs:simpleType name="FaultCodesType"><xs:restriction base="xs:QName">
    ${faultCodes.map(each => `<xs:enumeration value="tns:${each}"/>`).join('')}</xs:restriction></xs:simpleType>
  ${element('RetryAfter', 'AttributedUnsignedLongType')}${element('ProblemHeaderQName', 'AttributedQNameType')}
  ${element('ProblemAction', 'ProblemActionType')}
  <xs:complexType name="ProblemActionType"><xs:sequence>
    <xs:element ref="tns:Action" minOccurs="0"/><xs:element name="SoapAction" type="xs:anyURI" minOccurs="0"/>
  </xs:sequence>${otherAttributes}</xs:complexType>`

/** WS-I Attachments Profile 1.0 §4.4: the `cid:` URI of an attachment. */
const attachmentReference = '<xs:simpleType name="swaRef"><xs:restriction base="xs:anyURI"/></xs:simpleType>'

const contents: Readonly<Record<string, string>> = {
  [addressingUri]: addressing,
  'http://ws-i.org/profiles/basic/1.1/xsd': attachmentReference,
}
export const standardNamespaces: readonly string[] = Object.keys(contents)

/** The complete schema of a namespace, as octets; undefined: it is not among these. */
export function findStandardSchema(uri: string): Uint8Array | undefined {
  const content = Object.hasOwn(contents, uri) ? contents[uri] : undefined
  if (content === undefined) return undefined
  const names = `xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:tns="${uri}" targetNamespace="${uri}"`
  return new TextEncoder().encode(`<xs:schema ${names} elementFormDefault="qualified">${content}</xs:schema>`)
}
