/** The orders service at an endpoint whose requests and answers are signed: the keys are PEM files in a folder. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import app from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { ready } from './report.js'

const [folder = ''] = process.argv.slice(2)
const file = (name: string): string => join(folder, name)
const plenty = { count: 1e9, seconds: 60 }
const contract = {
  ...app.contract,
  limits: { reads: plenty, changes: plenty },
  endpoints: { '/soap/signed': { version: 'v2', security: { callers: ['x509'], answers: 'signed' } } },
} as const
const server = await startService(
  { ...app, contract },
  {
    port: 0,
    data: ':memory:',
    flood: 1e9,
    messageSecurity: {
      authorities: readFileSync(file('partners.pem')),
      keyFiles: [{ key: file('service.key'), certificate: file('service.pem') }],
    },
  },
)
ready(server.port)
