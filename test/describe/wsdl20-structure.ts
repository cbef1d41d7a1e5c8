/**
 * The XML of WSDL 2.0 as its schema has it (Part 1 §2, Part 2 §5 and §6): the elements and
 * attributes that each element may and must have, and the values of attributes. Elements and
 * attributes of other namespaces are extensions (Part 1 §6).
 */
import { isNcName } from '../../src/xml/character.ts'
import type { Element } from '../../src/xml/tree.ts'
import { attribute } from './tree.ts'

const wsdl = 'http://www.w3.org/ns/wsdl'

interface Grammar {
  /** Attributes without a namespace; those that end with `!` are required. */
  readonly attributes: readonly string[]
  readonly children?: Readonly<Record<string, Grammar>>
}
const messages = (of: readonly string[], ofFault: readonly string[]) => ({
  input: { attributes: ['messageLabel', ...of] },
  output: { attributes: ['messageLabel', ...of] },
  infault: { attributes: ofFault },
  outfault: { attributes: ofFault },
})
const bound = messages([], ['ref!', 'messageLabel'])
const description: Grammar = {
  attributes: ['targetNamespace!'],
  children: {
    import: { attributes: ['namespace!', 'location'] },
    include: { attributes: ['location!'] },
    interface: {
      attributes: ['name!', 'extends', 'styleDefault'],
      children: {
        fault: { attributes: ['name!', 'element'] },
        operation: {
          attributes: ['name!', 'pattern', 'style'],
          children: messages(['element'], ['ref!', 'messageLabel']),
        },
      },
    },
    binding: {
      attributes: ['name!', 'type!', 'interface'],
      children: { fault: { attributes: ['ref!'] }, operation: { attributes: ['ref!'], children: bound } },
    },
    service: {
      attributes: ['name!', 'interface!'],
      children: { endpoint: { attributes: ['name!', 'binding!', 'address'] } },
    },
  },
}

/** @param root a description */
export const grammarFlaws = (root: Element): readonly string[] => elementFlaws(root, description)

function elementFlaws(element: Element, { attributes, children = {} }: Grammar): string[] {
  const place = `${element.name.local} ${attribute(element, 'name') ?? attribute(element, 'ref') ?? ''}`.trim()
  const inner = element.elements().filter(({ name }) => name.uri === wsdl && !known.has(name.local))
  const extensions = element.elements().filter(({ name }) => name.uri !== wsdl)
  const name = attribute(element, 'name')
  const optional = attributes.map(each => each.replace('!', ''))
  return [
    ...attributes
      .filter(each => each.endsWith('!') && attribute(element, each.slice(0, -1)) === undefined)
      .map(each => `${place} has no ${each.slice(0, -1)}`),
    ...element.attributes
      .filter(({ name: { uri, local } }) => uri === '' && !optional.includes(local))
      .map(each => `${place} has the attribute ${each.name.local}`),
    ...(name === undefined || isNcName(name.trim()) ? [] : [`${place} has no NCName`]),
    ...(element.children.some(each => each.kind === 'text' && each.value.trim() !== '') ? [`${place} has text`] : []),
    ...(documentsLate(element) ? [`${place} has documentation behind other elements`] : []),
    ...extensions.flatMap(each =>
      (extensionAttributes[`${each.name.uri} ${each.name.local}`] ?? [])
        .filter(local => attribute(each, local) === undefined)
        .map(local => `${place}: ${each.name.local} has no ${local}`),
    ),
    ...[element, ...extensions].flatMap(valueFlaws),
    ...inner.flatMap(each => {
      const grammar = Object.hasOwn(children, each.name.local) ? children[each.name.local] : undefined
      return grammar ? elementFlaws(each, grammar) : [`${place} has the element ${each.name.local}`]
    }),
  ]
}
/** Checked elsewhere, or free. */
const known: ReadonlySet<string> = new Set(['documentation', 'types'])
function documentsLate(element: Element): boolean {
  const own = element.elements().filter(({ name }) => name.uri === wsdl)
  const first = own.findIndex(({ name }) => name.local !== 'documentation')
  return first >= 0 && own.slice(first).some(({ name }) => name.local === 'documentation')
}

const valueFlaws = ({ attributes, name: { uri } }: Element): string[] =>
  attributes.flatMap(({ name, value }) => {
    const values = extensionValues[`${name.uri || uri} ${name.local}`]
    return !values || values.test(value.trim()) ? [] : [`${name.local} cannot be ${value}`]
  })

/** The required attributes of extension elements, by namespace and name. */
const extensionAttributes: Readonly<Record<string, readonly string[]>> = {
  [`${wsdl}/soap module`]: ['ref'],
  [`${wsdl}/soap header`]: ['element'],
  [`${wsdl}/http header`]: ['name', 'type'],
}
const truth = /^(?:true|false|0|1)$/
/** By namespace and name; those of extension elements by the namespace of these. */
const extensionValues: Readonly<Record<string, RegExp>> = {
  [`${wsdl} required`]: truth,
  [`${wsdl}-extensions safe`]: truth,
  [`${wsdl}/soap mustUnderstand`]: truth,
  [`${wsdl}/soap required`]: truth,
  [`${wsdl}/http required`]: truth,
  [`${wsdl}/http cookies`]: truth,
  [`${wsdl}/http ignoreUncited`]: truth,
  [`${wsdl}/http queryParameterSeparator`]: /^[&;a-zA-Z0-9\-._~!$'()*+,:@/?]$/,
  [`${wsdl}/http queryParameterSeparatorDefault`]: /^[&;a-zA-Z0-9\-._~!$'()*+,:@/?]$/,
  [`${wsdl}/http authenticationScheme`]: /^(?:basic|digest)$/,
}
