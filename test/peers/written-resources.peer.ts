/** The parts of PHP's SoapServer as a resource: `diglot bridge` before it, asked by curl. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type BridgeCommand, hearProgram, startBridgeCommand } from './bridge-command.ts'
import { folder, missing, run } from './peer.ts'

const here = import.meta.dirname
const wsdl = join(here, 'parts', 'stock.wsdl')

async function startBridge(): Promise<BridgeCommand> {
  const env = { WSDL: wsdl, ROWS: join(folder(), 'rows') }
  const php = await hearProgram('php', ['-S', '127.0.0.1:0', join(here, 'php', 'stock.php')], env, /:\d+\) started/)
  const to = /http:\/\/127\.0\.0\.1:\d+/.exec(php)?.[0] ?? ''
  return await startBridgeCommand([wsdl, '--to', to])
}

const noCurl = missing('curl', 'curl', ['--version'])
const noPhp = missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapServer") ? 0 : 1);'])
describe('PHP SoapServer by its WSDL, as a resource', { skip: noPhp || noCurl }, () => {
  test('parts are created, read, changed by their version, and removed', async () => {
    const { url, said } = await startBridge()
    assert.match(
      said,
      /parts: read by GetPart and ListParts, made by CreatePart, changed by UpdatePart, removed by DeletePart, compared by rowVersion/,
    )
    const ask = (method: string, path: string, content?: object, fields: readonly string[] = []) => {
      const sent = content ? ['-d', JSON.stringify(content), '-H', 'Content-Type: application/json'] : []
      const words = ['-s', '-i', '-X', method, ...sent, ...fields.flatMap(each => ['-H', each]), `${url}/v1${path}`]
      const [head = '', text = ''] = run('curl', words).split('\r\n\r\n')
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? ''
      return { status: Number(head.split(' ')[1]), field, text, value: text.startsWith('{') ? JSON.parse(text) : {} }
    }
    const made = ask('POST', '/parts', { name: 'bolt', weight: '1.50' })
    assert.equal(made.status, 201, made.text)
    assert.match(made.field('location'), /\/parts\/1$/)
    assert.deepEqual([made.value.partNo, made.value.rowVersion, made.value.weight], [1, 1, '1.50'])
    assert.equal(ask('POST', '/parts', { name: 'x'.repeat(21) }).status, 422)
    assert.equal(ask('POST', '/parts', { name: 'nut' }).status, 201)
    const first = ask('GET', '/parts/1')
    const ifMatch = (etag: string) => [`If-Match: ${etag}`]
    const put = ask('PUT', '/parts/1', { name: 'screw' }, ifMatch(first.field('etag')))
    assert.deepEqual([put.status, put.value.name, put.value.rowVersion, put.value.weight], [200, 'screw', 2, undefined])
    assert.equal(ask('PUT', '/parts/1', { name: 'late' }, ifMatch(first.field('etag'))).status, 412)
    const second = ask('GET', '/parts/1').field('etag')
    const raced = ask('PUT', '/parts/1', { name: 'meanwhile' }, ifMatch(second))
    assert.equal(raced.status, 409, raced.text)
    assert.equal(ask('DELETE', '/parts/1', undefined, ifMatch(second)).status, 204)
    assert.equal(ask('GET', '/parts/1').status, 404)
    assert.match(ask('GET', '/parts').text, /nut/)
  })
})
