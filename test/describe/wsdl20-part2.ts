/**
 * The assertions of WSDL 2.0 Part 2 on the styles of operations (§4) and on the binding of HTTP
 * (§6), each by its name.
 */
import type { Element } from '../../src/xml/tree.ts'
import { attribute, below, children, qname } from './tree.ts'

const xs = 'http://www.w3.org/2001/XMLSchema'
const httpBinding = 'http://www.w3.org/ns/wsdl/http'
const rpcExtension = 'http://www.w3.org/ns/wsdl/rpc'
const styles = 'http://www.w3.org/ns/wsdl/style/'

const hasRepeated = (names: readonly (string | undefined)[]): boolean => new Set(names).size !== names.length
const check = (holds: boolean, assertion: string): string[] => (holds ? [] : [assertion])
const ofSchema = (element: Element, ...locals: readonly string[]): Element[] =>
  element.elements().filter(({ name }) => name.uri === xs && locals.includes(name.local))

/** Global declarations of schemas by `{namespace}name`. */
export class Declarations {
  readonly #found = new Map<string, Element>()
  constructor(schemas: readonly Element[]) {
    for (const schema of schemas)
      for (const each of schema.elements())
        this.#found.set(
          `${each.name.local} {${attribute(schema, 'targetNamespace') ?? ''}}${attribute(each, 'name')}`,
          each,
        )
  }
  find(kind: 'element' | 'complexType' | 'simpleType', name: string | undefined): Element | undefined {
    return this.#found.get(`${kind} ${name}`)
  }
  /** The complex type of an element, named or not. */
  complexTypeOf(element: Element): Element | undefined {
    const [own] = ofSchema(element, 'complexType')
    return own ?? this.find('complexType', nameIn(element, 'type'))
  }
  /** The built-in type that a simple type is, or is derived from; undefined: it is none. */
  builtInOf(name: string | undefined): string | undefined {
    if (name?.startsWith(`{${xs}}`)) return name.slice(xs.length + 2)
    const found = this.find('simpleType', name)
    return found && this.baseOf(found)
  }
  baseOf(simpleType: Element): string {
    const [restriction] = ofSchema(simpleType, 'restriction')
    return (restriction && this.builtInOf(nameIn(restriction, 'base'))) ?? 'anySimpleType'
  }
}
function nameIn(element: Element, local: string): string | undefined {
  try {
    return qname(element, local)
  } catch {
    return undefined
  }
}

/** What an element of a message has: its particles, and attributes of its own. */
interface Body {
  readonly name: string
  readonly particles: readonly Element[] | undefined
  readonly attributes: readonly Element[]
}
function bodyOf(declarations: Declarations, name: string): Body | undefined {
  const element = declarations.find('element', name)
  if (!element) return undefined
  const type = declarations.complexTypeOf(element)
  const [sequence] = type ? ofSchema(type, 'sequence') : []
  const attributes = type ? ofSchema(type, 'attribute', 'attributeGroup') : []
  return { name, particles: sequence?.elements().filter(each => each.name.local !== 'annotation'), attributes }
}
const isElement = ({ name }: Element): boolean => name.local === 'element'
const isLocal = (particle: Element): boolean => attribute(particle, 'ref') === undefined
const localOf = (name: string): string => name.slice(name.indexOf('}') + 1)
const spaceOf = (name: string): string => name.slice(0, name.indexOf('}'))

/** An operation with its messages; `styled` by the interface, if not by itself. */
export function styleFlaws(operation: Element, styled: string, declarations: Declarations): string[] {
  const names = (attribute(operation, 'style') ?? styled).trim().split(/\s+/)
  return [
    ...(names.includes(`${styles}rpc`) ? rpcFlaws(operation, declarations) : []),
    ...(names.includes(`${styles}iri`) ? iriFlaws(operation, declarations) : []),
    ...(names.includes(`${styles}multipart`) ? multipartFlaws(operation, declarations) : []),
    ...signatureFlaws(operation, declarations),
  ]
}

