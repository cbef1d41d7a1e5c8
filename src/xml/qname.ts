import { isNcName } from './character.ts'
import { internTransient, type Name } from './name.ts'

/** Anything that knows the namespaces in scope. */
interface PrefixScope {
  namespace(prefix: string): string | undefined
}

/**
 * The name that a QName in content means (XML Schema Part 2 §3.2.18): without a prefix it is in the
 * default namespace. Undefined for text that is not a QName, or has a prefix that is not declared
 * here.
 * @param born see `internTransient`
 */
export function resolveQName(text: string, place: PrefixScope, born?: () => void): Name | undefined {
  const written = text.trim() // other white space than XML's is in no name either
  const colon = written.indexOf(':')
  const prefix = colon < 0 ? '' : written.slice(0, colon)
  const local = written.slice(colon + 1)
  if (!isNcName(local) || (colon >= 0 && !isNcName(prefix))) return undefined
  const uri = place.namespace(prefix)
  return uri === undefined ? undefined : internTransient(uri, local, born)
}
