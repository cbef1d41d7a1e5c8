import { ncName } from './character.ts'
import { type Name, passing } from './name.ts'

/** Something that knows which namespaces are in scope. */
interface Place {
  namespace(prefix: string): string | undefined
}

/**
 * What a QName in content means (XML Schema Part 2 §3.2.18): without a prefix it is in the default namespace. Undefined when
 * it is none, or its prefix is not declared here. `born` as of `passing`.
 */
export function qualified(text: string, place: Place, born?: () => void): Name | undefined {
  const written = text.trim() // what it takes beside XML's white space is in no name
  const colon = written.indexOf(':')
  const prefix = colon < 0 ? '' : written.slice(0, colon)
  const local = written.slice(colon + 1)
  if (!ncName(local) || (colon >= 0 && !ncName(prefix))) return undefined
  const uri = place.namespace(prefix)
  return uri === undefined ? undefined : passing(uri, local, born)
}