const messagesOf = (operation: Element, direction: 'input' | 'output'): Element[] => children(operation, direction)
const isOfElement = (message: Element | undefined): boolean =>
  message !== undefined &&
  attribute(message, 'element') !== undefined &&
  !attribute(message, 'element')?.startsWith('#')
function bodyOfMessage(message: Element | undefined, declarations: Declarations): Body | undefined {
  return message && isOfElement(message) ? bodyOf(declarations, nameIn(message, 'element') ?? '') : undefined
}

/** §4.1. */
function rpcFlaws(operation: Element, declarations: Declarations): string[] {
  const pattern = attribute(operation, 'pattern')?.split('/').at(-1) ?? 'in-out'
  const messages = [...messagesOf(operation, 'input'), ...messagesOf(operation, 'output')]
  const input = bodyOfMessage(messagesOf(operation, 'input')[0], declarations)
  const output = bodyOfMessage(messagesOf(operation, 'output')[0], declarations)
  const bodies = [input, output].filter(each => each !== undefined)
  const [ins, outs] = [input?.particles ?? [], output?.particles ?? []]
  const all = [...ins, ...outs]
  return [
    ...check(['in-only', 'in-out'].includes(pattern), 'RPCStyle-2029'),
    ...check(messages.every(isOfElement), 'RPCStyle-2030'),
    ...check(
      bodies.every(each => each.particles),
      'RPCStyle-2031',
    ),
    ...check(
      ins.every(({ name }) => ['element', 'any'].includes(name.local)),
      'RPCStyle-2032',
    ),
    ...check(ins.filter(each => !isElement(each)).length <= 1, 'RPCStyle-2033'),
    ...check(ins.slice(0, -1).every(isElement), 'RPCStyle-2034'),
    ...check(outs.every(isElement), 'RPCStyle-2035'),
    ...check(all.every(isLocal), 'RPCStyle-2036'),
    ...check(!input || localOf(input.name) === attribute(operation, 'name'), 'RPCStyle-2037'),
    ...check(!input || !output || spaceOf(input.name) === spaceOf(output.name), 'RPCStyle-2038'),
    ...check(
      bodies.every(({ attributes }) => attributes.every(each => attribute(each, 'ref') !== undefined)),
      'RPCStyle-2039',
    ),
    ...check(
      ins.every(one => outs.every(other => !isSameName(one, other) || hasSameType(one, other))),
      'RPCStyle-2040',
    ),
    ...check(![ins, outs].some(each => hasRepeated(each.filter(isElement).map(particleName))), 'RPCStyle-2041'),
  ]
}
const particleName = (particle: Element): string | undefined => attribute(particle, 'name') ?? nameIn(particle, 'ref')
const isSameName = (one: Element, other: Element): boolean =>
  isElement(one) && isElement(other) && particleName(one) === particleName(other)
const hasSameType = (one: Element, other: Element): boolean =>
  nameIn(one, 'type') !== undefined && nameIn(one, 'type') === nameIn(other, 'type')

/** §4.1.1 `wrpc:signature`: names of members, each with a direction. */
function signatureFlaws(operation: Element, declarations: Declarations): string[] {
  const written = operation.attributes.find(({ name }) => name.uri === rpcExtension && name.local === 'signature')
  if (!written) return []
  const tokens = written.value.trim().split(/\s+/)
  const pairs = tokens.flatMap((token, at) => (at % 2 === 0 ? [[token, tokens[at + 1] ?? ''] as const] : []))
  const namesIn = (direction: 'input' | 'output') =>
    (bodyOfMessage(messagesOf(operation, direction)[0], declarations)?.particles ?? [])
      .filter(isElement)
      .map(particleName)
  const [ins, outs] = [namesIn('input'), namesIn('output')]
  const told = pairs.map(([name]) => name.replace(/^.*:/, ''))
  const isRight = ([name, direction]: readonly [string, string]): boolean => {
    const local = name.replace(/^.*:/, '')
    const [isIn, isOut] = [ins.includes(local), outs.includes(local)]
    if (direction === '#in') return isIn && !isOut
    return direction === '#inout' ? isIn && isOut : isOut && !isIn
  }
  return [
    ...check(pairs.every(([name]) => !name.startsWith('#')) && tokens.length % 2 === 0, 'WRPC-2050'),
    ...check(
      pairs.every(([, direction]) => ['#in', '#out', '#inout', '#return'].includes(direction)),
      'WRPC-2043',
    ),
    ...check(!hasRepeated(told), 'WRPC-2044'),
    ...check(
      [...ins, ...outs].every(name => told.includes(name ?? '')),
      'WRPC-2045',
    ),
    ...check(pairs.every(isRight), 'WRPC-2046 to WRPC-2049'),
  ]
}

