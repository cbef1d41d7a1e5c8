/**
 * Faults in both structures: SOAP 1.1 §4.4 and SOAP 1.2 Part 1 §5.4. A fault is a value; the
 * version decides how it is written (`version.ts`).
 */
import { escapeText, writeAttribute } from '../xml/index.ts'
import type { Name } from '../xml/name.ts'

/** SOAP 1.2 Part 1 §5.4.6; SOAP 1.1 has other names for the last two and no name for the third. */
export type Code = 'VersionMismatch' | 'MustUnderstand' | 'DataEncodingUnknown' | 'Sender' | 'Receiver'

/**
 * A fault in the terms of SOAP 1.2; the version translates it for SOAP 1.1 (SOAP 1.2 Part 1 §5.4;
 * SOAP 1.1 §4.4).
 */
export interface SoapFault {
  readonly code: Code
  /** Outermost first. SOAP 1.1 has no place for them. */
  readonly subcodes?: readonly Name[]
  /**
   * The faultcode in SOAP 1.1, if an extension defines it (WS-Addressing SOAP Binding §6, WSS SOAP
   * §12).
   */
  readonly faultcode?: Name
  /** At least one, each language once. SOAP 1.1 has only the first. */
  readonly reasons: readonly Reason[]
  /** The URI of the node; faultactor in SOAP 1.1. */
  readonly node?: string
  /** The role that the node was playing. */
  readonly role?: string
  /**
   * Elements, as XML. Defined, even if empty, where the Body could not be processed (SOAP 1.1
   * §4.4).
   */
  readonly detail?: string
  /**
   * An element about header blocks: in Detail in SOAP 1.2, in a block in SOAP 1.1 (WS-Addressing
   * SOAP Binding §6.2).
   */
  readonly about?: string
  /** Header blocks of the fault, as XML: Upgrade, NotUnderstood. */
  readonly blocks?: readonly string[]
  /**
   * Its name in the description of its operation, from which its action follows (WS-Addressing 1.0
   * Metadata §4.4). Default: the name of the first subcode, where there is a detail.
   */
  readonly declaredAs?: string
}

/** A reason of a fault in one language (SOAP 1.2 Part 1 §5.4.2). */
export interface Reason {
  /** A language tag of BCP 47. */
  readonly language: string
  readonly text: string
}

/** The only reason of a fault, in one language; default English. */
export const faultReason = (text: string, language = 'en'): readonly Reason[] => [{ language, text }]

/** The prefix of SOAP's namespace in every envelope that we write. */
export const soapPrefix = 'soap'

const codes11: Readonly<Record<Code, string>> = {
  VersionMismatch: 'VersionMismatch',
  MustUnderstand: 'MustUnderstand',
  DataEncodingUnknown: 'Client',
  Sender: 'Client',
  Receiver: 'Server',
}

/** SOAP 1.1 §4.4: unqualified children, in this order. */
export function writeFault11(fault: SoapFault): string {
  const code = fault.faultcode
    ? `<faultcode xmlns:code=${writeAttribute(fault.faultcode.uri)}>code:${fault.faultcode.local}</faultcode>`
    : `<faultcode>${soapPrefix}:${codes11[fault.code]}</faultcode>`
  const [first] = fault.reasons
  const string = `<faultstring xml:lang=${writeAttribute(first?.language ?? 'en')}>${escapeText(first?.text ?? '')}</faultstring>`
  const actor = fault.node === undefined ? '' : `<faultactor>${escapeText(fault.node)}</faultactor>`
  const detail = fault.detail === undefined ? '' : `<detail>${fault.detail}</detail>`
  return `<${soapPrefix}:Fault>${code}${string}${actor}${detail}</${soapPrefix}:Fault>`
}

/** SOAP 1.2 Part 1 §5.4: Code, Reason, Node, Role, Detail. */
export function writeFault12(fault: SoapFault): string {
  const subcodes = (fault.subcodes ?? []).reduceRight(
    (inner, { uri, local }) =>
      `<${soapPrefix}:Subcode><${soapPrefix}:Value xmlns:code=${writeAttribute(uri)}>code:${local}</${soapPrefix}:Value>${inner}</${soapPrefix}:Subcode>`,
    '',
  )
  const code = `<${soapPrefix}:Code><${soapPrefix}:Value>${soapPrefix}:${fault.code}</${soapPrefix}:Value>${subcodes}</${soapPrefix}:Code>`
  const texts = fault.reasons.map(
    each =>
      `<${soapPrefix}:Text xml:lang=${writeAttribute(each.language)}>${escapeText(each.text)}</${soapPrefix}:Text>`,
  )
  const node = fault.node === undefined ? '' : `<${soapPrefix}:Node>${escapeText(fault.node)}</${soapPrefix}:Node>`
  const role = fault.role === undefined ? '' : `<${soapPrefix}:Role>${escapeText(fault.role)}</${soapPrefix}:Role>`
  const inside = (fault.detail ?? '') + (fault.about ?? '')
  const detail = inside === '' ? '' : `<${soapPrefix}:Detail>${inside}</${soapPrefix}:Detail>`
  return `<${soapPrefix}:Fault>${code}<${soapPrefix}:Reason>${texts.join('')}</${soapPrefix}:Reason>${node}${role}${detail}</${soapPrefix}:Fault>`
}
