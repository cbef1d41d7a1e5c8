/** The octets of a file, whole or as a stream. */
import type { DownloadedFile } from './surface-types.ts'

export function toDownloadedFile(response: Response): DownloadedFile {
  const length = response.headers.get('content-length')
  return {
    mediaType: response.headers.get('content-type') ?? 'application/octet-stream',
    length: length === null ? undefined : Number(length),
    get stream() {
      return response.body ?? new Blob([]).stream()
    },
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
  }
}
