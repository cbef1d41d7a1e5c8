/** B2: the structure of messages and of their descriptions. */

import { memoizeByObject } from '../../base/memo.ts'
import { type Element, Malformed, parseXml } from '../../xml/index.ts'
import type { Bench } from '../bench.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import { type ProbeExchange, requireUnreachable } from '../probe-message.ts'
import { readAsFirstAllowed } from '../reading.ts'
import type { CheckRule } from '../rule.ts'
import { findSafeOperations, listProbeOperations, type ProbeOperation, sendMessage } from '../soap-discovery.ts'
import { childNamed, childrenIn, isAnswer, type ReadMessage, readSoapMessage, type SoapWords } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { SchemaJudge } from '../xsd-judge.ts'
import {
  expectActionBlock,
  expectOwnIdentifiers,
  expectReplyAction,
  readBlockText,
  sendAddressed,
  sendAddressedFailures,
  sendWithBlocks,
} from './addressing-checks.ts'
import { findEncodingFlaw } from './encoding-checks.ts'
import { listNotUnderstood, sendDeclaredBlocks, sendOddEnvelopes } from './envelope-checks.ts'
import { isOfOtherVersion } from './version-checks.ts'
import { compareDescriptions } from './wsdl20-checks.ts'

const probeNamespace = 'urn:example:diglot-check'

/** Sends a message of a safe operation, changed as the rule needs. */
export const sendChanged = (
  trial: Trial,
  { endpoint, as, operation, body }: ProbeOperation,
  header: string | undefined,
  more: { readonly bodyAttributes?: string; readonly body?: string; readonly namespace?: string } = {},
) =>
  sendMessage(
    trial.bench,
    endpoint,
    { body, ...(header !== undefined && { header }), ...more },
    { as, action: operation.action },
  )

export const writeBlock = (local: string, attributes = ''): string =>
  `<x:${local} xmlns:x="${probeNamespace}"${attributes}/>`

