/** Descriptions of a service, all generated from its contract. None refers to another document. */
export { writeAccessMatrix } from './access-matrix.ts'
export type { EarlierRelease, LostPromises, PublishedOpenApi, PublishedWsdl } from './earlier-release.ts'
export { describeOpenApi, writeOpenApi } from './openapi/openapi.ts'
export type { Address, OpenApiOptions } from './openapi/version-facts.ts'
export { readWsdl11 } from './reader/read-wsdl.ts'
export type {
  Find,
  LeftOut,
  WsdlDocument,
  WsdlMessage,
  WsdlOperation,
  WsdlPart,
  WsdlPort,
  WsdlService,
} from './reader/wsdl-document.ts'
export { writeStateDiagram } from './state-diagram.ts'
export { type Wsdl11Options, writeWsdl11 } from './wsdl11.ts'
export { type Wsdl20Options, writeWsdl20 } from './wsdl20.ts'
export { writeXsd } from './xsd.ts'
