/** B2.8: what SOAP encoding requires of arrays and references (SOAP 1.1 §5, SOAP 1.2 Part 2 §3). */
import type { Element } from '../../xml/index.ts'
import type { ReadMessage, SoapWords } from '../soap-message.ts'

const instanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance'
const encodingNamespaces: Readonly<Record<SoapWords['number'], string>> = {
  '1.1': 'http://schemas.xmlsoap.org/soap/encoding/',
  '1.2': 'http://www.w3.org/2003/05/soap-encoding',
}

const attributeOf = (element: Element, uri: string, local: string): string | undefined =>
  element.attributes.find(({ name }) => name.uri === uri && name.local === local)?.value

const withDescendants = (element: Element): readonly Element[] => [
  element,
  ...element.elements().flatMap(withDescendants),
]

/** What is wrong with the encoded content of a Body; undefined: nothing. */
export function findEncodingFlaw({ body, words }: ReadMessage): string | undefined {
  const elements = withDescendants(body)
  const findArrayFlaw = words.number === '1.1' ? findTypedArrayFlaw : findSizedArrayFlaw
  return elements.map(findArrayFlaw).find(each => each !== undefined) ?? findLostReference(elements, words)
}

/** SOAP 1.1 §5.4.2: an array states the type of its members, and may state their number. */
function findTypedArrayFlaw(element: Element): string | undefined {
  const encoding = encodingNamespaces['1.1']
  const type = element.qname(attributeOf(element, instanceNamespace, 'type') ?? '')
  const arrayType = attributeOf(element, encoding, 'arrayType')
  const isArray = type?.uri === encoding && type.local === 'Array'
  const isElsewhere = attributeOf(element, '', 'href') ?? attributeOf(element, instanceNamespace, 'nil')
  if (arrayType === undefined)
    return isArray && isElsewhere === undefined ? `the array ${element.name.local} has no arrayType` : undefined
  const [, member = '', size = ''] = /^(.*?)(?:\[,*\])*\[([\d,]*)\]$/.exec(arrayType) ?? []
  if (element.qname(member) === undefined) return `the arrayType "${arrayType}" names no type`
  // A part of an array says where it belongs (§5.4.2.1, §5.4.2.2).
  const isPart = [element, ...element.elements()].some(
    each => attributeOf(each, encoding, 'offset') ?? attributeOf(each, encoding, 'position'),
  )
  return isPart ? undefined : findSizeFlaw(element, arrayType, size.split(','))
}

/** SOAP 1.2 Part 2 §3.1.6: without a size, or with `*`, any number of members is right. */
function findSizedArrayFlaw(element: Element): string | undefined {
  const size = attributeOf(element, encodingNamespaces['1.2'], 'arraySize')
  return size === undefined ? undefined : findSizeFlaw(element, size, size.trim().split(/\s+/))
}

function findSizeFlaw(element: Element, declared: string, sizes: readonly string[]): string | undefined {
  if (!sizes.every(each => /^\d+$/.test(each))) return undefined
  const count = element.elements().length
  return sizes.reduce((product, each) => product * Number(each), 1) === count
    ? undefined
    : `the array ${element.name.local} is of "${declared}" and has ${count} members`
}

/** SOAP 1.1 §5.4.1; SOAP 1.2 Part 2 §3.1.5.2. */
function findLostReference(elements: readonly Element[], { number }: SoapWords): string | undefined {
  const [uri, local] = number === '1.1' ? ['', 'href'] : [encodingNamespaces['1.2'], 'ref']
  const known = new Set(elements.map(each => attributeOf(each, number === '1.1' ? '' : uri, 'id')))
  const references = elements.flatMap(each => attributeOf(each, uri, local) ?? [])
  const lost = references.find(each =>
    number === '1.1' ? each.startsWith('#') && !known.has(each.slice(1)) : !known.has(each),
  )
  return lost === undefined ? undefined : `the reference ${lost} leads to nothing`
}
