import { isNcName } from './character.ts'
import { internTransient, type Name } from './name.ts'

/** Something that knows which namespaces are in scope. */
interface PrefixScope {
  namespace(prefix: string): string | undefined
}

/**
 * What a QName in content means (XML Schema Part 2 §3.2.18): without a prefix it is in the default namespace. Undefined when
 * it is none, or its prefix is not declared here. `born` as of `internTransient`.
 */
export function resolveQName(text: string, place: PrefixScope, born?: () => void): Name | undefined {
  const written = text.trim() // what it takes beside XML's white space is in no name
  const colon = written.indexOf(':')
  const prefix = colon < 0 ? '' : written.slice(0, colon)
  const local = written.slice(colon + 1)
  if (!isNcName(local) || (colon >= 0 && !isNcName(prefix))) return undefined
  const uri = place.namespace(prefix)
  return uri === undefined ? undefined : internTransient(uri, local, born)
}