export const messageRules: readonly CheckRule[] = [
  {
    id: 'B2.1',
    says: 'Envelope is the root; its namespace URI alone says the version; the prefix means nothing',
    how: 'a message with an unusual prefix, one with the default namespace, and one with white space and comments between its parts are answered as usual',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { endpoint, as, operation, body } = probe
        for (const [open, close] of [
          ['odd-prefix:', ' xmlns:odd-prefix='],
          ['', ' xmlns='],
        ] as const) {
          const text = `<${open}Envelope${close}"${endpoint.words.namespace}"><${open}Body>${body}</${open}Body></${open}Envelope>`
          const answered = await sendMessage(trial.bench, endpoint, {}, { as, action: operation.action, text })
          trial.expect(
            isAnswer(answered),
            `an Envelope ${open === '' ? 'without prefix' : 'with an unusual prefix'} is accepted`,
            answered,
          )
        }
        const spaced = await sendMessage(
          trial.bench,
          endpoint,
          {},
          { as, action: operation.action, text: spaceOut(probe) },
        )
        trial.expect(isAnswer(spaced), 'white space and comments between the parts are accepted', spaced)
      }
    },
  },
  {
    id: 'B2.2',
    says: 'Header is optional and comes before Body; Body is required',
    how: 'messages with an empty Header, with a Header after the Body, without a Body, with another Body in front, and in SOAP 1.2 with two Bodies',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const empty = await sendChanged(trial, probe, '')
        trial.expect(isAnswer(empty), 'an empty Header is accepted', empty)
      }
      for (const { subject, answered } of await sendOddEnvelopes(trial.bench))
        trial.expect(!answered.isSuccess || isFault(answered), `${subject} is refused`, answered)
    },
  },
  {
    id: 'B2.3',
    says: 'header blocks are independent and each may be aimed at a role (initial sender, intermediary, ultimate receiver)',
    how: 'unknown blocks that are not mandatory, and a mandatory one for another role, or in SOAP 1.2 for the role none, change nothing',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { words } = probe.endpoint
        const optional = await sendChanged(trial, probe, writeBlock('One') + writeBlock('Two', ' s:mustUnderstand="0"'))
        trial.expect(isAnswer(optional), 'unknown blocks that are not mandatory are ignored', optional)
        const elsewhere = ` s:mustUnderstand="1" s:${words.roleAttribute}="${probeNamespace}/another-node"`
        const other = await sendChanged(trial, probe, writeBlock('One', elsewhere))
        trial.expect(isAnswer(other), 'a mandatory block for another role is ignored', other)
        if (words.number === '1.1') continue
        // SOAP 1.2 Part 1 §2.2: no node acts in this role.
        const none = await sendChanged(
          trial,
          probe,
          writeBlock('One', ` s:mustUnderstand="1" s:role="${words.namespace}/role/none"`),
        )
        trial.expect(isAnswer(none), 'a mandatory block for the role none is ignored', none)
      }
    },
  },
  {
    id: 'B2.4',
    says: 'mustUnderstand true on a block for this node that it can’t process: a MustUnderstand fault, nothing ignored',
    how: 'an unknown mandatory block without role, one for the role next, one behind a block that is not mandatory, and in SOAP 1.2 one for the ultimate receiver and one with the word true; a NotUnderstood block of the fault names it',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { words } = probe.endpoint
        for (const [subject, header] of listMandatoryBlocks(words)) {
          const refused = await sendChanged(trial, probe, header)
          const message = readSoapMessage(refused)
          const code = message?.fault?.code
          trial.expect(
            code === 'MustUnderstand',
            `an unknown mandatory block${subject} gives MustUnderstand${code === 'MustUnderstand' ? '' : `, not ${code ?? refused.status}`}`,
            refused,
          )
          const odd = message ? listNotUnderstood(message).filter(name => name !== `{${probeNamespace}}Unknown`) : []
          if (odd.length > 0) trial.expect(false, `NotUnderstood names the block${subject}, not ${odd}`, refused)
        }
      }
    },
  },
  {
    id: 'B2.5',
    says: 'header content: security credentials, signatures, encryption metadata, message and correlation ids, routing, transaction, reliability, policy metadata can be declared, read and written',
    how: 'the blocks that the description of an operation declares, which changes nothing, made from their schema and all mandatory: none is answered as not understood',
    probe: async (trial: Trial) => {
      const sent = await sendDeclaredBlocks(trial.bench)
      if (sent.length === 0) trial.lack('an operation that changes nothing, with header blocks in its description')
      for (const { operation, names, answered } of sent) {
        if (answered.status === 401) trial.lack(`a caller that may call ${operation.name}: --caller`)
        const isUnderstood = readSoapMessage(answered)?.fault?.code !== 'MustUnderstand'
        trial.expect(isUnderstood, `${operation.name} understands ${names.join(', ')}, which it declares`, answered)
      }
    },
  },
  {
    id: 'B2.6',
    says: 'RPC style: the Body child is named after the operation, its children are parameters; the response is named operation + "Response"',
    how: 'a safe operation of an endpoint whose binding has the style rpc: the response is named so, and of a literal one its children are the parts of the description, in no namespace',
    probe: async (trial: Trial) => {
      const found = await findByStyle(trial.bench, 'rpc')
      if (!found) trial.skip('no described endpoint has the style rpc')
      const answer = readSoapMessage(found.answered)?.child
      trial.expect(
        answer?.name.local === `${found.operation.name}Response`,
        'the response is named operation + Response',
        found.answered,
      )
      const expected = found.operation.output?.namespace
      trial.expect(
        expected === undefined || answer?.name.uri === expected,
        'it is in the namespace of the binding',
        found.answered,
      )
      if (answer && found.operation.output?.use === 'literal') expectParts(trial, found, answer)
    },
  },
  {
    id: 'B2.7',
    says: 'document style: the Body child is a business document defined by a schema; document/literal, wrapped included, is the default',
    how: 'the Body’s child in the response to a safe operation of each endpoint is the element that the description declares; every answer of the run is valid by its schema; B9.3 judges elements of another version',
    isPassive: true,
    probe: async (trial: Trial) => {
      const documents = await listDocumentOperations(trial.bench)
      if (documents.length === 0) trial.skip('no described endpoint has the style document')
      for (const { endpoint, operation, answered } of documents) {
        const child = readSoapMessage(answered)?.child
        if (child && isOfOtherVersion(trial.bench, endpoint, child)) continue
        const [part] = operation.output?.parts ?? []
        const given = child && `{${child.name.uri}}${child.name.local}`
        trial.expect(
          given === part?.element,
          `the response is ${part?.element}${given === part?.element ? '' : `, not ${given}`}`,
          answered,
        )
      }
      for (const { exchange, endpoint, judge, message } of listJudgedMessages(trial.bench)) {
        const answers = message.fault ? [] : message.body.elements()
        if (message.child && isOfOtherVersion(trial.bench, endpoint, message.child)) continue
        const elementsMax = Math.max(1, ...endpoint.port.operations.map(({ output }) => output?.parts.length ?? 0))
        const wrong =
          answers.length > elementsMax && isLiteral(exchange.text)
            ? `the Body has ${answers.length} elements`
            : answers.map(each => judge.findMismatch(each)).find(each => each !== undefined)
        if (wrong !== undefined) trial.expect(false, `an answer is valid by its schema: ${wrong}`, exchange)
      }
    },
  },
  {
    id: 'B2.8',
    says: 'encoding: literal (follows an XML Schema) or encoded (SOAP encoding rules, references included)',
    how: 'responses of literal bindings name no encoding; those of encoded bindings name that of their version, or type their values: an array has as many members as it says, and its type, and a reference leads to a value',
    probe: async (trial: Trial) => {
      for (const probe of await listAllOperations(trial.bench)) {
        const { answered, operation } = probe
        const isEncoded = operation.output?.use === 'encoded'
        const child = readSoapMessage(answered)?.child
        // A literal response may name the derived type of an element (XML Schema Part 1 §2.6.1).
        const signs = isEncoded ? /:?encodingStyle=|:type=/ : /:?encodingStyle=/
        const named = child !== undefined && signs.test(answered.text)
        trial.expect(
          named === isEncoded,
          `the response of a ${isEncoded ? 'encoded' : 'literal'} binding ${isEncoded ? 'says so' : 'names no encoding'}`,
          answered,
        )
        const message = isEncoded ? readSoapMessage(answered) : undefined
        const flaw = message && findEncodingFlaw(message)
        if (flaw !== undefined) trial.expect(false, flaw, answered)
      }
    },
  },
  {
    id: 'B2.9',
    says: 'SOAP 1.2 Fault: Code (Value, nested Subcode), Reason (Text with xml:lang, one or more), Node, Role, Detail',
    how: 'the structure of every SOAP 1.2 fault of the run, including its Code and Subcodes',
    isPassive: true,
    probe: (trial: Trial) => {
      for (const exchange of trial.bench.exchanges) {
        const message = readSoapMessage(exchange)
        if (!message?.fault || message.words.number !== '1.2') continue
        const names = message.fault.element.elements().map(({ name }) => name.local)
        const isOrdered = /^Code Reason(?: Node)?(?: Role)?(?: Detail)?$/.test(names.join(' '))
        trial.expect(
          isOrdered,
          `the fault has Code, Reason, Node, Role, Detail in order${isOrdered ? '' : `, not ${names.join(' ')}`}`,
          exchange,
        )
        const texts = childNamed(message.fault.element, 'Reason')?.elements() ?? []
        const isSaid =
          texts.length > 0 &&
          texts.every(
            each =>
              each.name.local === 'Text' &&
              each.attributes.some(({ name, prefix }) => prefix === 'xml' && name.local === 'lang'),
          )
        trial.expect(isSaid, 'Reason has Text, each with xml:lang', exchange)
        const isCode = hasCodeParts(childNamed(message.fault.element, 'Code'), message.words)
        trial.expect(isCode, 'Code, and each Subcode, has a Value', exchange)
        const parts = message.fault.element.elements()
        const isOfVersion = [...parts, ...texts].every(({ name }) => name.uri === message.words.namespace)
        trial.expect(isOfVersion, 'the parts of the fault are in the namespace of the Envelope', exchange)
      }
    },
  },
  {
    id: 'B2.10',
    says: 'fault codes VersionMismatch, MustUnderstand, DataEncodingUnknown, Sender, Receiver (1.1: Client, Server)',
    how: 'the code of every fault of the run is one of its version, in its namespace',
    isPassive: true,
    probe: (trial: Trial) => {
      for (const exchange of trial.bench.exchanges) {
        const message = readSoapMessage(exchange)
        if (!message?.fault) continue
        const { code, codeNamespace = '', codeText } = message.fault
        // SOAP 1.1 §4.4.1 allows other specifications to add their own codes, as WS-Security does.
        if (message.words.number === '1.1' && code === undefined && codeNamespace !== '') continue
        const isOne = code !== undefined && message.words.faultCodes.includes(code)
        trial.expect(
          isOne,
          `the code is of SOAP ${message.words.number}${isOne ? '' : `, not "${codeText}"`}`,
          exchange,
        )
      }
    },
  },
  {
    id: 'B2.11',
    says: 'addressing: MessageID, To, Action, ReplyTo, RelatesTo',
    how: 'a message with the mandatory blocks of WS-Addressing 1.0 is accepted, unless it is refused with MustUnderstand, and its response has Action, that of the description; so has a Fault; two responses have two MessageIDs; ReplyTo with the address none is left unanswered; a message whose Action is missing, or is not that of HTTP, is refused',
    probe: async (trial: Trial) => {
      const answers = await sendAddressed(trial)
      for (const each of answers) {
        const { answered } = each
        if (readSoapMessage(answered)?.fault?.code === 'MustUnderstand')
          trial.skip('the endpoint does not understand blocks of WS-Addressing, and says so')
        trial.expect(isAnswer(answered), 'a message with WS-Addressing is accepted', answered)
        trial.expect(readBlockText(answered, 'Action') !== '', 'the response has Action', answered)
        if (isAnswer(answered)) expectReplyAction(trial, each)
      }
      expectOwnIdentifiers(trial, answers)
      for (const { answered } of await sendAddressedFailures(trial))
        trial.expect(readBlockText(answered, 'Action') !== '', 'a Fault has Action', answered)
      for (const { probe } of answers) {
        await expectActionBlock(trial, probe)
        const { answered } = await sendWithBlocks(trial, probe, 'none')
        trial.expect(!isAnswer(answered), 'a message with ReplyTo none is left unanswered', answered)
      }
    },
  },
  {
    id: 'B2.12',
    says: 'WSDL 1.1: definitions, types, message, portType, binding, service, port, address location',
    how: 'each document is read with all its references; each port has an address and operations',
    probe: (trial: Trial) => {
      const { soap } = trial.bench.service
      if (soap.length === 0) trial.lack('a WSDL document: --wsdl')
      for (const { document, described, location } of soap) {
        if (!document) trial.expect(false, `${location} is a WSDL 1.1 document`, described)
        else {
          trial.expect(
            document.flaws.length === 0,
            document.flaws.length === 0 ? `${location} has no flaw` : document.flaws.join(', '),
            described,
          )
          // A document may bind its operations to plain HTTP, too.
          const ports = document.services.flatMap(each => each.ports).filter(({ soap }) => soap !== undefined)
          const isUsable =
            ports.length > 0 &&
            ports.every(({ address, operations }) => URL.canParse(address ?? '') && operations.length > 0)
          trial.expect(isUsable, 'each port has an address and operations', described)
        }
      }
    },
  },
  {
    id: 'B2.13',
    says: 'WSDL 2.0: description, types, interface, binding, service, endpoint',
    how: 'GET of ?wsdl2 at each endpoint: a description with an interface, a binding, and a service with an endpoint at this address; its service, operations and elements are those of the WSDL 1.1 by which the endpoint answers',
    probe: async (trial: Trial) => {
      const described = Map.groupBy(
        trial.bench.service.soap.flatMap(each => each.endpoints),
        ({ path }) => path,
      )
      if (described.size === 0) trial.lack('a WSDL document: --wsdl')
      for (const [path, endpoints] of described) {
        const read = await readAsFirstAllowed(trial.bench, `${path}?wsdl2`)
        const parsed = read.isSuccess ? parseXml(read.reply.content) : undefined
        const isMeant = /xml/.test(read.mediaType) && read.text.includes('http://www.w3.org/ns/wsdl"')
        if (parsed instanceof Malformed && isMeant) trial.expect(false, `it is well-formed: ${parsed.reason}`, read)
        if (!parsed || parsed instanceof Malformed || parsed.root.name.local !== 'description') continue
        const root = parsed.root
        const parts = new Set(childrenIn(root, 'http://www.w3.org/ns/wsdl').map(({ name }) => name.local))
        const missing = ['interface', 'binding', 'service'].filter(each => !parts.has(each))
        trial.expect(
          missing.length === 0,
          missing.length === 0
            ? 'the description has interface, binding and service'
            : `the description lacks ${missing}`,
          read,
        )
        trial.expect(
          childNamed(childNamed(root, 'service'), 'endpoint') !== undefined,
          'the service has an endpoint',
          read,
        )
        if (trial.findings.every(({ holds }) => holds)) compareDescriptions(trial, read, path, endpoints)
      }
      if (trial.findings.length === 0) trial.skip('no endpoint answers ?wsdl2 with a WSDL 2.0 document')
    },
  },
  {
    id: 'B2.14',
    says: 'no WSDL is needed to exchange messages; a WSDL may describe other than SOAP',
    how: 'not probed from outside: a check without a description knows no operation',
    probe: (trial: Trial) => trial.lack('an endpoint without a description, and a message that it accepts'),
  },
]

