/** An element and a type of one name, of which generators would make one class. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../src/contract/fault.ts'
import { t } from '../../src/contract/field.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { writeWsdl11 } from '../../src/describe/wsdl11.ts'
import { writeXsd } from '../../src/describe/xsd.ts'

const Rejection = fault('Rejection', { status: 422, title: 'Rejected', detail: { code: t.int() } })
const Other = fault('Other', { status: 422, title: 'Other', detail: { code: t.int() } })
const receipt = t.object({ number: t.string() }, 'SendRejectionResponse')
const rejections = resource('rejections', {
  fields: { id: t.id('r'), content: t.enum('a', 'b'), rejectionContent: t.enum('c'), state: t.state() },
  states: ['new', 'sent'],
  actions: on => ({
    send: on('new').to('sent', { rel: 'sending', output: { receipt }, faults: [Rejection, Other] }),
  }),
}).rules({ allow: { read: [anyone], create: [anyone], send: [anyone] } })
const office = service('office', { namespace: 'urn:office', resources: [rejections] })

/** The types of a schema, and the elements with a type inside, as generators name their classes. */
const classesOf = (text: string): readonly string[] => [
  ...text.matchAll(/<xs:(?:complex|simple)Type name="(\w+)"/g).map(([, name = '']) => name.toLowerCase()),
  ...text.matchAll(/<xs:element name="(\w+)">/g).map(([, name = '']) => name.toLowerCase()),
]

test('B2.12 a fault and an item of one name are two classes, and so are a response and an object', () => {
  const schema = writeXsd(office, 'v1')
  const classes = classesOf(schema)
  assert.deepEqual(
    classes.filter((name, at) => classes.indexOf(name) !== at),
    [],
  )
  assert.match(schema, /<xs:complexType name="Rejection">/)
  assert.match(schema, /<xs:element name="Rejection" type="tns:RejectionContent2"\/>/)
  assert.match(
    schema,
    /<xs:complexType name="RejectionContent2">\s*<xs:sequence>\s*<xs:element name="code" type="xs:int"/,
  )
  assert.match(schema, /<xs:element name="SendRejectionResponse" type="tns:SendRejectionResponseContent"\/>/)
  assert.match(schema, /<xs:element name="SendRejection">/)
  assert.match(schema, /<xs:element name="Other">/)
})
for (const style of ['document', 'rpc', 'encoded'] as const)
  test(`B2.12 in ${style}, the element of such a fault has its type`, () => {
    const wsdl = writeWsdl11(office, 'v1', { address: 'http://127.0.0.1/soap', style })
    assert.match(
      wsdl,
      /<xs:complexType name="RejectionContent2?">[\s\S]*<xs:element name="Rejection" type="tns:RejectionContent2?"\/>/,
    )
    assert.match(wsdl, /element="tns:Rejection"/)
  })
