/**
 * The results of a list or a search: items, fetched page by page as they are requested; and those
 * of a file.
 */
/** One page of a list or a search. */
export interface ResultPage<T> {
  readonly items: readonly T[]
  /** How many match in total, if the service has counted them. */
  readonly total?: number
}

/** A page, and the way to the next one. */
export interface FetchedPage<T> extends ResultPage<T> {
  readonly fetchNext: (() => Promise<FetchedPage<T>>) | undefined
}

/**
 * Nothing is requested before the first item or page is needed. Each iteration begins at the first
 * page.
 */
export class Results<T> implements AsyncIterable<T> {
  readonly #fetchFirst: () => Promise<FetchedPage<T>>

  constructor(fetchFirst: () => Promise<FetchedPage<T>>) {
    this.#fetchFirst = fetchFirst
  }

  /** The first page alone. */
  first(): Promise<ResultPage<T>> {
    return this.#fetchFirst().then(toResultPage)
  }

  async *pages(): AsyncGenerator<ResultPage<T>, void, void> {
    let page = await this.#fetchFirst()
    yield toResultPage(page)
    while (page.fetchNext) {
      page = await page.fetchNext()
      yield toResultPage(page)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for await (const { items } of this.pages()) yield* items
  }
}

const toResultPage = <T>({ items, total }: FetchedPage<T>): ResultPage<T> =>
  total === undefined ? { items } : { items, total }

/** Octets of a file, read once: as a stream or all together. */
export interface DownloadedFile {
  readonly mediaType: string
  /** The length in octets, if the service has announced it. */
  readonly length: number | undefined
  readonly stream: ReadableStream<Uint8Array>
  bytes(): Promise<Uint8Array>
}

export function toDownloadedFile(response: Response): DownloadedFile {
  const { headers } = response
  // The length of the coded content (RFC 9110 §8.4), which fetch has decoded.
  const length = headers.has('content-encoding') ? null : headers.get('content-length')
  return {
    mediaType: headers.get('content-type') ?? 'application/octet-stream',
    length: length === null ? undefined : Number(length),
    get stream() {
      return response.body ?? new Blob([]).stream()
    },
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
  }
}
