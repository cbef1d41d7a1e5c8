/** B2.6 RPC/literal: elements without a namespace, optional parameters, `rpc:result` (WSDL 1.1 §3.5, SOAP 1.2 Part 2 §4.2). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import { t } from '../../src/contract/field.ts'
import { bindCustomOperation } from '../../src/soap/operations/custom-operation.ts'
import { createEchoNode } from './echo.ts'
import { type Answer, envelope, find, ns, startConversation } from './orders-over-soap.ts'

const Point = t.object({ x: t.int(), label: t.string().optional(), key: t.int().attribute().optional() }, 'Point')
const optional = {
  text: t.string().optional(),
  short: t.string({ min: 2 }).optional(),
  token: t.string({ xsd: 'token' }).optional(),
  page: t.int({ min: 1 }).optional(),
  big: t.long().optional(),
  price: t.decimal(9, 2).optional(),
  half: t.double().optional(),
  sure: t.boolean().optional(),
  at: t.dateTime().optional(),
  octets: t.bytes().optional(),
  colour: t.enum('red', 'green').optional(),
  owner: t.ref('people').optional(),
  point: Point.optional(),
  words: t.list(t.string(), { min: 1 }).optional(),
  way: t.union('by', { card: { number: t.string() }, cash: {} }).optional(),
  labels: t.map(t.int(), { min: 1 }).optional(),
}
const none = t.string().nullable().optional()
const scope = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema"'

/** What a handler receives from an operation with these optional parameters, and the reply. */
async function receive(inside: string, style: MessageStyle): Promise<{ row: unknown; answer: Answer }> {
  let row: unknown
  const echo = createEchoNode([
    bindCustomOperation({
      namespace: 'urn:o',
      name: 'Ask',
      style,
      request: { ...optional, none, must: t.string() },
      response: {},
      perform: given => {
        row = given
        return {}
      },
    }),
  ])
  const answer = await echo.post({ raw: envelope(`<m:Ask xmlns:m="urn:o" ${scope}><must/>${inside}</m:Ask>`) })
  assert.deepEqual(echo.incidents, [])
  return { row, answer }
}

for (const style of ['rpc', 'encoded'] as const) {
  for (const name of Object.keys(optional))
    test(`B2.6 WS-I BP 1.1 R2211 an empty or nil optional parameter is absent: ${name}, ${style}`, async () => {
      for (const element of [
        `<${name}/>`,
        `<${name}></${name}>`,
        `<${name} i:nil="true"/>`,
        `<${name}><!-- --></${name}>`,
      ]) {
        const { row, answer } = await receive(element, style)
        assert.equal(answer.status, 200, answer.text)
        assert.deepEqual(row, { must: '' }, element)
      }
    })

  test(`B2.6 white space only is empty for a type that collapses it, and text for a string, ${style}`, async () => {
    assert.deepEqual((await receive('<page> \n</page><token> </token>', style)).row, { must: '' })
    assert.deepEqual((await receive('<text> </text>', style)).row, { must: '', text: ' ' })
  })

  test(`B2.6 nil is null for a nullable parameter, ${style}`, async () => {
    assert.deepEqual((await receive('<none i:nil="true"/>', style)).row, { must: '', none: null })
  })

  test(`B2.6 the inside of a parameter is checked as always: empty elements are values there, ${style}`, async () => {
    for (const element of [
      '<point><x/></point>',
      '<point><label/></point>',
      '<page>x</page>',
      '<words><word><a/></word></words>',
    ]) {
      const { row, answer } = await receive(element, style)
      assert.deepEqual([answer.fault?.code, row], ['Client', undefined], element)
    }
    const { row } = await receive('<words><word/></words><point><x>1</x><label/></point>', style)
    assert.deepEqual(row, { must: '', words: [''], point: { x: 1, label: '' } })
  })
}

test('B2.6 an empty parameter is present if it has a significant attribute, and refused if it has an undeclared one', async () => {
  const { answer } = await receive('<point key="7"/>', 'rpc')
  assert.match(answer.fault?.reason ?? '', /must have the element x/)
  assert.match(
    (await receive('<page step="1"/>', 'rpc')).answer.fault?.reason ?? '',
    /must not have the attribute step/,
  )
  assert.equal((await receive('<page i:type="xs:int"/>', 'rpc')).answer.status, 200)
})

test('WSDL 1.1 §3.5 no element in an RPC/literal call or reply has a namespace, at any depth', async () => {
  const shop = await startConversation({ style: 'rpc' })
  const order = `<order><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity></line></lines><currency>EUR</currency></order>`
  const made = await shop.post({ body: `<m:CreateOrder xmlns:m="${ns}">${order}</m:CreateOrder>` })
  assert.equal(made.status, 200, made.text)
  const line = find(made.body, 'order', 'lines', 'line', 'quantity')
  assert.deepEqual([line?.text, line?.name.uri, line?.parent?.name.uri], ['2', '', ''])
  assert.equal(made.body?.name.uri, ns)
  const qualified = await shop.post({
    body: `<m:CreateOrder xmlns:m="${ns}">${order.replace(/<(\/?)(product)>/g, '<$1m:$2>')}</m:CreateOrder>`,
  })
  assert.equal(qualified.fault?.code, 'Client')
})

test('B7.2 an element in an unexpected namespace: the message names both namespaces', async () => {
  const rpc = await startConversation({ style: 'rpc' })
  const document = await startConversation()
  const reason = async (shop: typeof rpc, body: string) => (await shop.post({ body })).fault?.reason
  assert.equal(
    await reason(rpc, `<GetOrder xmlns="${ns}"><id>o-1</id></GetOrder>`),
    `/GetOrder[1]/id[1] has the namespace ${ns}: expected no namespace`,
  )
  assert.equal(
    await reason(document, `<m:GetOrder xmlns:m="${ns}"><id>o-1</id></m:GetOrder>`),
    `/GetOrder[1]/id[1] has no namespace: expected the namespace ${ns}`,
  )
  assert.equal(
    await reason(document, `<GetOrder xmlns="${ns}"><id xmlns="urn:x">o-1</id></GetOrder>`),
    `/GetOrder[1]/id[1] has the namespace urn:x: expected the namespace ${ns}`,
  )
  const lines = '<lines><m:line><product>p-1</product><quantity>1</quantity></m:line></lines>'
  assert.match(
    (await reason(rpc, `<m:CreateOrder xmlns:m="${ns}"><order>${lines}</order></m:CreateOrder>`)) ?? '',
    /\/line\[1\] has the namespace urn:diglot:orders:v1: expected no namespace/,
  )
})
