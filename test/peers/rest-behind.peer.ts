/** The orders service by SOAP as its OpenAPI describes it: `diglot bridge` before it, called by clients of others. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { atEnd, folder, missing, root, run, service } from './peer.ts'

const python = '/usr/bin/python3'
const here = import.meta.dirname

/** The address of the WSDL that the bridge serves. */
async function startBridge(): Promise<string> {
  const { url } = await service()
  const file = join(folder(), 'orders.json')
  writeFileSync(file, await (await fetch(`${url}/openapi.json`)).text())
  const words = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'bridge', file, '--to', url]
  const child = spawn(process.execPath, [...words, '--anyone', '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] })
  atEnd(() => void child.kill('SIGKILL'))
  return await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', part => {
      said += part
      const found = /bridging (\S+) to/.exec(said)?.[1]
      if (found) resolve(`${found}?wsdl`)
    })
    child.once('exit', code => reject(new Error(`diglot bridge ended with ${code}: ${said}`)))
  })
}

const clients = [
  {
    name: 'php-soap',
    skip: missing('php-soap', 'php', ['-r', 'exit(class_exists("SoapClient") ? 0 : 1);']),
    command: ['php', join(here, 'php', 'rest_behind.php')],
  },
  {
    name: 'python3-zeep',
    skip: missing('python3-zeep', python, ['-c', 'import zeep']),
    command: [python, join(here, 'python', 'zeep_rest_behind.py')],
  },
] as const

const isSkipped = clients.every(({ skip }) => skip !== false)
const bridge = isSkipped ? undefined : startBridge()
for (const { name, skip, command } of clients)
  describe(`${name} and a REST service behind a bridge`, { skip }, () => {
    test('lists, gets, and receives a declared error as its element', async () => {
      const [program, ...words] = command
      const { price, ...said } = JSON.parse(run(program, [...words, (await bridge) ?? '']))
      assert.match(price, /^\d+\.\d\d$/)
      assert.deepEqual(said, { listed: 2, same: true, unknown: '/problems/not-found' })
    })
  })
