/** RFC 6570, level 4: expansion. */

export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly (string | number | boolean | null | undefined)[]
  | { readonly [name: string]: string | number | boolean | null | undefined }

export type TemplateValues = { readonly [name: string]: TemplateValue }

/** Appendix A, the table of operators. */
interface Operator {
  readonly first: string
  readonly separator: string
  /** Whether `name=` comes before a value. */
  readonly named: boolean
  /** What stands after the name of an empty value. */
  readonly empty: string
  /** Whether reserved characters and escapes stay as they are. */
  readonly reserved: boolean
}

const operators: Readonly<Record<string, Operator>> = {
  '': { first: '', separator: ',', named: false, empty: '', reserved: false },
  '+': { first: '', separator: ',', named: false, empty: '', reserved: true },
  '#': { first: '#', separator: ',', named: false, empty: '', reserved: true },
  '.': { first: '.', separator: '.', named: false, empty: '', reserved: false },
  '/': { first: '/', separator: '/', named: false, empty: '', reserved: false },
  ';': { first: ';', separator: ';', named: true, empty: '', reserved: false },
  '?': { first: '?', separator: '&', named: true, empty: '=', reserved: false },
  '&': { first: '&', separator: '&', named: true, empty: '=', reserved: false },
}

const varname = '(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*'
const varspec = `${varname}(?::[1-9]\\d{0,3}|\\*)?`
const expression = new RegExp(`\\{([+#./;?&]?)(${varspec}(?:,${varspec})*)\\}`, 'y')
/** §2.1 literals: neither controls, space, quotes, `<>\^`{|}`, nor a lone percent sign. */
const literal = /(?:[^\0-\x20"'%<>\\^`{|}\x7f]|%[0-9A-Fa-f]{2})+/y

/** The URI reference; undefined where §3 has an error: malformed, or a prefix of a value that is a list or has names. */
export function expandTemplate(template: string, values: TemplateValues): string | undefined {
  let text = ''
  for (let at = 0; at < template.length; ) {
    literal.lastIndex = expression.lastIndex = at
    const found = template[at] === '{' ? expression.exec(template) : literal.exec(template)
    const part = found && (found[2] === undefined ? encode(found[0], true) : expanded(found[1]!, found[2], values))
    if (found === null || part === undefined || part === null) return undefined
    text += part
    at += found[0].length
  }
  return text
}

/** The names of all variables, in order, each once; undefined when the template is malformed. */
export function templateVariables(template: string): readonly string[] | undefined {
  if (expandTemplate(template, {}) === undefined) return undefined
  const names = [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, list]) => list!.split(','))
  return [...new Set(names.map(name => name.replace(/[:*].*$/, '')))]
}

/** §3.2.1: the defined values, joined as the operator says. */
function expanded(operator: string, list: string, values: TemplateValues): string | undefined {
  const how = operators[operator]!
  const parts: string[] = []
  for (const spec of list.split(',')) {
    const [, name, prefix, explode] = /^([^:*]+)(?::(\d+)|(\*))?$/.exec(spec)! // the grammar of expression
    const value = Object.hasOwn(values, name!) ? values[name!] : undefined
    const entries = entriesOf(value)
    if (entries !== undefined && prefix !== undefined) return undefined
    if (entries === undefined) parts.push(...simple(how, name!, value, prefix))
    else if (entries.length > 0)
      parts.push(...(explode ? exploded(how, name!, entries) : [named(how, name!, joined(how, entries))]))
  }
  return parts.length === 0 ? '' : how.first + parts.join(how.separator)
}

type Entries = readonly (readonly [name: string | undefined, value: string])[]

/** The defined members of a list (without names) or of an associative array; undefined for any other value. */
function entriesOf(value: TemplateValue): Entries | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const all = Array.isArray(value) ? value.map(item => [undefined, item] as const) : Object.entries(value)
  return all.flatMap(([name, item]) => (item === undefined || item === null ? [] : [[name, String(item)] as const]))
}

function simple(how: Operator, name: string, value: TemplateValue, prefix: string | undefined): readonly string[] {
  if (value === undefined || value === null) return []
  const text = String(value)
  const cut = prefix === undefined ? text : [...text].slice(0, Number(prefix)).join('') // §2.4.1: characters, not octets
  return [named(how, name, encode(cut, how.reserved))]
}

const named = (how: Operator, name: string, value: string) =>
  how.named ? name + (value === '' ? how.empty : `=${value}`) : value

const joined = (how: Operator, entries: Entries) =>
  entries
    .flatMap(([name, value]) => (name === undefined ? [value] : [name, value]))
    .map(text => encode(text, how.reserved))
    .join(',')

/** §3.2.1: with `*`, each member by itself; its own name stands where the variable's would. */
function exploded(how: Operator, variable: string, entries: Entries): readonly string[] {
  return entries.map(([name, value]) => {
    const text = encode(value, how.reserved)
    if (name === undefined) return named(how, variable, text)
    return how.named ? named(how, encode(name, how.reserved), text) : `${encode(name, how.reserved)}=${text}`
  })
}

/** §3.2.1: unreserved stays; so does, where allowed, reserved and what is an escape already. */
function encode(text: string, reserved: boolean): string {
  const unsafe = reserved ? /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu : /[^A-Za-z0-9\-._~]/gu
  return text.toWellFormed().replace(unsafe, part => (part.length === 3 ? part : strictly(part)))
}

const strictly = (char: string) =>
  encodeURIComponent(char).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
