/** B2.11 and B4.11: messages with blocks of WS-Addressing 1.0, and the responses to them. */
import type { ProbeExchange } from '../probe-message.ts'
import { listProbeOperations, type ProbeOperation, sendMessage } from '../soap-discovery.ts'
import { addressingNamespace, blockNamed, isAnswer, readSoapMessage } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { collectFailures } from './soap-failures.ts'

export interface AddressedExchange {
  /** The MessageID that was sent. */
  readonly id: string
  readonly probe: Omit<ProbeOperation, 'answered'>
  readonly answered: ProbeExchange
}

/** One message of a safe operation for each version, whose reply goes into the response. */
export const sendAddressed = (trial: Trial): Promise<readonly AddressedExchange[]> =>
  trial.bench.once('addressed', () => sendEach(trial, listProbeOperations(trial.bench)))

/** The same with operations that fail. */
export const sendAddressedFailures = (trial: Trial): Promise<readonly AddressedExchange[]> =>
  trial.bench.once('addressed failures', () => sendEach(trial, collectFailures(trial.bench)))

async function sendEach(
  trial: Trial,
  probes: Promise<readonly Omit<ProbeOperation, 'answered'>[]>,
): Promise<readonly AddressedExchange[]> {
  const answers: AddressedExchange[] = []
  for (const probe of await probes) answers.push(await sendWithBlocks(trial, probe, 'anonymous'))
  return answers
}

/**
 * @param replyTo the last part of an address that WS-Addressing defines (Core §2.1)
 * @param action the content of the Action block; undefined omits the block. Default: the
 *   operation's action
 */
export async function sendWithBlocks(
  trial: Trial,
  probe: Omit<ProbeOperation, 'answered'>,
  replyTo: 'anonymous' | 'none',
  { action }: { readonly action?: string | undefined } = { action: actionOf(probe) },
): Promise<AddressedExchange> {
  const { endpoint, operation, as, body } = probe
  const id = `urn:uuid:${crypto.randomUUID()}`
  const block = action === undefined ? '' : `<a:Action xmlns:a="${addressingNamespace}">${action}</a:Action>`
  const header = `<a:MessageID xmlns:a="${addressingNamespace}" s:mustUnderstand="1">${id}</a:MessageID><a:To xmlns:a="${addressingNamespace}">${endpoint.port.address}</a:To>${block}<a:ReplyTo xmlns:a="${addressingNamespace}"><a:Address>${addressingNamespace}/${replyTo}</a:Address></a:ReplyTo>`
  return {
    id,
    probe,
    answered: await sendMessage(trial.bench, endpoint, { body, header }, { as, action: operation.action }),
  }
}

/** SOAP Binding §4: that of HTTP, or what the description declares or implies (Metadata §4.4). */
const actionOf = ({ operation }: Omit<ProbeOperation, 'answered'>): string =>
  operation.action || operation.addressedAs.request

/** SOAP Binding §4, §6.4: a missing Action, or one that differs from HTTP's. */
export async function expectActionBlock(trial: Trial, probe: Omit<ProbeOperation, 'answered'>): Promise<void> {
  const { answered: bare } = await sendWithBlocks(trial, probe, 'anonymous', {})
  trial.expect(!isAnswer(bare), 'a message with a MessageID and no Action is refused', bare)
  if (probe.operation.action === '') return
  const { answered } = await sendWithBlocks(trial, probe, 'anonymous', { action: 'urn:example:another-action' })
  trial.expect(!isAnswer(answered), 'an Action that is not that of HTTP is refused', answered)
}

/** The text of an addressing block in the response; empty without one. */
export const readBlockText = (answered: ProbeExchange, local: string): string =>
  blockNamed(readSoapMessage(answered), addressingNamespace, local)?.text.trim() ?? ''

/** Core §3.3 and Metadata §4.4: the action of the reply, where the description declares actions. */
export function expectReplyAction(trial: Trial, { probe, answered }: AddressedExchange): void {
  const described = trial.bench.service.soap.find(({ document }) => document === probe.endpoint.document)
  if (!/:Action=["']/.test(described?.described.text ?? '')) return
  const { reply } = probe.operation.addressedAs
  const stated = readBlockText(answered, 'Action')
  trial.expect(stated === reply, `its Action is ${reply}${stated === reply ? '' : `, not ${stated}`}`, answered)
}

/** Core §3.2: two messages have different identifiers. */
export function expectOwnIdentifiers(trial: Trial, answers: readonly AddressedExchange[]): void {
  const given = answers.filter(({ answered }) => readBlockText(answered, 'MessageID') !== '')
  const ids = new Set(given.map(({ answered }) => readBlockText(answered, 'MessageID')))
  if (ids.size < given.length)
    trial.expect(false, 'each response has a MessageID of its own', ...given.map(({ answered }) => answered))
}
