/**
 * How the mock misbehaves: each kind as data, read from `Mock-Behavior` or an option, and its
 * effect on a response. Kinds that no server may show (RFC 9112 §6.3) are written as octets to the
 * connection.
 */
import { TimestampName } from '../security/vocabulary.ts'
import { Malformed, parseXml } from '../xml/index.ts'

export type Misbehaviour =
  /** The response begins this many milliseconds later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection ends in the middle of the content. */
  | { readonly kind: 'cut' }
  /** Content that is not well-formed, with the announced length. */
  | { readonly kind: 'malformed' }
  /** XML in another namespace than the contract's. */
  | { readonly kind: 'namespace' }
  /** Content-Length is wrong by this many octets. */
  | { readonly kind: 'length'; readonly by: number }
  /** A fault that the operation declares. */
  | { readonly kind: 'fault'; readonly name: string }
  /** A protected reply whose signed Timestamp is over. */
  | { readonly kind: 'expired' }
  /** 503 with Retry-After, in seconds; nothing is performed. */
  | { readonly kind: 'unavailable'; readonly seconds: number }
  /** The response is sent twice on its connection. */
  | { readonly kind: 'duplicate' }

const delayMax = 600_000

/** The syntax of each kind's value, by name; undefined: the value is wrong. */
const forms: Readonly<
  Record<Misbehaviour['kind'], { readonly form: string; readonly read: (value: string) => Misbehaviour | undefined }>
> = {
  delay: {
    form: 'delay=2s or delay=250ms, 10 minutes at most',
    read: value => {
      const [, number, unit] = /^([0-9]{1,7})(ms|s)$/.exec(value) ?? []
      const ms = Number(number) * (unit === 's' ? 1000 : 1)
      return ms <= delayMax ? { kind: 'delay', ms } : undefined
    },
  },
  cut: { form: 'cut', read: value => (value === '' ? { kind: 'cut' } : undefined) },
  malformed: { form: 'malformed', read: value => (value === '' ? { kind: 'malformed' } : undefined) },
  namespace: { form: 'namespace', read: value => (value === '' ? { kind: 'namespace' } : undefined) },
  length: {
    form: 'length=+10 or length=-10',
    read: value => {
      if (value === '') return { kind: 'length', by: 10 }
      return /^[+-][1-9][0-9]{0,8}$/.test(value) ? { kind: 'length', by: Number(value) } : undefined
    },
  },
  fault: {
    form: 'fault=OutOfStock',
    read: value => (/^[A-Za-z_][\w.-]*$/.test(value) ? { kind: 'fault', name: value } : undefined),
  },
  expired: { form: 'expired', read: value => (value === '' ? { kind: 'expired' } : undefined) },
  unavailable: {
    form: 'unavailable or unavailable=30',
    read: value => (/^[0-9]{0,6}$/.test(value) ? { kind: 'unavailable', seconds: Number(value || 5) } : undefined),
  },
  duplicate: { form: 'duplicate', read: value => (value === '' ? { kind: 'duplicate' } : undefined) },
}

/** How each kind is written, for help texts and errors. */
export const misbehaviourForms: readonly string[] = Object.values(forms).map(({ form }) => form)

/** `delay=2s; cut` as data; a text explains what is wrong. */
export function parseMisbehaviours(text: string): readonly Misbehaviour[] | string {
  const found: Misbehaviour[] = []
  for (const part of text.split(/[;,]/).map(each => each.trim())) {
    if (part === '') continue
    const [name = '', ...value] = part.split('=')
    const form = Object.hasOwn(forms, name) ? forms[name as Misbehaviour['kind']] : undefined // checked just before
    const one = form?.read(value.join('=').trim())
    if (!one) return `"${part}" is not a behaviour of the mock: use ${form?.form ?? misbehaviourForms.join('; ')}`
    found.push(one)
  }
  return found
}

type MisbehaviourOf<K> = Extract<Misbehaviour, { readonly kind: K }>
export const findKind = <K extends Misbehaviour['kind']>(
  all: readonly Misbehaviour[],
  kind: K,
): MisbehaviourOf<K> | undefined => all.find((each): each is MisbehaviourOf<K> => each.kind === kind)

/** Whether the connection shows the misbehaviour, since no server's response may. */
export const isOfConnection = (all: readonly Misbehaviour[]): boolean =>
  (['cut', 'length', 'duplicate'] as const).some(kind => findKind(all, kind) !== undefined)

/** The content without its end and with a sign that begins a tag; undefined: it is empty. */
export function breakContent(content: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(content).toString('utf8').trimEnd()
  return text === '' ? undefined : Buffer.from(`${text.slice(0, -1)}<`)
}

/**
 * The document with another namespace instead of its own, or of its Body's child; undefined: it has
 * none.
 */
export function changeNamespace(content: Uint8Array): Uint8Array | undefined {
  const document = parseXml(content)
  if (document instanceof Malformed) return undefined
  const { root } = document
  const body = [...root.elements()].find(each => each.name.local === 'Body')
  const uri = (body ? [...body.elements()][0] : root)?.name.uri
  if (!uri) return undefined
  const text = Buffer.from(content).toString('utf8')
  const changed = text.replaceAll(`"${uri}"`, '"urn:diglot:mock:wrong-namespace"')
  return changed === text ? undefined : Buffer.from(changed)
}

/** Whether the message states its times (WSS SOAP Message Security 1.1 §10). */
export function hasTimestamp(content: Uint8Array): boolean {
  const document = parseXml(content)
  if (document instanceof Malformed) return false
  const [header] = [...document.root.elements()].filter(each => each.name.local === 'Header')
  const blocks = [...(header?.elements() ?? [])].flatMap(each => [...each.elements()])
  return blocks.some(({ name }) => name === TimestampName)
}

/** A head with a given Content-Length, and the octets after it. */
export function writeWire(
  head: (length: number) => string,
  content: Uint8Array,
  all: readonly Misbehaviour[],
): Uint8Array {
  const by = findKind(all, 'length')?.by ?? 0
  const start = Buffer.from(head(Math.max(0, content.length + by)), 'latin1')
  const once = Buffer.concat([start, content])
  const octets = findKind(all, 'duplicate') ? Buffer.concat([once, once]) : once
  if (!findKind(all, 'cut')) return octets
  const middle = content.length > 1 ? start.length + Math.floor(content.length / 2) : Math.floor(start.length / 2)
  return octets.subarray(0, middle)
}
