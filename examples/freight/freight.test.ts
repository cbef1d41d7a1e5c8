/** The carrier's messages, as its customers send them: `node --test` */
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
  const answer = await service.fetchAs(caller)(`${service.address}/soap/FreightPort`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml; charset=utf-8' },
    body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`,
  })
  return { status: answer.status, text: await answer.text() }
}
const track = (number: string) => send(`<TrackShipment xmlns="${messages}">${number}</TrackShipment>`)

test('a shop books parcels, and anyone follows them', async () => {
  const booked = await send(booking, shop, `<Customer xmlns="${messages}">Tea &amp; Co</Customer>`)
  assert.equal(booked.status, 200, booked.text)
  assert.match(booked.text, /number>L-17<.*total>1\.75</)
  assert.match((await track('L-17')).text, /event at="2026-01-01T00:00:00(?:\.0+)?Z">collected</)
})
test('a shipment that is not known is the fault of the WSDL', async () => {
  const { status, text } = await track('D-0')
  assert.equal(status, 500)
  assert.match(text, /<detail><n1:UnknownShipment xmlns:n1="[^"]+"><n1:number>D-0</)
})
test('a caller without the role books nothing', async () => {
  assert.match((await send(booking)).text, /credentials are missing/)
})
test('a parcel that is too heavy is refused with its place', async () => {
  assert.match((await send(booking.replace('1.5', '1500'), shop)).text, /parcel\[1\]\/weight\[1\]/)
})
