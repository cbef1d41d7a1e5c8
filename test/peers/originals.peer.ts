/**
 * Ten real WSDLs of ten industries, imported and served; JAX-WS RI and CXF make clients from the
 * original documents, and call every operation with beans that are filled. What they have sent is
 * what our port has read, and what they have read is what it has answered, value by value.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { suites } from '../suites.ts'
import { judgeCalls, readCalls, serveOriginal } from './original-clients.ts'
import { folder, missing, run } from './peer.ts'

const here = import.meta.dirname
const suite = suites('wsdl11-real')

const documents: readonly (readonly [industry: string, file: string, operations: number])[] = [
  ['books', 'axis1.4__SalesRankNPrice/SalesRankNPrice.wsdl', 11],
  ['time sheets', 'node-soap__list_parameter/list_parameter.wsdl', 17],
  ['logistics', 'packagegenerator__DeliveryService/DeliveryService.wsdl', 33],
  ['vehicles', 'packagegenerator__VehicleSelectionService/VehicleSelectionService.wsdl', 33],
  ['banks', 'rubiii-wsdl__blz_service/blz_service.wsdl', 1],
  ['telephony', 'rubiii-wsdl__telefonkatalogen/telefonkatalogen.wsdl', 1],
  ['identities', 'rubiii-wsdl__crowd/crowd.wsdl', 47],
  ['certificates', 'rubiii-wsdl__geotrust/geotrust.wsdl', 2],
  ['public transport', 'rubiii-wsdl__ratp/ratp.wsdl', 12],
  ['taxes', 'rubiii-wsdl__taxcloud/taxcloud.wsdl', 13],
]
/** Beans that the driver cannot fill: a required element of any type has no class. */
const unfilled = /must have the element Состав/

const stacks = [
  {
    name: 'JAX-WS RI',
    skip: missing('libjaxws-java', 'sh', ['-c', 'command -v javac && test -f /usr/share/java/jaxws-tools.jar']),
    build: (place: string, wsdl: string) => run(join(here, 'java', 'build'), [place, 'original', wsdl]),
  },
  {
    name: 'Apache CXF',
    skip: missing('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', 'sh', [
      '-c',
      `command -v javac && ls ${join(here, 'cxf', 'lib')}/cxf-tools-wsdlto-core-*.jar`,
    ]),
    build: (place: string, wsdl: string) => run(join(here, 'cxf', 'build-original'), [place, wsdl]),
  },
] as const

for (const { name, skip, build } of stacks)
  describe(`${name} by the original WSDL`, { skip: skip || !suite }, () => {
    for (const [industry, file, operations] of documents)
      test(`${industry}: every operation of ${file}`, async () => {
        const wsdl = join(suite ?? '', file)
        const place = folder()
        const served = await serveOriginal(wsdl)
        after(() => served.server.close(0))
        const path = build(place, wsdl).trim()
        const calls = await Promise.all(
          globSync('stubs/**/*.java', { cwd: place })
            .filter(each => readFileSync(join(place, each), 'utf8').includes('@WebServiceClient'))
            .map(each => drive(path, each.replace(/\.java$/, '').replaceAll('/', '.'), served.addresses)),
        )
        const flaws = judgeCalls(calls.flat(), served)
        assert.deepEqual(
          flaws.filter(each => !unfilled.test(each)),
          [],
        )
        assert.equal(calls.flat().length, operations)
        assert.ok(flaws.length <= 3, `${flaws.length} of ${operations} calls are not filled`)
      })
  })

const runProgram = promisify(execFile)
async function drive(path: string, service: string, addresses: readonly string[]) {
  const words = ['-XX:TieredStopAtLevel=1', '-cp', path, 'Original', service, ...addresses]
  const { stdout } = await runProgram('java', words, { maxBuffer: 64 * 1024 * 1024 })
  return readCalls(stdout)
}
