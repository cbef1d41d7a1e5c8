/** SOAP for applications: endpoints of a contract, custom messages and blocks, the intermediary. */

export type { Description, Endpoint, SoapOptions } from './endpoint.ts'
export { type Code, faultReason, type Reason, type SoapFault } from './fault.ts'
export type { ReplyTargets } from './headers/addressing.ts'
export {
  type Addressee,
  type Block,
  type BlockContext,
  block,
  compileBlockWriter,
  refuseWithFault,
} from './headers/block.ts'
export { createSoapFace, createSoapNode } from './http/binding.ts'
export { type PackageLimits, type PackagePart, packageLimits, readParts } from './mime/multipart.ts'
export type { BoundOperation, OperationRequest, OperationResponse } from './operations/bound-operation.ts'
export { bareElement, bindCustomOperation, emptyBodyOperation } from './operations/custom-operation.ts'
export { type Intermediary, type Relayed, relayMessage } from './relay.ts'
export type { Evidence, SecuredMessage, VerifyMessage } from './security-port.ts'
export { type SoapVersion, soap11, soap12 } from './version.ts'
