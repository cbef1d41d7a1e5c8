/** The carrier's messages, as its customers send them. Run with `node --test`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from 'diglot/testing'
import { contract } from './contract.ts'
import app from './service.ts'

const messages = 'http://carrier.example/freight/messages'
const shop = { subject: 'tea-shop', roles: ['shop'] }
const booking = `<BookShipment xmlns="${messages}" reference="17">
  <parcel fragile="true"><weight>1.5</weight></parcel><parcel><weight>0.25</weight><note>heavy</note></parcel>
  <locker>4</locker></BookShipment>`

async function send(body: string, caller?: typeof shop, header = '') {
  await using service = await startTestService(contract, app)
  return sendTo(service, body, caller, header)
}
type Running = Awaited<ReturnType<typeof startTestService<typeof contract>>>
async function sendTo(service: Running, body: string, caller?: typeof shop, header = '') {
  const answer = await service.fetchAs(caller)(`${service.address}/soap/FreightPort`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml; charset=utf-8' },
    body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`,
  })
  return { status: answer.status, text: await answer.text() }
}
const tracking = (number: string) => `<TrackShipment xmlns="${messages}">${number}</TrackShipment>`

test('a shop books parcels, and anyone follows them', async () => {
  await using service = await startTestService(contract, app)
  const booked = await sendTo(service, booking, shop, `<Customer xmlns="${messages}">Tea &amp; Co</Customer>`)
  assert.equal(booked.status, 200, booked.text)
  assert.match(booked.text, /number>L-17<.*total>1\.75</)
  const { text } = await sendTo(service, tracking('L-17'))
  assert.match(text, /event at="2026-01-01T00:00:00(?:\.0+)?Z">collected</)
})
test('the people of the carrier deliver by REST what a shop has booked by SOAP', async () => {
  await using service = await startTestService(contract, app)
  const dana = service.rest('dana')
  await sendTo(service, booking, shop)
  const [shipment] = (await dana.shipments.list({ where: { number: 'L-17' } }).first()).items
  assert.deepEqual([shipment?.customer, shipment?.grams], ['tea-shop', 1750])
  service.clock.advance({ hours: 5 })
  assert.ok(shipment?.state === 'collected')
  await dana.shipments.deliver(shipment)
  const { text } = await sendTo(service, tracking('L-17'))
  assert.match(text, />collected<.*event at="2026-01-01T05:00:00(?:\.0+)?Z">delivered</)
})
test('a shipment is booked once', async () => {
  await using service = await startTestService(contract, app)
  await sendTo(service, booking, shop)
  assert.match((await sendTo(service, booking, shop)).text, /another item has this number/)
})
test('a shipment that is not known is the fault of the WSDL', async () => {
  const { status, text } = await send(tracking('D-0'))
  assert.equal(status, 500)
  assert.match(text, /<detail><n1:UnknownShipment xmlns:n1="[^"]+"><n1:number>D-0</)
})
test('a caller without the role books nothing', async () => {
  assert.match((await send(booking)).text, /credentials are missing/)
})
test('a parcel that is too heavy is refused with its place', async () => {
  assert.match((await send(booking.replace('1.5', '1500'), shop)).text, /parcel\[1\]\/weight\[1\]/)
})