/** What §4.2 and §4.3 share: the initial message is a sequence of local elements. */
function sequenceFlaws(operation: Element, declarations: Declarations, rules: readonly string[]): string[] {
  const [element = '', onlyElements = '', onlyLocal = '', named = '', noAttributes = ''] = rules
  const [initial = messagesOf(operation, 'output')[0]] = messagesOf(operation, 'input')
  const body = bodyOfMessage(initial, declarations)
  const particles = body?.particles ?? []
  const inner = particles.flatMap(each => declarations.complexTypeOf(each) ?? [])
  return [
    ...check(isOfElement(initial), element),
    ...check((!body || body.particles !== undefined) && particles.every(isElement), onlyElements),
    ...check(particles.every(isLocal), onlyLocal),
    ...check(!body || localOf(body.name) === attribute(operation, 'name'), named),
    ...check(
      [...(body?.attributes ?? []), ...inner.flatMap(each => ofSchema(each, 'attribute', 'anyAttribute'))].length === 0,
      noAttributes,
    ),
  ]
}
const initialParticles = (operation: Element, declarations: Declarations): readonly Element[] =>
  bodyOfMessage(messagesOf(operation, 'input')[0], declarations)?.particles ?? []

/** §4.2. */
function iriFlaws(operation: Element, declarations: Declarations): string[] {
  const isSimple = (particle: Element): boolean => {
    const [own] = ofSchema(particle, 'simpleType')
    const type = own ? declarations.baseOf(own) : declarations.builtInOf(nameIn(particle, 'type'))
    return type !== undefined && !['QName', 'NOTATION', 'hexBinary', 'base64Binary', 'anyType'].includes(type)
  }
  const rules = ['IRIStyle-2051', 'IRIStyle-2052', 'IRIStyle-2053', 'IRIStyle-2054', 'IRIStyle-2055']
  return [
    ...sequenceFlaws(operation, declarations, rules),
    ...check(
      initialParticles(operation, declarations)
        .filter(each => isElement(each) && isLocal(each))
        .every(isSimple),
      'IRIStyle-2056',
    ),
  ]
}

/** §4.3. */
function multipartFlaws(operation: Element, declarations: Declarations): string[] {
  const particles = initialParticles(operation, declarations)
  const occursOnce = (particle: Element): boolean =>
    (attribute(particle, 'minOccurs') ?? '1') === '1' && (attribute(particle, 'maxOccurs') ?? '1') === '1'
  const rules = ['2057', '2058', '2059', '2061', '2062'].map(each => `MultipartStyle-${each}`)
  return [
    ...sequenceFlaws(operation, declarations, rules),
    ...check(particles.every(occursOnce), 'MultipartStyle-2060'),
    ...check(!hasRepeated(particles.map(particleName)), 'MultipartStyle-2063'),
  ]
}

