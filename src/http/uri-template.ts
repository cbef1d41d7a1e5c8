/** RFC 6570, level 4: expansion. */

/**
 * A value of a variable: text, a list, or names with values; undefined and null leave the variable
 * out (RFC 6570 §2.3).
 */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly (string | number | boolean | null | undefined)[]
  | { readonly [name: string]: string | number | boolean | null | undefined }

/** The values of the variables of a URI template, by name. */
export type TemplateValues = { readonly [name: string]: TemplateValue }

/** Appendix A, the table of operators. */
interface TemplateOperator {
  readonly first: string
  readonly separator: string
  /** Whether `name=` comes before a value. */
  readonly named: boolean
  /** What follows the name if the value is empty. */
  readonly empty: string
  /** Whether reserved characters and escapes are kept. */
  readonly reserved: boolean
}

const templateOperators: Readonly<Record<string, TemplateOperator>> = {
  '': { first: '', separator: ',', named: false, empty: '', reserved: false },
  '+': { first: '', separator: ',', named: false, empty: '', reserved: true },
  '#': { first: '#', separator: ',', named: false, empty: '', reserved: true },
  '.': { first: '.', separator: '.', named: false, empty: '', reserved: false },
  '/': { first: '/', separator: '/', named: false, empty: '', reserved: false },
  ';': { first: ';', separator: ';', named: true, empty: '', reserved: false },
  '?': { first: '?', separator: '&', named: true, empty: '=', reserved: false },
  '&': { first: '&', separator: '&', named: true, empty: '=', reserved: false },
}

const variablePattern = '(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*'
const variableSpecPattern = `${variablePattern}(?::[1-9]\\d{0,3}|\\*)?`
const expressionPattern = new RegExp(`\\{([+#./;?&]?)(${variableSpecPattern}(?:,${variableSpecPattern})*)\\}`, 'y')
/**
 * §2.1 literals: no controls, space, double quotes, `<>\^`{|}`, or lone percent sign; erratum 6937
 * has the apostrophe, as addresses of OData do.
 */
const literalPattern = /(?:[^\0-\x20"%<>\\^`{|}\x7f]|%[0-9A-Fa-f]{2})+/y

/**
 * The URI reference; undefined for an error by §3: a malformed template, or a prefix of a value
 * that is a list or has names.
 */
export function expandTemplate(template: string, values: TemplateValues): string | undefined {
  let text = ''
  for (let at = 0; at < template.length; ) {
    literalPattern.lastIndex = expressionPattern.lastIndex = at
    const found = template[at] === '{' ? expressionPattern.exec(template) : literalPattern.exec(template)
    const part =
      found &&
      (found[2] === undefined ? encodeTemplateText(found[0], true) : expandExpression(found[1]!, found[2], values))
    if (found === null || part === undefined || part === null) return undefined
    text += part
    at += found[0].length
  }
  return text
}

/** The names of all variables, in order, each once; undefined if the template is malformed. */
export function templateVariables(template: string): readonly string[] | undefined {
  if (expandTemplate(template, {}) === undefined) return undefined
  const names = [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, list]) => list!.split(','))
  return [...new Set(names.map(name => name.replace(/[:*].*$/, '')))]
}

/** §3.2.1: the defined values, joined by the operator's rules. */
function expandExpression(operator: string, list: string, values: TemplateValues): string | undefined {
  const how = templateOperators[operator]!
  const parts: string[] = []
  for (const spec of list.split(',')) {
    const [, name, prefix, explode] = /^([^:*]+)(?::(\d+)|(\*))?$/.exec(spec)! // the grammar of expression
    const value = Object.hasOwn(values, name!) ? values[name!] : undefined
    const entries = entriesOf(value)
    if (entries !== undefined && prefix !== undefined) return undefined
    if (entries === undefined) parts.push(...expandSimple(how, name!, value, prefix))
    else if (entries.length > 0)
      parts.push(
        ...(explode ? explodeEntries(how, name!, entries) : [writeNamed(how, name!, joinEntries(how, entries))]),
      )
  }
  return parts.length === 0 ? '' : how.first + parts.join(how.separator)
}

type TemplateEntries = readonly (readonly [name: string | undefined, value: string])[]

/**
 * The defined members of a list (without names) or of an associative array; undefined for any other
 * value.
 */
function entriesOf(value: TemplateValue): TemplateEntries | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const all = Array.isArray(value) ? value.map(item => [undefined, item] as const) : Object.entries(value)
  return all.flatMap(([name, item]) => (item === undefined || item === null ? [] : [[name, String(item)] as const]))
}

function expandSimple(
  how: TemplateOperator,
  name: string,
  value: TemplateValue,
  prefix: string | undefined,
): readonly string[] {
  if (value === undefined || value === null) return []
  const text = String(value)
  const cut = prefix === undefined ? text : cutPrefix(text, Number(prefix), how.reserved)
  return [writeNamed(how, name, encodeTemplateText(cut, how.reserved))]
}

/**
 * §2.4.1: a prefix counts characters, not octets; Appendix A: where escapes are kept, those of one
 * character are not split.
 */
const cutPrefix = (text: string, length: number, reserved: boolean): string =>
  (reserved ? (text.match(escapedCharacter) ?? []) : [...text]).slice(0, length).join('')
/** Escapes of one character in UTF-8 (RFC 3629 §3), else one escape, else a character. */
const escapedCharacter =
  /%[CD][0-9A-F]%[89AB][0-9A-F]|%E[0-9A-F](?:%[89AB][0-9A-F]){2}|%F[0-7](?:%[89AB][0-9A-F]){3}|%[0-9A-F]{2}|./gisu

const writeNamed = (how: TemplateOperator, name: string, value: string) =>
  how.named ? name + (value === '' ? how.empty : `=${value}`) : value

const joinEntries = (how: TemplateOperator, entries: TemplateEntries) =>
  entries
    .flatMap(([name, value]) => (name === undefined ? [value] : [name, value]))
    .map(text => encodeTemplateText(text, how.reserved))
    .join(',')

/** §3.2.1: with `*`, each member is separate; its own name replaces that of the variable. */
function explodeEntries(how: TemplateOperator, variable: string, entries: TemplateEntries): readonly string[] {
  return entries.map(([name, value]) => {
    const text = encodeTemplateText(value, how.reserved)
    if (name === undefined) return writeNamed(how, variable, text)
    return how.named
      ? writeNamed(how, encodeTemplateText(name, how.reserved), text)
      : `${encodeTemplateText(name, how.reserved)}=${text}`
  })
}

/** §3.2.1: unreserved characters are kept; if allowed, also reserved ones and existing escapes. */
function encodeTemplateText(text: string, reserved: boolean): string {
  const unsafe = reserved ? /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu : /[^A-Za-z0-9\-._~]/gu
  return text.toWellFormed().replace(unsafe, part => (part.length === 3 ? part : encodeStrictly(part)))
}

const encodeStrictly = (char: string) =>
  encodeURIComponent(char).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
