/** SOAP clients that nobody here wrote live an order's life from the WSDL alone, in both versions (rules B2.7, B2.12, B7.5, B9.1). */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { missing, type Running, run, service } from './peer.ts'

interface Said {
  readonly operations: number
  readonly created: Order
  readonly got: Order
  readonly declined: { readonly detail?: unknown; readonly value?: unknown }
  readonly paid: { readonly amount: string; readonly receipt: string }
  readonly conflict: unknown
  readonly cancelled: Order
  readonly missing: unknown
}
interface Order {
  readonly id: string
  readonly total: string
  readonly state: string
  readonly note: string
  readonly version: string
}

const here = import.meta.dirname
const peers = [
  {
    name: 'php-soap',
    skip: missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapClient") ? 0 : 1);']),
    program: 'php',
    script: join(here, 'php', 'orders.php'),
  },
  {
    name: 'python3-zeep',
    skip: missing('python3-zeep', '/usr/bin/python3', ['-c', 'import zeep']),
    program: '/usr/bin/python3',
    script: join(here, 'python', 'orders.py'),
  },
]

for (const { name, skip, program, script } of peers)
  describe(name, { skip }, () => {
    let running: Running
    before(async () => {
      running = await service()
    })
    for (const version of ['1.1', '1.2'])
      it(`creates, gets, pays, cancels by SOAP ${version} and reads typed faults`, () => {
        const said: Said = JSON.parse(run(program, [script, running.url, version, 'alice', 'alice-secret']))
        assert.equal(said.operations, 22)
        assert.equal(said.created.total, '9.90')
        assert.equal(said.created.note, 'Grüße & <tags>')
        assert.deepEqual(said.got, said.created)
        assert.match(JSON.stringify(said.declined), /PaymentDeclined.*0\.01 was offered for 9\.90/)
        assert.equal(said.paid.amount, '9.90')
        assert.match(JSON.stringify(said.conflict), /StateConflict.*paid/)
        assert.equal(said.cancelled.state, 'cancelled')
        assert.match(JSON.stringify(said.missing), /NotFound/)
      })
  })
