/**
 * Reads faults in both structures (SOAP 1.1 §4.4; SOAP 1.2 Part 1 §5.4), and the declared faults in
 * their Detail.
 */
import type { Fault } from '../contract/fault.ts'
import { everyFault, type Message, toXmlName } from '../contract/xml-message.ts'
import { compileRowReader } from '../soap/codecs/literal-read.ts'
import { type LiteralReading, qualifiedSpace, type ReadValue, type TypeSpace, xsiType } from '../soap/codecs/values.ts'
import type { Code, Reason } from '../soap/fault.ts'
import { readAddressing } from '../soap/headers/addressing.ts'
import { Refused } from '../soap/refusal.ts'
import { type SoapVersion, versions } from '../soap/version.ts'
import { type Element, internName, internTransient, type Name, walkTree, xmlUri } from '../xml/index.ts'
import type { FaultRead } from './errors.ts'

/** The faults that a service may send, by the element of each; it may have several types. */
export type Faults = ReadonlyMap<Name, readonly FaultEntry[]>
export interface FaultEntry {
  /** The faults with this detail, in the order of their declaration. */
  readonly faults: readonly KnownFault[]
  readonly read: ReadEntry
  /** Whether the detail may say by `xsi:type` that it has the type of this name. */
  readonly isOfType?: (name: Name) => boolean
  /** The fault is about a header block, so its element is one, too (SOAP 1.1 §4.4). */
  readonly mayBeBlock?: boolean
}
export interface KnownFault {
  readonly fault: Fault
  /** The [action] of its message. */
  readonly action?: string
}
/** An entry of Detail by its schema, with what breaks a bound in the reading. */
export type ReadEntry = (entry: Element, reading: LiteralReading) => unknown

/** Readers of the faults that a version declares, and of those that every service has. */
export function compileFaultReaders(all: readonly Message[], namespace: string, types: TypeSpace): Faults {
  return new Map(
    everyFault(all).map(fault => [
      internName(namespace, toXmlName(fault.fault)),
      [{ faults: [{ fault }], read: readEntryBy(compileRowReader(fault.detail, qualifiedSpace(namespace, types))) }],
    ]),
  )
}

/** For a reader whose cursor is at the `start` of the entry. */
export const readEntryBy =
  (read: ReadValue): ReadEntry =>
  (entry, reading) => {
    const cursor = walkTree(entry)
    cursor.next()
    return read(cursor, reading)
  }

/**
 * A Fault element in an Envelope of this version. What it lacks is left out, and either structure
 * is read in either version: the meaning of a badly formed fault is worth more than its form.
 *
 * @param blocks the blocks of its message
 */
export function readFault(
  element: Element,
  version: SoapVersion,
  faults: Faults,
  blocks: readonly Element[] = [],
): FaultRead {
  const is11 = ['faultcode', 'faultstring'].some(local => findChild11(element, local))
  const fault = is11 ? readFault11(element) : readFault12(element, version)
  const about = blocks.filter(({ name }) => faults.get(name)?.some(each => each.mayBeBlock))
  return { ...fault, declared: findDeclared([...fault.entries, ...about], faults, findActionText(blocks)) }
}

type FaultBody = Omit<FaultRead, 'declared'>

const findChild = (of: Element | undefined, uri: string, local: string): Element | undefined =>
  of?.elements(internName(uri, local))[0]

const xmlLang = internName(xmlUri, 'lang')
const reasonOf = (element: Element): Reason => ({
  language: element.attribute(xmlLang) ?? '',
  text: element.text.trim(),
})

/** SOAP 1.1: the children are in no namespace; some senders put them into that of the Fault. */
const findChild11 = (fault: Element, local: string): Element | undefined =>
  findChild(fault, '', local) ?? findChild(fault, fault.name.uri, local)
