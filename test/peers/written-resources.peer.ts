/** The parts of PHP's SoapServer as a resource: `diglot bridge` before it, asked by curl. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { atEnd, folder, missing, root, run } from './peer.ts'

const here = import.meta.dirname
const wsdl = join(here, 'parts', 'stock.wsdl')

/** What a program says until a line fits. */
async function startProgram(program: string, words: readonly string[], env: object, ready: RegExp): Promise<string> {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  atEnd(() => void child.kill('SIGKILL'))
  let said = ''
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        said += piece
        if (ready.test(said)) resolve(said)
      })
    void once(child, 'exit').then(() => reject(new Error(`${program} ended: ${said}`)))
  })
}

async function startBridge(): Promise<{ readonly url: string; readonly said: string }> {
  const env = { WSDL: wsdl, ROWS: join(folder(), 'rows') }
  const php = await startProgram('php', ['-S', '127.0.0.1:0', join(here, 'php', 'stock.php')], env, /:\d+\) started/)
  const to = /http:\/\/127\.0\.0\.1:\d+/.exec(php)?.[0] ?? ''
  const words = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'bridge', wsdl, '--to', to]
  const said = await startProgram(process.execPath, [...words, '--anyone', '--port', '0'], {}, /bridging \S+ to/)
  return { url: /bridging (\S+) to/.exec(said)?.[1] ?? '', said }
}

const noCurl = missing('curl', 'curl', ['--version'])
const noPhp = missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapServer") ? 0 : 1);'])
describe('PHP SoapServer by its WSDL, as a resource', { skip: noPhp || noCurl }, () => {
  test('parts are made, read, changed by their version, and removed', async () => {
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
