/** Reads other parties' descriptions at run time, for `createPortClient` of `diglot/client`. */
import type { DescribedPorts } from '../contract/exchange.ts'
import { readGivenDocument } from './document-files.ts'
import { readNamedContract } from './imported-contract.ts'
import type { Loss } from './loss.ts'

export type { DescribedPorts, PortAddresses } from '../contract/exchange.ts'
export type { Loss } from './loss.ts'

/** Where `readWsdl` finds what a document refers to. Its own folder is always searched. */
export interface WsdlOptions {
  /** Folders with documents that others import by an address or only a name. */
  readonly from?: readonly string[]
  /** Hosts that may be contacted, with a port if it is not the default one; default none. */
  readonly fetch?: readonly string[]
}

/** A WSDL as its client needs it. */
export interface DescribedWsdl extends Required<DescribedPorts> {
  /** Parts that a contract cannot express: operations that are left out, members that are XML. */
  readonly losses: readonly Loss[]
  /** Locations of documents that were not found. */
  readonly missing: readonly string[]
}

/**
 * Reads a WSDL 1.1 or 2.0 with all its imports. Fetches only from named hosts; a redirect is an
 * error.
 *
 * @param file its path, or an address on a named host
 * @throws Error that says what to do
 */
export async function readWsdl(file: string, { from = [], fetch = [] }: WsdlOptions = {}): Promise<DescribedWsdl> {
  const contract = await readGivenDocument(
    file,
    { from, fetch },
    () => (bytes, path, find) => readNamedContract(file, bytes, path, find),
  )
  const { ports, policies, addresses, losses, missing } = contract
  return { ports, policies, addresses, losses, missing }
}
