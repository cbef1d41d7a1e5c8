/** B2.2, B2.4, B2.5, B7.2: the parts of an Envelope, its blocks, and those that explain a Fault. */

import { parseClarkName } from '../../base/clark-name.ts'
import type { WsdlOperation } from '../../describe/index.ts'
import type { Element } from '../../xml/index.ts'
import type { Bench } from '../bench.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import type { ProbeExchange } from '../probe-message.ts'
import {
  isSafe,
  listProbeOperations,
  type ProbeOperation,
  sendAsFirstAccepted,
  sendMessage,
  writeOperationBody,
} from '../soap-discovery.ts'
import { type ReadMessage, type SoapWords, writeProbeElement, writeSoapMessage } from '../soap-message.ts'
import { SchemaSampler } from '../xsd-sample.ts'

/** An element that is in no description. */
export const unknownBody = '<q:NoSuchOperation xmlns:q="urn:example:diglot-check"/>'

interface OddEnvelope {
  readonly subject: string
  readonly text: string
  /** The element in its first Body is unknown: a service may refuse it for that alone. */
  readonly isUnknown?: true
}

/** A message with wrong parts, and the response to it. */
export interface OddMessage extends Omit<OddEnvelope, 'text'> {
  readonly words: SoapWords
  readonly answered: ProbeExchange
}

/**
 * SOAP 1.1 §4; SOAP 1.2 Part 1 §5.1. Nothing forbids content after the Body of SOAP 1.1, so if
 * there are two Bodies the first one counts.
 */
function listOddEnvelopes({ endpoint: { words }, body }: ProbeOperation): readonly OddEnvelope[] {
  const write = (...parts: readonly string[]): string =>
    `<s:Envelope xmlns:s="${words.namespace}">${parts.join('')}</s:Envelope>`
  const usual = `<s:Body>${body}</s:Body>`
  return [
    { subject: 'a Header after the Body', text: write(usual, '<s:Header/>') },
    { subject: 'an Envelope without Body', text: writeSoapMessage(words, {}) },
    { subject: 'a Body behind another one', text: write(`<s:Body>${unknownBody}</s:Body>`, usual), isUnknown: true },
    ...(words.number === '1.1' ? [] : [{ subject: 'an Envelope with two Bodies', text: write(usual, usual) }]),
  ]
}

/** Messages of a safe operation, each with parts that an Envelope does not have. */
export const sendOddEnvelopes = (bench: Bench): Promise<readonly OddMessage[]> =>
  bench.once('odd envelopes', async () => {
    const sent: OddMessage[] = []
    for (const probe of await listProbeOperations(bench)) {
      const { endpoint, as, operation } = probe
      for (const { text, ...odd } of listOddEnvelopes(probe)) {
        const answered = await sendMessage(bench, endpoint, {}, { as, action: operation.action, text })
        sent.push({ ...odd, words: endpoint.words, answered })
      }
    }
    return sent
  })

export interface DeclaredBlocks {
  readonly operation: WsdlOperation
  /** Local names. */
  readonly names: readonly string[]
  readonly answered: ProbeExchange
}

/**
 * For each endpoint, a safe message with the blocks that its description declares, all of them
 * mandatory (WSDL 1.1 §3.7).
 */
export async function sendDeclaredBlocks(bench: Bench): Promise<readonly DeclaredBlocks[]> {
  const sent: DeclaredBlocks[] = []
  for (const endpoint of bench.service.soap.flatMap(({ endpoints }) => endpoints))
    for (const operation of endpoint.port.operations) {
      const blocks = operation.output && isSafe(bench, operation.name) ? writeDeclaredBlocks(endpoint, operation) : []
      if (blocks.length === 0) continue
      const names = blocks.map(({ local }) => local)
      const header = blocks.map(({ text }) => text).join('')
      const body = writeOperationBody(bench, endpoint, operation)
      const { answered } = await sendAsFirstAccepted(bench, endpoint, operation, { header, body })
      sent.push({ operation, names, answered })
      break
    }
  return sent
}

function writeDeclaredBlocks({ document }: SoapEndpointTarget, { input }: WsdlOperation) {
  const sampler = new SchemaSampler(document.schemas)
  return (input?.headers ?? []).flatMap(({ element }) => {
    const name = parseClarkName(element ?? '')
    const declared = name && sampler.find('element', name.uri, name.local)
    if (!declared) return []
    const { uri, local } = name
    const text = writeProbeElement(uri, local, sampler.writeContent(declared), ' s:mustUnderstand="1"')
    return [{ local, text }]
  })
}

/** The name in the attribute `qname` in Clark's notation; a value that names nothing unchanged. */
export function readNamedElement(element: Element): string {
  const qname = element.attributes.find(({ name }) => name.uri === '' && name.local === 'qname')?.value ?? ''
  const name = element.qname(qname.trim())
  return name === undefined ? `"${qname}"` : `{${name.uri}}${name.local}`
}

/** SOAP 1.2 Part 1 §5.4.8: the blocks that a MustUnderstand fault names; it need not name any. */
export const listNotUnderstood = ({ header, words }: ReadMessage): readonly string[] =>
  (header?.elements() ?? [])
    .filter(({ name }) => name.uri === words.namespace && name.local === 'NotUnderstood')
    .map(readNamedElement)