/** SOAP 1.2 Part 1 §5: white space and comments may stand between elements. */
function spaceOut({ endpoint, body }: ProbeOperation): string {
  const lines = [
    '<!-- probe -->',
    `<s:Envelope xmlns:s='${endpoint.words.namespace}'>`,
    '  <!-- probe -->',
    '  <s:Body>',
    '    <!-- probe -->',
    `    ${body}`,
    '  </s:Body>',
    '</s:Envelope>',
  ]
  return `${lines.join('\n')}\n`
}

/** SOAP 1.2 Part 1 §5.4.1: a Value, then at most one Subcode with the same structure. */
function hasCodeParts(code: Element | undefined, words: SoapWords): boolean {
  const [value, subcode, ...others] = code?.elements() ?? []
  const isOf = (element: Element, local: string) => element.name.uri === words.namespace && element.name.local === local
  if (!value || !isOf(value, 'Value') || others.length > 0) return false
  return subcode === undefined || (isOf(subcode, 'Subcode') && hasCodeParts(subcode, words))
}

/** WSDL 1.1 §3.5; WS-I Basic Profile 1.1 R2735: the accessors of parts are in no namespace. */
function expectParts(trial: Trial, { operation, answered }: ProbeOperation, answer: Element): void {
  const names = (operation.output?.parts ?? []).map(({ name }) => name)
  const odd = answer.elements().filter(({ name }) => name.uri !== '' || !names.includes(name.local))
  const oddNames = odd.map(({ name }) => `{${name.uri}}${name.local}`)
  trial.expect(
    odd.length === 0,
    `its children are the parts ${names}${odd.length === 0 ? '' : `, not ${oddNames}`}`,
    answered,
  )
}

