/** Clients of a contract, typed from the same value as the service. */
export type { CertificateSource, PrivateKeySource, SecretSource } from '../security/crypto/key-source.ts'
export type { Protection } from '../security/protect/protect.ts'
export type { EncryptionOptions, ProtectionOptions, SigningOptions } from '../security/protect/protection-options.ts'
export type { Forgiven, Leniency } from '../soap/codecs/mended-element.ts'
export { type Block, block, compileBlockWriter } from '../soap/headers/block.ts'
export type { HttpOptions } from './connection-pool.ts'
export type { RenderedMessage } from './dressed-message.ts'
export { TransportFailure } from './errors.ts'
export { createHttpTransport } from './http-transport.ts'
export type { OperationCall, Operations } from './operation-types.ts'
export type { CallOptions, SoapClientOptions } from './options.ts'
export { createPortClient, type PortClientOptions } from './port-client.ts'
export type {
  CaughtFault,
  ExchangeCall,
  ExchangeReply,
  LaterAnswer,
  LaterMessage,
  PortClient,
} from './port-types.ts'
export type { AddressingOptions } from './request-addressing.ts'
export * from './rest/index.ts'
export { createSoapClient, type SoapClient } from './soap-client.ts'
export type { ClientTransport, TransportRequest, TransportResponse } from './transport.ts'
