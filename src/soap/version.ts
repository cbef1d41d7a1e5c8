/**
 * All differences between SOAP 1.1 and SOAP 1.2: two records, to be read as two columns. No other
 * file asks which version it is.
 */
import { internName, type Name } from '../xml/index.ts'
import { type SoapFault, writeFault11, writeFault12 } from './fault.ts'

/** The differences between SOAP 1.1 and 1.2: namespace, media type, names. */
export interface SoapVersion {
  readonly number: '1.1' | '1.2'
  readonly namespace: string
  /** SOAP 1.1 §6; SOAP 1.2 Part 2 §7.1.4. */
  readonly mediaType: 'text/xml' | 'application/soap+xml'
  readonly envelope: Name
  readonly header: Name
  readonly body: Name
  readonly fault: Name
  readonly mustUnderstand: Name
  /** SOAP 1.1 §4.2.2 actor; SOAP 1.2 Part 1 §5.2.2 role. */
  readonly role: Name
  /** SOAP 1.2 Part 1 §5.2.4; SOAP 1.1 has none: a processed block is always removed. */
  readonly relay: Name | undefined
  readonly encodingStyle: Name
  /** The encoding that this version defines. */
  readonly encoding: string
  /** Names of encodings that promise nothing and are therefore accepted on literal content. */
  readonly literal: readonly string[]
  /**
   * SOAP 1.2 Part 1 §5.1.1: only on and below header blocks, children of Body and of Detail. SOAP
   * 1.1 §4.1.1: anywhere.
   */
  readonly encodingAnywhere: boolean
  /**
   * Attributes of Body: any by the schema of SOAP 1.1, only qualified ones by SOAP 1.2 Part 1 §5.3.
   */
  readonly bodyAttributes: 'any' | 'qualified'
  /** The element of an RPC response that names its return value (SOAP 1.2 Part 2 §4.2.2). */
  readonly rpcResult: Name | undefined
  readonly next: string
  /** SOAP 1.2 Part 1 §2.2: the role that no node plays. Undefined: the version lacks it. */
  readonly none: string | undefined
  readonly ultimateReceiver: string
  /**
   * Where the action is: in a field, or in a parameter of the media type (SOAP 1.2 Part 2 §7.1.4,
   * §7.5.2.2).
   */
  readonly actionIn: 'SOAPAction' | 'media type'
  readonly writeFault: (fault: SoapFault) => string
  /** The block for that part of a fault which is about blocks; undefined: it is in Detail. */
  readonly faultDetail: string | undefined
  /** The block of a fault that names a block which was not understood (SOAP 1.2 Part 1 §5.4.8). */
  readonly notUnderstood: Name | undefined
  /**
   * The HTTP status of a Sender fault in the W3C binding; other faults have 500 (SOAP 1.1 §6.2;
   * SOAP 1.2 Part 2 Table 20).
   */
  readonly senderStatus: number
}

const ns11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const ns12 = 'http://www.w3.org/2003/05/soap-envelope'

/** SOAP 1.1 (W3C Note, 8 May 2000). */
export const soap11: SoapVersion = {
  number: '1.1',
  namespace: ns11,
  mediaType: 'text/xml',
  envelope: internName(ns11, 'Envelope'),
  header: internName(ns11, 'Header'),
  body: internName(ns11, 'Body'),
  fault: internName(ns11, 'Fault'),
  mustUnderstand: internName(ns11, 'mustUnderstand'),
  role: internName(ns11, 'actor'),
  relay: undefined,
  encodingStyle: internName(ns11, 'encodingStyle'),
  encoding: 'http://schemas.xmlsoap.org/soap/encoding/',
  literal: ['', 'http://schemas.xmlsoap.org/soap/encoding/'], // SOAP::Lite has it on the Envelope of literal messages
  encodingAnywhere: true,
  bodyAttributes: 'any', // signatures of old stacks refer to an unqualified Id
  rpcResult: undefined,
  next: 'http://schemas.xmlsoap.org/soap/actor/next',
  none: undefined,
  ultimateReceiver: '',
  actionIn: 'SOAPAction',
  writeFault: writeFault11,
  faultDetail: 'FaultDetail',
  notUnderstood: undefined,
  senderStatus: 500,
}

/** SOAP 1.2 (W3C Recommendation, second edition). */
export const soap12: SoapVersion = {
  number: '1.2',
  namespace: ns12,
  mediaType: 'application/soap+xml',
  envelope: internName(ns12, 'Envelope'),
  header: internName(ns12, 'Header'),
  body: internName(ns12, 'Body'),
  fault: internName(ns12, 'Fault'),
  mustUnderstand: internName(ns12, 'mustUnderstand'),
  role: internName(ns12, 'role'),
  relay: internName(ns12, 'relay'),
  encodingStyle: internName(ns12, 'encodingStyle'),
  encoding: 'http://www.w3.org/2003/05/soap-encoding',
  literal: ['', `${ns12}/encoding/none`],
  encodingAnywhere: false,
  bodyAttributes: 'qualified',
  rpcResult: internName('http://www.w3.org/2003/05/soap-rpc', 'result'),
  next: `${ns12}/role/next`,
  none: `${ns12}/role/none`,
  ultimateReceiver: `${ns12}/role/ultimateReceiver`,
  actionIn: 'media type',
  writeFault: writeFault12,
  faultDetail: undefined,
  notUnderstood: internName(ns12, 'NotUnderstood'),
  senderStatus: 400,
}

export const versions: readonly SoapVersion[] = [soap12, soap11]

/**
 * SOAP 1.1 §4.1.1: a message names one or more encodings, the narrowest first, and any of them can
 * be used to read it. In SOAP 1.2 Part 1 §5.1.1 it names one.
 */
export const namesSoapVersion = (
  { encodingAnywhere }: SoapVersion,
  encodingStyle: string,
  styles: readonly string[],
): boolean =>
  (encodingAnywhere ? encodingStyle.split(/[ \t\r\n]+/) : [encodingStyle]).some(each => styles.includes(each))
