/** SOAP clients of PHP and Python, which nobody here wrote, from the WSDL alone. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { missing } from './peer.ts'
import { type Case, soapPeer } from './soap-peer.ts'
import type { Seen } from './soap-wire.ts'

const python = '/usr/bin/python3'
const here = import.meta.dirname

/** WSDL 1.1 has no optional part: what is not given goes as an empty element, whatever its type. */
const empties = { looseRequests: true }

soapPeer({
  name: 'php-soap',
  skip: missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapClient") ? 0 : 1);']),
  command: () => ['php', join(here, 'php', 'orders.php')],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.1', style: 'document', contract: 'v1', both: true },
    { version: '1.2', style: 'document', contract: 'v2', both: true },
    { version: '1.2', style: 'encoded', contract: 'v1', both: true },
    {
      version: '1.2',
      style: 'document',
      contract: 'v2',
      words: ['gzip'],
      shows: (_, exchanges) => assert.ok(exchanges.every(each => each.request.fields['content-encoding'] === 'gzip')),
    },
    { version: '1.1', style: 'rpc', contract: 'v2', habits: empties },
    { version: '1.2', style: 'rpc', contract: 'v1', habits: empties },
    { version: '1.1', style: 'encoded', contract: 'v1' },
    { version: '1.2', style: 'encoded', contract: 'v2' },
  ],
})

/** WS-Addressing in every exchange: zeep adds it by itself where the WSDL has wsam:Action. */
const addressed = (seen: readonly Seen[]) => assert.ok(seen.every(each => each.addressed))

const zeep: readonly Case[] = [
  { version: '1.1', style: 'document', contract: 'v1' },
  { version: '1.2', style: 'document', contract: 'v2' },
  { version: '1.1', style: 'document', contract: 'v2', both: true },
  { version: '1.1', style: 'rpc', contract: 'v2', habits: empties },
  { version: '1.2', style: 'rpc', contract: 'v1', habits: empties },
  { version: '1.1', style: 'encoded', contract: 'v1' },
  { version: '1.2', style: 'encoded', contract: 'v2' },
  { version: '1.1', style: 'encoded', contract: 'v2', both: true },
]

soapPeer({
  name: 'python3-zeep',
  skip: missing('python3-zeep', python, ['-c', 'import suds, zeep']),
  command: () => [python, join(here, 'python', 'zeep_orders.py')],
  cases: zeep.map(each => ({ ...each, shows: addressed })),
})

/** It speaks 1.1 alone, as the name of its media type says. */
soapPeer({
  name: 'python3-suds',
  skip: missing('python3-suds', python, ['-c', 'import suds']),
  command: () => [python, join(here, 'python', 'suds_orders.py')],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.1', style: 'document', contract: 'v1', both: true },
    { version: '1.1', style: 'rpc', contract: 'v1' },
    { version: '1.1', style: 'encoded', contract: 'v2' },
  ],
})
