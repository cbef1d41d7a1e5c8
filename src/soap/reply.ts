/** Envelopes, written. */
import { type SoapFault, soapPrefix } from './fault.ts'
import type { SoapVersion } from './version.ts'

/** @param body the child elements of Body, @param blocks those of Header, both written */
export function writeEnvelope(version: SoapVersion, body: string, blocks: readonly string[] = []): string {
  const header = blocks.length === 0 ? '' : `<${soapPrefix}:Header>${blocks.join('')}</${soapPrefix}:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?><${soapPrefix}:Envelope xmlns:${soapPrefix}="${version.namespace}">${header}<${soapPrefix}:Body>${body}</${soapPrefix}:Body></${soapPrefix}:Envelope>`
}

/** The envelope of a fault, with the blocks that belong to it. */
export function writeFaultEnvelope(version: SoapVersion, fault: SoapFault, blocks: readonly string[] = []): string {
  const about =
    version.faultDetail && fault.about
      ? [`<wsa:${version.faultDetail} xmlns:wsa="${wsa}">${fault.about}</wsa:${version.faultDetail}>`]
      : []
  return writeEnvelope(version, version.writeFault(fault), [...blocks, ...(fault.blocks ?? []), ...about])
}
const wsa = 'http://www.w3.org/2005/08/addressing'
