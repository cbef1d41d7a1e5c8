/** Clients of a contract, typed from the same value as the service. */
export { Busy, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
export type { CertificateSource, PrivateKeySource, SecretSource } from '../security/crypto/key-source.ts'
export type { Protection } from '../security/protect/protect.ts'
export type { EncryptionOptions, ProtectionOptions, SigningOptions } from '../security/protect/protection-options.ts'
export { type Block, block, compileBlockWriter } from '../soap/headers/block.ts'
export type { ClientCredentials } from './credentials.ts'
export {
  AnswerError,
  CallError,
  ConnectionError,
  type FailureReason,
  FaultError,
  type Faulted,
  InputError,
  JobError,
  NotOfferedError,
  ProblemError,
  TransportFailure,
} from './errors.ts'
export { createHttpTransport, type HttpOptions } from './http-transport.ts'
export type { OperationCall, Operations } from './operation-types.ts'
export type { CallOptions, SoapClientOptions } from './options.ts'
export type { AddressingOptions } from './request-addressing.ts'
export { createRestClient, type RestClient } from './rest/rest-client.ts'
export type { RestClientOptions } from './rest/rest-options.ts'
export type { ResultPage, Results } from './results.ts'
export { createSoapClient, type SoapClient } from './soap-client.ts'
export type {
  AwaitOptions,
  BulkRemoval,
  ChangeOptions,
  DownloadedFile,
  JobStatus,
  RequestOptions,
  SentOctets,
  StartedJob,
  StoppableJob,
} from './surface-types.ts'
export type { ClientTransport, TransportRequest, TransportResponse } from './transport.ts'