/** The phrase after "a mandatory block", and the Header. */
function listMandatoryBlocks(words: SoapWords): readonly (readonly [subject: string, header: string])[] {
  const mandatory = ' s:mustUnderstand="1"'
  const [role, receiver] = [` s:${words.roleAttribute}="${words.next}"`, `${words.namespace}/role/ultimateReceiver`]
  return [
    ['', writeBlock('Unknown', mandatory)],
    [' for next', writeBlock('Unknown', mandatory + role)],
    [' behind another block', writeBlock('Optional') + writeBlock('Unknown', mandatory)],
    ...(words.number === '1.1'
      ? []
      : [
          [' for the ultimate receiver', writeBlock('Unknown', `${mandatory} s:role="${receiver}"`)] as const,
          [' with the word true', writeBlock('Unknown', ' s:mustUnderstand="true"')] as const,
        ]),
  ]
}

/** The Body of an encoded message may have several elements. */
const isLiteral = (text: string): boolean => !/encodingStyle=/.test(text)

interface JudgedMessage {
  readonly exchange: ProbeExchange
  readonly message: ReadMessage
  readonly endpoint: SoapEndpointTarget
  readonly judge: SchemaJudge
}

/** The responses of described endpoints, each with the schemas of its description. */
export function listJudgedMessages({ service, exchanges }: Bench): readonly JudgedMessage[] {
  const endpoints = new Map(service.soap.flatMap(each => each.endpoints.map(one => [one.path, one] as const)))
  return exchanges.flatMap(exchange => {
    const endpoint = endpoints.get(exchange.request.target)
    const message = endpoint && readSoapMessage(exchange)
    if (!message || hasForeignAction(exchange, endpoint)) return []
    return [{ exchange, message, endpoint, judge: judgeOf(endpoint.document.schemas) }]
  })
}
const judgeOf = memoizeByObject((schemas: readonly Element[]) => new SchemaJudge(schemas))

