/** Another party's description as parts of a contract: its ports, types and elements. */

import type { PortPolicy } from '../contract/endpoint-rule.ts'
import type { Port, PortAddresses } from '../contract/exchange.ts'
import { listPortElements } from '../contract/xml-derivation.ts'
import { listReachedTypes } from '../contract/xml-reach.ts'
import type { AnyRootElement, AnyXmlType } from '../contract/xml-type.ts'
import { type ReadDescription, readDescription } from '../describe/reader/read-wsdl.ts'
import { readWsdl20Services } from '../describe/reader/read-wsdl20.ts'
import type { Find } from '../describe/reader/wsdl-document.ts'
import { Malformed } from '../xml/index.ts'
import { type Loss, Losses } from './loss.ts'
import { addNarrowerTypes } from './narrower-types.ts'
import { readPorts } from './read-ports.ts'
import { SchemaComponents } from './schema/schema-components.ts'
import { SchemaModel } from './schema/schema-model.ts'

export interface ImportedContract {
  readonly kind: ReadDescription['kind']
  readonly namespace: string
  /** What the document says about itself. */
  readonly description?: string | undefined
  readonly ports: readonly Port[]
  /** The demands of a port's policies, by the name of the port. */
  readonly policies: ReadonlyMap<string, PortPolicy>
  /** The address of each port, by its name. */
  readonly addresses: ReadonlyMap<string, PortAddresses>
  /** Every type that the ports use; for a document without ports, every type in it. */
  readonly types: readonly AnyXmlType[]
  readonly elements: readonly AnyRootElement[]
  readonly comments: ReadonlyMap<object, string>
  readonly losses: readonly Loss[]
  /** Imports that were not found. */
  readonly missing: readonly string[]
}

/**
 * A contract has its own namespace, which is absolute; those of its ports may be any.
 * @param name the name of the contract, for a document without such a namespace
 */
export const namespaceOfContract = ({ namespace }: Pick<ImportedContract, 'namespace'>, name: string): string =>
  /^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(namespace) ? namespace : `urn:${name}`

export function readImportedContract(bytes: Uint8Array, location: string, find: Find): ImportedContract | Malformed {
  const description = readDescription(bytes, location, find)
  if (description instanceof Malformed) return description
  const { kind, document } = description
  const losses = new Losses()
  const components = new SchemaComponents(document.schemaDocuments)
  const model = new SchemaModel(components, losses)
  for (const flaw of [...document.flaws, ...components.flaws]) losses.add('document', flaw, 'document')
  for (const each of components.unsaid) losses.add('document', each)
  for (const { place, detail } of document.leftOut) losses.add(place, detail)
  for (const each of document.missing) losses.add('document', `${each} is imported and was not found`, 'document')
  const services = kind === 'wsdl20' ? readWsdl20Services(description.descriptions) : document
  if ('unserved' in services) {
    for (const flaw of services.flaws) losses.add('document', flaw, 'document')
    for (const each of services.unserved) losses.add('document', each)
  }
  const policies = new Map<string, PortPolicy>()
  const addresses = new Map<string, PortAddresses>()
  const ports = readPorts(services, model, losses, { policies, addresses }).map(each => addNarrowerTypes(each, model))
  const hasPorts = ports.length > 0
  const roots = hasPorts
    ? ports.flatMap(listPortElements)
    : components.names('element').flatMap(name => model.element(name, 'document') ?? [])
  const more = hasPorts
    ? ports.flatMap(each => each.types)
    : ['complexType' as const, 'simpleType' as const].flatMap(component =>
        components.names(component).map(name => model.typeOfElement(name, 'document')),
      )
  const reached = listReachedTypes(roots, more)
  return {
    kind,
    namespace: services.targetNamespace,
    description: document.documentation,
    ports,
    policies,
    addresses,
    types: reached.types,
    elements: reached.elements,
    comments: model.comments,
    losses: losses.all,
    missing: document.missing,
  }
}

/** Throws an error that names the file. */
export function readNamedContract(file: string, bytes: Uint8Array, location: string, find: Find): ImportedContract {
  const contract = readImportedContract(bytes, location, find)
  if (contract instanceof Malformed) throw new Error(`${file}: ${contract.reason} (octet ${contract.at})`)
  return contract
}
