/** Clients of a contract: typed from the value that the service is made of. */
export { Busy, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
export type { Protection } from '../security/protect/protect.ts'
export { type Block, block, blockWriter } from '../soap/headers/block.ts'
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
} from './errors.ts'
export { type HttpOptions, httpTransport } from './http-transport.ts'
export type { Call, Operations } from './operation-types.ts'
export type { CallOptions, SoapClientOptions } from './options.ts'
export type { AddressingOptions } from './request-addressing.ts'
export { type SoapClient, soapClient } from './soap-client.ts'
export type { Came, Sending, Transport } from './transport.ts'
