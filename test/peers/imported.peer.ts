/**
 * A contract that was imported, called by clients of others: made from the WSDL of the partner, and
 * from the one that is served back.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { missing, root, run, service } from './peer.ts'

const python = '/usr/bin/python3'
const here = import.meta.dirname
const freight = join(root, 'examples', 'freight')
const expected = { number: 'L-17', total: '1.75', step: 'collected', at: '202', unknown: 'D-0' }

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
    const running = service([], undefined, join(freight, 'service.ts'))
    for (const wsdl of ['the WSDL of the partner', 'the WSDL that is served'])
      test(`a client made from ${wsdl} books, follows, and gets the fault`, async () => {
        const { url, token } = await running
        const address = `${url}/soap/FreightPort`
        const place = wsdl === 'the WSDL that is served' ? `${address}?wsdl` : join(freight, 'carrier.wsdl')
        const [program, ...words] = command
        assert.deepEqual(JSON.parse(run(program, [...words, place, address, token('tea-shop', 'shop')])), expected)
      })
  })
