/** Fetches documents from hosts that a user has named; no other host is ever contacted. */
import { takeBounded } from '../base/octets.ts'
import type { Find } from '../describe/reader/wsdl-document.ts'

const documentsMax = 200
const documentOctetsMax = 64 * 1024 * 1024
const waitForDocumentMs = 10_000

export class FetchedDocuments {
  readonly #hosts: ReadonlySet<string>
  readonly #known = new Map<string, Uint8Array>()
  readonly #wanted = new Set<string>()

  /** @param hosts names, with the port if it is not the default one */
  constructor(hosts: readonly string[]) {
    this.#hosts = new Set(hosts.map(each => each.toLowerCase()))
  }

  /** Finds fetched documents, and remembers which ones to fetch. */
  readonly find: Find = (location, base) => {
    const address = toAddress(location, base)
    if (address === undefined || !this.#hosts.has(address.host)) return undefined
    const bytes = this.#known.get(address.href)
    if (bytes) return { location: address.href, bytes }
    this.#wanted.add(address.href)
    return undefined
  }

  /** Fetches the missing documents; whether there were any. */
  async fetchWanted(): Promise<boolean> {
    const missing = [...this.#wanted].filter(each => !this.#known.has(each))
    for (const address of missing) {
      if (this.#known.size >= documentsMax) throw new Error(`more than ${documentsMax} documents are referred to`)
      this.#known.set(address, await fetchOctets(address))
    }
    return missing.length > 0
  }
}

function toAddress(location: string, base: string): URL | undefined {
  const isAddress = (text: string): boolean => /^https?:\/\//i.test(text)
  if (!isAddress(location) && !isAddress(base)) return undefined
  const address = URL.parse(location, isAddress(base) ? base : undefined)
  if (!address || !isAddress(address.href)) return undefined
  address.hash = ''
  return address
}

/** A redirect could lead to a host that was not named, so it is an error. */
async function fetchOctets(address: string): Promise<Uint8Array> {
  const unreadable = (thrown: unknown): never => {
    throw new Error(`${address} cannot be read: ${explainFetchFailure(thrown)}`)
  }
  const signal = AbortSignal.timeout(waitForDocumentMs)
  const answer = await fetch(address, { redirect: 'manual', signal }).catch(unreadable)
  if (answer.status >= 300 && answer.status < 400)
    throw new Error(`${address} redirects to ${answer.headers.get('location')}: give that address, and name its host`)
  if (!answer.ok || !answer.body) throw new Error(`${address} responded with status ${answer.status}`)
  const octets = await takeBounded(answer.body, documentOctetsMax).catch(unreadable)
  if (!octets) throw new Error(`${address} is longer than ${documentOctetsMax} octets`)
  return octets
}

function explainFetchFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  if (thrown.name === 'TimeoutError') return `it did not arrive within ${waitForDocumentMs / 1000} s`
  return thrown.cause instanceof Error ? thrown.cause.message : thrown.message
}