function readFault11(fault: Element): FaultBody {
  const code = readCode(findChild11(fault, 'faultcode'))
  const string = findChild11(fault, 'faultstring')
  return {
    code: code && standardCodeOf(code),
    codes: code ? [code] : [],
    reasons: string ? [reasonOf(string)] : [],
    node: findChild11(fault, 'faultactor')?.text.trim(),
    role: undefined,
    entries: findChild11(fault, 'detail')?.elements() ?? [],
  }
}

function readFault12(fault: Element, { namespace }: SoapVersion): FaultBody {
  const at = (of: Element | undefined, local: string) => findChild(of, namespace, local)
  const codes: Name[] = []
  for (let code = at(fault, 'Code'); code; code = at(code, 'Subcode')) {
    const value = readCode(at(code, 'Value'))
    if (value) codes.push(value)
  }
  const [first] = codes
  return {
    code: first && standardCodeOf(first),
    codes,
    reasons: at(fault, 'Reason')?.elements(internName(namespace, 'Text')).map(reasonOf) ?? [],
    node: at(fault, 'Node')?.text.trim(),
    role: at(fault, 'Role')?.text.trim(),
    entries: at(fault, 'Detail')?.elements() ?? [],
  }
}

/**
 * A QName in content. Many senders use a prefix without declaring it: its namespace is empty then.
 */
function readCode(element: Element | undefined): Name | undefined {
  const [, prefix = '', local] = /^(?:([^:\s]+):)?([^:\s]+)$/.exec(element?.text.trim() ?? '') ?? []
  return local === undefined ? undefined : internTransient(element?.namespace(prefix) ?? '', local)
}

/** The words of both versions. SOAP 1.1 §4.4.1: `Client.Authentication` is a Client. */
const codeOfWord: Readonly<Record<string, Code>> = {
  VersionMismatch: 'VersionMismatch',
  MustUnderstand: 'MustUnderstand',
  DataEncodingUnknown: 'DataEncodingUnknown',
  Sender: 'Sender',
  Client: 'Sender',
  Receiver: 'Receiver',
  Server: 'Receiver',
}

function standardCodeOf({ uri, local }: Name): Code | undefined {
  const isOfSoap = uri === '' || versions.some(each => each.namespace === uri)
  const [generic = ''] = local.split('.')
  return isOfSoap && Object.hasOwn(codeOfWord, generic) ? codeOfWord[generic] : undefined
}

const findActionText = (blocks: readonly Element[]): string | undefined =>
  readAddressing(blocks)?.byProperty.get('Action')?.[0]?.text.trim()

/**
 * The first entry that is the element of a declared fault and valid by its schema. If several
 * faults have this element, its `xsi:type` names one, or the [action] does (WS-Addressing 1.0
 * Metadata §4.4.1), or nothing does.
 */
function findDeclared(entries: readonly Element[], faults: Faults, action: string | undefined): FaultRead['declared'] {
  for (const entry of entries) {
    const candidates = listCandidates(entry, faults).flatMap(known => {
      const detail = readDetail(entry, known.read)
      return detail === undefined ? [] : known.faults.map(each => ({ ...each, detail, alike: known.faults }))
    })
    const named =
      candidates.length > 1 && action !== undefined ? candidates.find(each => each.action === action) : undefined
    const [first] = candidates
    if (named) return { fault: named.fault, detail: named.detail }
    if (first)
      return { fault: first.fault, detail: first.detail, names: first.alike.map(({ fault: { fault } }) => fault) }
  }
  return undefined
}

function listCandidates(entry: Element, faults: Faults): readonly FaultEntry[] {
  const entries = faults.get(entry.name) ?? []
  const type = entries.length > 1 ? entry.qname(entry.attribute(xsiType)?.trim() ?? '') : undefined
  const typed = type ? entries.filter(each => each.isOfType?.(type)) : []
  return typed.length > 0 ? typed : entries
}

function readDetail(entry: Element, read: ReadEntry): unknown {
  const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
  try {
    const detail = read(entry, reading)
    return reading.flaws.length === 0 ? detail : undefined
  } catch (thrown) {
    if (thrown instanceof Refused) return undefined
    throw thrown
  }
}
