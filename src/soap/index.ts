/** SOAP for applications: endpoints of a contract, messages and header blocks of their own, and the intermediary. */

export type { Described, Endpoint, SoapOptions } from './endpoint.ts'
export { type Code, type Reason, reason, type SoapFault } from './fault.ts'
export type { Elsewhere } from './headers/addressing.ts'
export { type Addressee, type Block, block, blockWriter, faulted, type Processing } from './headers/block.ts'
export { soapFace, soapNode } from './http/binding.ts'
export { type PackageLimits, type Part, packageLimits, parts } from './mime/multipart.ts'
export type { Answer, Asked, Exchange } from './operations/bound-operation.ts'
export { bare, emptyBody, exchange } from './operations/custom-operation.ts'
export { type Intermediary, type Relayed, relay } from './relay.ts'
export type { Evidence, Secure, Secured } from './security-port.ts'
export { soap11, soap12, type Version } from './version.ts'
