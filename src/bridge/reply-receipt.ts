/**
 * What the sender of a message to a later response's address gets: 202, or a fault that says why
 * the message does not count (WS-Addressing 1.0 SOAP Binding §6.4).
 */
import type { MessageReceipt } from '../contract/later-call.ts'
import { writeFaultEnvelope } from '../soap/envelope.ts'
import { faultReason, type SoapFault } from '../soap/fault.ts'
import { type AddressingVersion, addressingVersions } from '../soap/headers/addressing.ts'
import { securityName } from '../soap/security-port.ts'
import { soap11 } from '../soap/version.ts'
import { internName } from '../xml/index.ts'
import type { ForeignMessage, LaterReader } from './port-caller.ts'

/** Why a message did not count, as `/metrics` names it. */
export type ReceiptRefusal = ForeignMessage['why'] | 'unknown' | 'ended' | 'late' | 'too-long'

type ReceiptForm = Pick<LaterReader, 'version' | 'dialect'>
const newest = addressingVersions[0] as AddressingVersion // there are two

export const acceptReply: MessageReceipt = { status: 202, fields: { 'cache-control': 'no-store' } }

/** No call has this address. */
export const refuseUnknownReply: MessageReceipt = writeReceipt({ version: soap11, dialect: newest }, 404, {
  code: 'Sender',
  ...codesOf(internName(newest.uri, 'DestinationUnreachable')),
  reasons: faultReason('no message is expected at this address'),
})

export const refuseLongReply = (reader: ReceiptForm & Pick<LaterReader, 'longest'>): MessageReceipt =>
  writeReceipt(reader, 413, {
    code: 'Sender',
    reasons: faultReason(`the message is longer than the limit of ${reader.longest} octets`),
  })

/** The call to which it relates does not wait for it. */
export const refuseRelation = (reader: ReceiptForm, why: string): MessageReceipt =>
  writeReceipt(reader, reader.version.senderStatus, relationFault(reader, why))

export function refuseForeignReply(reader: ReceiptForm, { why, detail }: ForeignMessage): MessageReceipt {
  const isBadType = why === 'media-type' || why === 'coding'
  return writeReceipt(reader, isBadType ? 415 : reader.version.senderStatus, faultOfForeign(reader, why, detail))
}

function faultOfForeign(reader: ReceiptForm, why: ForeignMessage['why'], detail: string): SoapFault {
  if (why === 'uncorrelated') return relationFault(reader, detail)
  if (why === 'unproven')
    return {
      code: 'Sender',
      ...codesOf(internName(securityName.uri, 'FailedCheck')),
      reasons: faultReason('nothing proves that this is the answer of the service'),
    }
  return { code: why === 'not-understood' ? 'MustUnderstand' : 'Sender', reasons: faultReason(detail) }
}

function relationFault({ dialect = newest }: ReceiptForm, why: string): SoapFault {
  const about = `<wsa:ProblemHeaderQName xmlns:wsa="${dialect.uri}">wsa:RelatesTo</wsa:ProblemHeaderQName>`
  return { code: 'Sender', ...codesOf(dialect.subcodes.invalid), reasons: faultReason(why), about }
}

/** In SOAP 1.1 the extension's code replaces SOAP's own. */
function codesOf(code: NonNullable<SoapFault['faultcode']>): Pick<SoapFault, 'subcodes' | 'faultcode'> {
  return { subcodes: [code], faultcode: code }
}

/** SOAP Binding §6: a fault has an action, and relates to a message whose id is unknown. */
function writeReceipt({ version, dialect = newest }: ReceiptForm, status: number, fault: SoapFault): MessageReceipt {
  const { uri, unspecified, soapFault } = dialect
  const isOfAddressing = fault.faultcode?.uri === uri
  const block = (local: string, value: string) => `<wsa:${local} xmlns:wsa="${uri}">${value}</wsa:${local}>`
  const blocks = [
    block('Action', isOfAddressing ? `${uri}/fault` : soapFault),
    ...(unspecified === undefined ? [] : [block('RelatesTo', unspecified)]),
  ]
  return {
    status,
    fields: { 'content-type': `${version.mediaType}; charset=utf-8`, 'cache-control': 'no-store' },
    content: writeFaultEnvelope(version, fault, blocks, uri),
  }
}
