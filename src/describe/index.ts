/** Descriptions of a service, all read from its one contract. Nothing in them refers to another document. */
export { access } from './access-matrix.ts'
export { type Address, type OpenApiOptions, openapi, openapiDocument } from './openapi.ts'
export {
  type Find,
  readWsdl11,
  type WsdlDocument,
  type WsdlMessage,
  type WsdlOperation,
  type WsdlPart,
  type WsdlPort,
  type WsdlService,
} from './read-wsdl.ts'
export { diagram } from './state-diagram.ts'
export { type Style, type Wsdl11Options, wsdl11 } from './wsdl11.ts'
export { type Wsdl20Options, wsdl20 } from './wsdl20.ts'
export { xsd } from './xsd.ts'
