/** Descriptions, all read from the one contract. */
export { type Style, type Wsdl11Options, wsdl11 } from './wsdl11.ts'
export { xsd } from './xsd.ts'
