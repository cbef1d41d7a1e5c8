/** Files of items: octets pass as streams, in either direction. */
import type { Values } from '../../contract/implement.ts'
import { type DownloadedFile, toDownloadedFile } from '../results.ts'
import type { RequestOptions, SentOctets } from '../surface-types.ts'
import type { ResourceMethods } from './resource-methods.ts'
import { requireLink } from './rest-session.ts'

export interface FileMethods {
  get(item: Values, options?: RequestOptions): Promise<DownloadedFile>
  put(item: Values, octets: SentOctets, options: RequestOptions & { readonly mediaType: string }): Promise<void>
}

export function createFileMethods({ session, nameOf }: ResourceMethods, part: string): FileMethods {
  const linkOf = (operation: string, item: Values) =>
    requireLink(operation, session.requireFacts(operation, item).links, part)
  return {
    get: async (item, options) => {
      const operation = nameOf(`${part}.get`)
      const target = linkOf(operation, item)
      const response = await session.wire.open({ operation, method: 'GET', target, fields: { accept: '*/*' }, options })
      return toDownloadedFile(response)
    },
    put: async (item, octets, options) => {
      const operation = nameOf(`${part}.put`)
      const fields = { 'content-type': options.mediaType }
      const target = linkOf(operation, item)
      await session.wire.ask({ operation, method: 'PUT', target, fields, content: octets, options })
    },
  }
}
