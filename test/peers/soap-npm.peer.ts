/** SOAP clients of the Node world, in a folder of their own: what it installs is none of the project's. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { soapPeer } from './soap-peer.ts'

const folder = join(import.meta.dirname, 'npm-soap')
const installed = (): boolean => {
  if (existsSync(join(folder, 'node_modules'))) return true
  return spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder }).status === 0
}
const skip = (): string | false => {
  if (installed()) return false
  if (process.env['CI'] === 'true') throw new Error('npm ci fails in test/peers/npm-soap')
  return 'skipped: npm ci fails in test/peers/npm-soap'
}

soapPeer({
  name: 'npm soap',
  skip: skip(),
  command: () => [process.execPath, join(folder, 'soap.js')],
  cases: [
    { version: '1.1', style: 'document', contract: 'v2' },
    { version: '1.2', style: 'document', contract: 'v1' },
    { version: '1.1', style: 'rpc', contract: 'v2' },
    { version: '1.1', style: 'encoded', contract: 'v1' },
  ],
})

/**
 * Where an operation has no output, strong-soap does not read its input either: the values go into Body without their wrapper.
 * Decimals it makes numbers of, and a 1.2 request has no parameter action. RPC/literal it cannot do: what is inside of a part goes into no namespace, even a prefixed name.
 */
const cannot = ['NotifyDelivery', 'decimals']

soapPeer({
  name: 'npm strong-soap',
  skip: skip(),
  command: () => [process.execPath, join(folder, 'strong-soap.js')],
  cases: [
    { version: '1.1', style: 'document', cannot, contract: 'v1' },
    { version: '1.2', style: 'document', cannot, contract: 'v2', habits: { noAction: true } },
    { version: '1.1', style: 'encoded', cannot, contract: 'v1' },
  ],
})
