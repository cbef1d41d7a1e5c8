/** Envelopes, written. */
import { type SoapFault, soap } from './fault.ts'
import type { Version } from './version.ts'

/** @param body the child elements of Body, @param blocks those of Header, both written */
export function envelope(version: Version, body: string, blocks: readonly string[] = []): string {
  const header = blocks.length === 0 ? '' : `<${soap}:Header>${blocks.join('')}</${soap}:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?><${soap}:Envelope xmlns:${soap}="${version.namespace}">${header}<${soap}:Body>${body}</${soap}:Body></${soap}:Envelope>`
}

/** The envelope of a fault, with the blocks that belong to it. */
export function faultEnvelope(version: Version, fault: SoapFault, blocks: readonly string[] = []): string {
  const about =
    version.faultDetail && fault.about
      ? [`<wsa:${version.faultDetail} xmlns:wsa="${wsa}">${fault.about}</wsa:${version.faultDetail}>`]
      : []
  return envelope(version, version.writeFault(fault), [...blocks, ...(fault.blocks ?? []), ...about])
}
const wsa = 'http://www.w3.org/2005/08/addressing'
