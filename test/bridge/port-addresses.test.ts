/** Ports of one WSDL that have addresses of their own: each is called at its own. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { implement } from '../../src/contract/implement.ts'
import { startHosted } from '../host/hosted-service.ts'
import { folder, root, runBridge } from './map-command.ts'

const map = join(folder, 'two-ports.ts')
writeFileSync(
  map,
  `import { anyone, exchange, port, service, x } from '${pathToFileURL(join(root, 'src', 'index.ts'))}'
  const at = x.namespace('urn:two')
  const [Ask, Told] = [at.element('Ask', x.object({ word: x.element(x.string) })), at.element('Told', x.string)]
  const make = (name, soap) => port(name, {
    namespace: 'urn:two', soap, allow: [anyone],
    exchanges: { tell: exchange({ action: 'urn:tell', input: Ask, output: Told }) },
  })
  export const contract = service('two', { namespace: 'urn:two', resources: [], ports: [make('Old', '1.1'), make('New', '1.2')] })`,
)
const { contract } = await import(pathToFileURL(map).href)
const tell = (name: string) => ({ tell: ({ word }: { readonly word: string }) => `${name} ${word}` })
const handlers = { Old: tell('old'), New: tell('new') } as never // types of a file that is written above
const behind = await startHosted({}, implement(contract, handlers))
const [old, newer] = ['Old', 'New'].map(each => `${behind.server.url}/soap/${each}`)
const bridge = (...to: readonly string[]) =>
  runBridge(['none.wsdl', '--map', map, ...to.flatMap(each => ['--to', each])])

const ask = async (url: string, port: string): Promise<unknown> => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/${port}/tell`, { method: 'POST', headers, body: '{"word":"hi"}' })
  return answer.status === 200 ? await answer.json() : answer.status
}

test('each port is called at its own address', async () => {
  const { url, said } = await bridge(`Old=${old}`, `New=${newer}`)
  assert.deepEqual([await ask(url, 'Old'), await ask(url, 'New')], ['old hi', 'new hi'], said)
})
test('the others are called at the address without a port', async () => {
  const { url, said } = await bridge(`${newer}`, `Old=${old}`)
  assert.deepEqual([await ask(url, 'Old'), await ask(url, 'New')], ['old hi', 'new hi'], said)
})

const mistakes: readonly (readonly [title: string, to: readonly string[], told: RegExp])[] = [
  ['a port without an address', [`Old=${old}`], /the address of New is unknown: give --to New=<url>/],
  ['an address of no port', [`${old}`, `Odd=${old}`], /unknown port Odd of --to: use Old, New/],
  ['none at all', [], /'--to <address>' not specified/],
]
for (const [title, to, told] of mistakes)
  test(`${title} ends the command`, async () => {
    assert.match((await bridge(...to)).said, told)
  })
test('a REST service has one address', async () => {
  const pets = join(root, 'test', 'mock', 'pets.yaml')
  const { said } = await runBridge([pets, '--anyone', '--to', 'Operations=http://127.0.0.1:1/'])
  assert.match(said, /a REST service has one address: give --to <url>/)
})
