/** A contract of files of 64 MB, for one message of 50. */
import { anyone, implement, resource, service, t } from 'diglot'
import { startService } from '../../src/host/serve.ts'
import { ready } from './report.js'

const papers = resource('papers', {
  fields: { id: t.id('p'), name: t.string() },
  files: { scan: { mediaTypes: ['application/pdf'], max: 64 * 2 ** 20 } },
}).rules({
  messages: ['get', 'scan'],
  allow: { read: [anyone], create: [anyone], change: [anyone] },
})
const shelf = service('papers', { namespace: 'urn:diglot:papers', resources: [papers], versions: { v1: {} } })

const app = implement(shelf, {}, { seed: () => ({ items: { papers: [{ id: 'p-1', name: 'A scan' }] } }) })
const logger = { info: () => {}, warn: console.error, error: console.error }
ready((await startService(app, { port: 0, data: process.argv[2] ?? ':memory:', logger })).port)
