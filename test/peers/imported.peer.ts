/**
 * A contract that was imported, called by clients of others: made from the WSDL of the partner, and
 * from the one that is served back.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { folder, missing, root, run, service } from './peer.ts'

const python = '/usr/bin/python3'
const here = import.meta.dirname
const freight = join(root, 'examples', 'freight')
const booked = { number: 'L-17', total: '1.75', step: 'collected', at: '202', unknown: 'D-0' }

const clients = [
  {
    name: 'php-soap',
    skip: missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapClient") ? 0 : 1);']),
    command: ['php', join(here, 'php', 'freight.php')],
  },
  {
    name: 'python3-zeep',
    skip: missing('python3-zeep', python, ['-c', 'import zeep']),
    command: [python, join(here, 'python', 'zeep_freight.py')],
  },
] as const

for (const { name, skip, command } of clients)
  describe(`${name} and an imported contract`, { skip }, () => {
    for (const wsdl of ['the WSDL of the partner', 'the WSDL that is served'])
      test(`a client made from ${wsdl} books, follows, and gets the fault`, async () => {
        // Of its own: a shipment is booked once.
        const { url, token } = await service([], undefined, join(freight, 'service.ts'))
        const address = `${url}/soap/FreightPort`
        const place = wsdl === 'the WSDL that is served' ? `${address}?wsdl` : join(freight, 'carrier.wsdl')
        const [program, ...words] = command
        assert.deepEqual(JSON.parse(run(program, [...words, place, address, token('tea-shop', 'shop')])), booked)
      })
  })

/** Programs made for the WSDL at an address, or in a file. */
const partClients = [
  {
    name: 'php-soap',
    skip: clients[0].skip,
    command: async (wsdl: string) => ['php', join(here, 'php', 'parts.php'), wsdl],
  },
  {
    name: 'python3-zeep',
    skip: clients[1].skip,
    command: async (wsdl: string) => [python, join(here, 'python', 'zeep_parts.py'), wsdl],
  },
  {
    name: 'gSOAP',
    skip: missing('gSOAP', 'sh', ['-c', 'command -v wsdl2h soapcpp2 gcc']),
    command: async (wsdl: string) => {
      const place = folder()
      const text = wsdl.startsWith('http') ? await (await fetch(wsdl)).text() : readFileSync(wsdl, 'utf8')
      writeFileSync(join(place, 'desk.wsdl'), text)
      run(join(here, 'gsoap', 'build-parts'), [place])
      return [join(place, 'parts')]
    },
  },
] as const

for (const { name, skip, command } of partClients)
  describe(`${name} and messages of several elements`, { skip }, () => {
    const running = service([], undefined, join(here, 'parts', 'service.ts'))
    for (const wsdl of ['the WSDL of the partner', 'the WSDL that is served'])
      test(`a client made from ${wsdl} sends several elements in a Body, and reads them`, async () => {
        const { url } = await running
        const address = `${url}/soap/DeskPort`
        const place = wsdl === 'the WSDL that is served' ? `${address}?wsdl` : join(here, 'parts', 'desk.wsdl')
        const [program = '', ...words] = await command(place)
        const expected = { number: 'tea for Ada', total: '3.50', count: 3, refused: true }
        assert.deepEqual(JSON.parse(run(program, [...words, address])), expected)
      })
  })
