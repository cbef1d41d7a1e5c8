/**
 * A service with files of 64 MB, as a process of its own, so that its memory can be read:
 * `file-service-process.ts <file> [<key> <certificate>]`.
 */
import { anyone, implement, resource, serve, service, t } from '../../src/index.ts'

const papers = resource('papers', {
  fields: { id: t.id('p'), name: t.string() },
  files: { scan: { mediaTypes: ['application/pdf'], max: 64 * 2 ** 20 } },
}).rules({ messages: ['get', 'scan'], allow: { read: [anyone], create: [anyone], change: [anyone] } })

export const app = implement(
  service('papers', { namespace: 'urn:papers', resources: [papers], versions: { v1: {} } }),
  {},
  { seed: () => ({ items: { papers: [{ id: 'p-1', name: 'A scan' }] } }) },
)

if (import.meta.main) {
  const [data = ':memory:', key, certificate] = process.argv.slice(2)
  const logger = { info: () => {}, warn: console.error, error: console.error }
  const tls = key !== undefined && certificate !== undefined ? { tls: { key, certificate } } : {}
  const { port } = await serve(app, { port: 0, data, logger, ...tls })
  process.send?.(port)
}