/** B4.3 judges which of two operations responds: the action's or the Body's. */
function hasForeignAction({ request }: ProbeExchange, { port }: SoapEndpointTarget): boolean {
  const { soapaction, 'content-type': type = '' } = request.fields
  const action = (soapaction ?? /action="?([^";]*)/.exec(type)?.[1] ?? '').replaceAll('"', '')
  const named = port.operations.find(each => each.action !== '' && each.action === action)
  const local = (named?.input?.parts[0]?.element ?? '').replace(/^.*\}/, '')
  return local !== '' && !new RegExp(`[<:]${local}[\\s/>]`).test(Buffer.from(request.content ?? []).toString('latin1'))
}

const isFault = (exchange: ProbeExchange): boolean => readSoapMessage(exchange)?.fault !== undefined

export async function listAllOperations(bench: Bench): Promise<readonly ProbeOperation[]> {
  const found = await listProbeOperations(bench)
  const others = [await findByStyle(bench, 'rpc'), await findEncoded(bench, '1.1'), await findEncoded(bench, '1.2')]
  return [...new Set([...found, ...others])].filter(each => each !== undefined)
}

/** One operation for each document-style endpoint that has a safe one. */
async function listDocumentOperations(bench: Bench): Promise<readonly ProbeOperation[]> {
  const found = (await listProbeOperations(bench)).filter(({ operation }) => operation.style === 'document')
  for (const endpoint of bench.service.soap.flatMap(each => each.endpoints)) {
    if (!endpoint.port.operations.every(({ style }) => style === 'document')) continue
    const [operation] = await findSafeOperations(bench, endpoint).catch(thrown => {
      requireUnreachable(thrown) // the others are judged
      return []
    })
    if (operation && !found.includes(operation)) found.push(operation)
  }
  return found
}

async function findByStyle(bench: Bench, style: 'rpc'): Promise<ProbeOperation | undefined> {
  for (const { endpoints } of bench.service.soap)
    for (const endpoint of endpoints.filter(({ port }) => port.operations.some(each => each.style === style))) {
      const [operation] = await findSafeOperations(bench, endpoint)
      if (operation) return operation
    }
  return undefined
}

/** @param number default: either version */
export async function findEncoded(bench: Bench, number?: SoapWords['number']): Promise<ProbeOperation | undefined> {
  for (const { endpoints } of bench.service.soap)
    for (const endpoint of endpoints.filter(
      ({ port, words }) =>
        words.number === (number ?? words.number) && port.operations.some(each => each.output?.use === 'encoded'),
    )) {
      const [operation] = await findSafeOperations(bench, endpoint)
      if (operation) return operation
    }
  return undefined
}
