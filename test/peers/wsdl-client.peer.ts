/** `createPortClient` by the WSDL of services that nobody here wrote: PHP's SoapServer, and Spyne. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { contract as freight } from '../../examples/freight/contract.ts'
import { createPortClient, FaultError } from '../../src/client/index.ts'
import { readWsdl } from '../../src/import/index.ts'
import { atEnd, missing, root } from './peer.ts'

const here = import.meta.dirname
const python = '/usr/bin/python3'

/** A program that says its port in a line that fits. */
async function startPeer(program: string, words: readonly string[], env: object, port: RegExp): Promise<number> {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  atEnd(() => child.kill())
  let said = ''
  const found = new Promise<number>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        said += piece
        const [, number] = port.exec(said) ?? []
        if (number !== undefined) resolve(Number(number))
      })
    void once(child, 'exit').then(() => reject(new Error(`${program} ended: ${said}`)))
  })
  return await found
}
const startPhp = async (wsdl: string): Promise<string> => {
  const words = ['-S', '127.0.0.1:0', join(here, 'php', 'soap_server.php')]
  return `http://127.0.0.1:${await startPeer('php', words, { WSDL: wsdl }, /http:\/\/127\.0\.0\.1:(\d+)\) started/)}/`
}

const noPhp = missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapServer") ? 0 : 1);'])
describe('PHP SoapServer by the WSDL of a partner', { skip: noPhp }, () => {
  test('a header block, attributes, a choice, lists, a fault, and a message that its own WSDL does not allow', async () => {
    const file = join(root, 'examples', 'freight', 'carrier.wsdl')
    const address = await startPhp(file)
    using carrier = createPortClient<typeof freight>(await readWsdl(file), { address })
    const parcels = {
      parcel: [{ weight: '1.5', fragile: true }, { weight: '0.25' }],
      doorOrLocker: { locker: 4n },
      reference: '17',
    }
    const booked = await carrier.BookShipment(parcels, { headers: { customer: 'Tea & Co' } })
    assert.deepEqual(booked, { number: 'Tea & Co-17-4', total: '1.75' })
    const unknown = await carrier.TrackShipment('D-0').catch((thrown: unknown) => thrown)
    assert.ok(carrier.TrackShipment.isFault(unknown, 'UnknownShipment'), String(unknown))
    assert.equal(unknown.detail.number, 'D-0')
    await assert.rejects(carrier.TrackShipment('D-1'), { name: 'AnswerError', why: 'invalid' })
    using lenient = createPortClient<typeof freight>(await readWsdl(file), { address, lenient: ['facets'] })
    const { output, forgiven } = await lenient.TrackShipment.callForHeaders('D-1')
    assert.equal(output.event.at(-1)?.value, 'lost')
    assert.deepEqual(
      forgiven.map(({ kind, path }) => `${kind} ${path}`),
      ['facets /ShipmentTrack[1]/event[2]'],
    )
  })

  test('WSDL 1.1 §3.7 a fault about a header block', async () => {
    const file = join(here, 'parts', 'gate.wsdl')
    using gate = createPortClient(await readWsdl(file), { address: await startPhp(file) })
    const open = (ticket: string) => gate['Open']?.({ gate: 7 }, { headers: { Ticket: ticket } })
    assert.deepEqual(await open('new'), { at: 'gate 7' })
    const thrown = await open('old')?.catch((reason: unknown) => reason)
    assert.ok(thrown instanceof FaultError, String(thrown))
    assert.deepEqual(
      [thrown.fault, thrown.detail, thrown.entries, thrown.reasons[0]?.text],
      ['Expired', { ticket: 'old', on: '2026-01-31' }, [], 'the ticket is over'],
    )
  })

  test('several elements in a Body', async () => {
    const file = join(here, 'parts', 'desk.wsdl')
    using desk = createPortClient(await readWsdl(file), { address: await startPhp(file) })
    const order = { item: 'tea', count: 3, buyer: { name: 'Ada', city: 'Ulm' } }
    assert.deepEqual(await desk['Order']?.(order), { number: 'tea for Ada', total: '3.75' })
  })
})

const noSpyne = missing('python3-spyne', python, ['-c', 'import spyne'])
test('Spyne, by the WSDL that it publishes', { skip: noSpyne }, async () => {
  const port = await startPeer(python, [join(here, 'python', 'spyne_behind.py')], {}, /^(\d+)\n/)
  const host = `127.0.0.1:${port}`
  using shop = createPortClient(await readWsdl(`http://${host}/?wsdl`, { fetch: [host] }))
  const call = (name: string, input: unknown) => shop[name]?.(input) ?? assert.fail(`${name} is not there`)
  const items = [
    { name: 'tea 0', price: '0.00', tags: { string: ['a', '0'] } },
    { name: 'tea 1', price: '1.50', tags: { string: ['a', '1'] } },
  ]
  assert.deepEqual(await call('list_items', { word: 'tea', count: 2n }), { list_itemsResult: { Item: items } })
  assert.deepEqual(await call('keep', { item: items[1] }), { keepResult: 'tea 1 1.50 a,1' })
  const refused = await call('list_items', { word: 'tea', count: 4n }).catch((thrown: unknown) => thrown)
  assert.ok(refused instanceof FaultError)
  assert.deepEqual(
    [refused.code, refused.codes[0]?.local, refused.message],
    ['Sender', 'Client.TooMany', 'list_items: too many'],
  )
})
