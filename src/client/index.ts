/** Clients of a contract: typed from the value that the service is made of. */
export { Busy, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
export { type Block, block, blockWriter } from '../soap/node.ts'
export type { Protection } from '../soap/security/outgoing.ts'
export type { AddressingOptions } from './addressing.ts'
export type { Credentials } from './credentials.ts'
export {
  AnswerError,
  CallError,
  ConnectionError,
  FaultError,
  type Faulted,
  InputError,
  Unanswered,
  type Why,
} from './failure.ts'
export { type HttpOptions, httpTransport } from './http.ts'
export type { CallOptions, SoapClientOptions } from './options.ts'
export { type SoapClient, soapClient } from './soap.ts'
export type { Came, Sending, Transport } from './transport.ts'
export type { Call, Operations } from './typed.ts'
