/** Descriptions of a service, all generated from its contract. None refers to another document. */
export { writeAccessMatrix } from './access-matrix.ts'
export type { EarlierRelease, LostPromises, PublishedOpenApi, PublishedWsdl } from './earlier-release.ts'
export { type Address, describeOpenApi, type OpenApiOptions, writeOpenApi } from './openapi.ts'
export {
  type Find,
  type LeftOut,
  readWsdl11,
  type WsdlDocument,
  type WsdlMessage,
  type WsdlOperation,
  type WsdlPart,
  type WsdlPort,
  type WsdlService,
} from './read-wsdl.ts'
export { writeStateDiagram } from './state-diagram.ts'
export { type Wsdl11Options, writeWsdl11 } from './wsdl11.ts'
export { type Wsdl20Options, writeWsdl20 } from './wsdl20.ts'
export { writeXsd } from './xsd.ts'
