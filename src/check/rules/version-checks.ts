/** B9: versions of messages, and versions of a service in separate namespaces. */
import type { Element } from '../../xml/index.ts'
import type { Bench } from '../bench.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import { blockNamed, type ReadMessage, soapWords } from '../soap-message.ts'
import { SchemaSampler } from '../xsd-sample.ts'
import { readNamedElement } from './envelope-checks.ts'

/** Whether an element belongs to another described version and not to the endpoint's own. */
export function isOfOtherVersion(
  { service }: Pick<Bench, 'service'>,
  { document }: SoapEndpointTarget,
  { name }: Element,
): boolean {
  if (name.uri === document.targetNamespace) return false
  if (!service.soap.some(each => each.document?.targetNamespace === name.uri)) return false
  return new SchemaSampler(document.schemas).find('element', name.uri, name.local) === undefined
}

/** A Fault of the other SOAP version, which a client does not find. */
export const hasForeignFault = ({ child, words }: ReadMessage): boolean =>
  child?.name.local === 'Fault' &&
  child.name.uri !== words.namespace &&
  Object.values(soapWords).some(({ namespace }) => namespace === child.name.uri)

/**
 * SOAP 1.2 Part 1 §5.4.7: the versions in the Upgrade block of a VersionMismatch; none: it has no
 * such block, which is optional.
 */
export const listSupported = (message: ReadMessage): readonly string[] =>
  blockNamed(message, soapWords['1.2'].namespace, 'Upgrade')?.elements().map(readNamedElement) ?? []
