/** `examples/freight`: its contract is what the command makes of its WSDL. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { FreightPort } from '../../examples/freight/contract.ts'
import { Malformed } from '../../src/xml/index.ts'
import { importFile } from './folder-find.ts'
import { digestPort } from './port-digest.ts'

test('the contract of the example has the messages of the WSDL', () => {
  const found = importFile(join(import.meta.dirname, '..', '..', 'examples', 'freight', 'carrier.wsdl'))
  assert.ok(!(found instanceof Malformed))
  assert.deepEqual(found.losses, [])
  assert.equal(digestPort(FreightPort), digestPort(found.ports[0] ?? assert.fail('no port')))
})