/** §6, of a binding of HTTP. */
export function httpFlaws(
  binding: Element,
  declarations: Declarations,
  findOperation: (bound: Element) => Element | undefined,
): string[] {
  if (attribute(binding, 'type') !== httpBinding) return []
  const headers = below(binding, 'header').filter(({ name }) => name.uri === httpBinding)
  const outgoing = [...children(binding, 'operation'), ...children(binding, 'fault')]
  return [
    ...children(binding, 'operation').flatMap(each => locationFlaws(of(each, 'location') ?? '')),
    ...children(binding, 'operation').flatMap(each => {
      const operation = findOperation(each)
      return operation ? inputFlaws(each, operation, of(binding, 'methodDefault'), declarations) : []
    }),
    ...check(
      headers.every(each => declarations.builtInOf(nameIn(each, 'type')) !== undefined),
      'HTTPHeader-2103',
    ),
    ...check(
      headers.every(
        each => each.parent !== binding && !children(binding, 'operation').includes(each.parent as Element),
      ),
      'HTTPHeader: it is of a message or a fault',
    ),
    ...check(
      !below(binding, 'input')
        .concat(below(binding, 'output'), children(binding, 'fault'))
        .some(each => hasRepeated(children(each, 'header').map(header => attribute(header, 'name')?.toLowerCase()))),
      'HTTPHeader-2102',
    ),
    ...check(
      outgoing.every(each => ['outputSerialization', 'faultSerialization'].every(name => isSendable(of(each, name)))),
      'HTTPSerialization-2112, -2122',
    ),
    ...check(
      children(binding, 'operation').every(each => isCovered(of(each, 'outputSerialization'))),
      'HTTPBindingOperation-2100',
    ),
    ...check(
      children(binding, 'fault').every(each => /^(?:[1-5]\d\d|#any)$/.test(of(each, 'code') ?? '#any')),
      'HTTPBindingFault-2106',
    ),
  ]
}
/** §6.8.2, §6.8.4: a stated form of the input has its style; §6.8.2.1: what is left out may be. */
function inputFlaws(
  bound: Element,
  operation: Element,
  methodDefault: string | undefined,
  declarations: Declarations,
): string[] {
  const isSafe = /^(?:true|1)$/.test(attribute(operation, 'safe') ?? '')
  const method = of(bound, 'method') ?? methodDefault ?? (isSafe ? 'GET' : 'POST')
  const isBare = method === 'GET' || method === 'DELETE'
  const style = attribute(operation, 'style') ?? attribute(operation.parent ?? operation, 'styleDefault') ?? ''
  const format = of(bound, 'inputSerialization') ?? ''
  const cited = [...(of(bound, 'location') ?? '').matchAll(/\{!?([^{}!]+)\}/g)].map(([, name]) => name)
  const uncited = initialParticles(operation, declarations).filter(each => !cited.includes(particleName(each)))
  const mayBeLeftOut = (each: Element) =>
    attribute(each, 'minOccurs') === '0' ||
    attribute(each, 'nillable') === 'true' ||
    attribute(each, 'default') !== undefined
  return [
    ...check(
      !/^application\/x-www-form-urlencoded/.test(format) || style.includes(`${styles}iri`),
      'HTTPSerialization-2111',
    ),
    ...check(!/^multipart\/form-data/.test(format) || style.includes(`${styles}multipart`), 'HTTPSerialization-2121'),
    ...check(!isBare || of(bound, 'ignoreUncited') !== 'true' || uncited.every(mayBeLeftOut), 'HTTPQueryString-2116'),
  ]
}
const of = (element: Element, local: string): string | undefined =>
  element.attributes.find(({ name }) => name.uri === httpBinding && name.local === local)?.value
const isSendable = (types = ''): boolean => !/application\/x-www-form-urlencoded|multipart\/form-data/.test(types)
/** The first type of a range is what is sent: XML, unless it names another one. */
function isCovered(types = 'application/xml'): boolean {
  const ranges = types.split(',').map(each => each.split(';')[0]?.trim() ?? '')
  return ranges.some(each => each === '*/*' || !each.includes('*'))
}

/** §6.8.1.1: no fragment, and names in braces; two braces are one. */
function locationFlaws(location: string): string[] {
  const bare = location.replace(/\{\{|\}\}/g, '').replace(/\{!?[\p{L}_][^{}\s#:]*\}/gu, '')
  return [
    ...check(!bare.includes('#'), 'HTTPBindingOperation-2098'),
    ...check(!/[{}]/.test(bare), 'HTTPSerialization-2106'),
  ]
}

/** §6.11: a realm has a scheme, and a scheme a realm. */
export const authenticationFlaws = (endpoint: Element): string[] =>
  check(
    of(endpoint, 'authenticationScheme') === undefined || of(endpoint, 'authenticationRealm') !== undefined,
    'HTTPAccessAuthentication-2127',
  )
