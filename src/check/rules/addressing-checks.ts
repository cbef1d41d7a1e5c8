/** B2.11 and B4.11: messages with the blocks of WS-Addressing 1.0, and what answers them. */
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

/** One message of a safe operation for each version, its reply to come with the response. */
export const sendAddressed = (trial: Trial): Promise<readonly AddressedExchange[]> =>
  trial.bench.once('addressed', () => sendEach(trial, listProbeOperations(trial.bench)))

/** The same of operations that fail. */
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
 * @param action of the Action block; undefined leaves it out. Default: that of the operation
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

const actionOf = ({ endpoint, operation }: Omit<ProbeOperation, 'answered'>): string =>
  operation.action || `${endpoint.document.targetNamespace}/${operation.name}`

/** SOAP Binding §4, §6.4: an Action that is missing, or another one than that of HTTP. */
export async function expectActionBlock(trial: Trial, probe: Omit<ProbeOperation, 'answered'>): Promise<void> {
  const { answered: bare } = await sendWithBlocks(trial, probe, 'anonymous', {})
  trial.expect(!isAnswer(bare), 'a message with a MessageID and no Action is refused', bare)
  if (probe.operation.action === '') return
  const { answered } = await sendWithBlocks(trial, probe, 'anonymous', { action: 'urn:example:another-action' })
  trial.expect(!isAnswer(answered), 'an Action that is not that of HTTP is refused', answered)
}

/** The text of an addressing block of the answer; empty without one. */
export const readBlockText = (answered: ProbeExchange, local: string): string =>
  blockNamed(readSoapMessage(answered), addressingNamespace, local)?.text.trim() ?? ''

/** Core §3.3 and Metadata §4.4: where the description declares actions, that of the reply. */
export function expectReplyAction(trial: Trial, { probe, answered }: AddressedExchange): void {
  const described = trial.bench.service.soap.find(({ document }) => document === probe.endpoint.document)
  if (!/:Action=["']/.test(described?.described.text ?? '')) return
  const { reply } = probe.operation.addressedAs
  const given = readBlockText(answered, 'Action')
  trial.expect(given === reply, `its Action is ${reply}${given === reply ? '' : `, not ${given}`}`, answered)
}

/** Core §3.2: two messages have two identifiers. */
export function expectOwnIdentifiers(trial: Trial, answers: readonly AddressedExchange[]): void {
  const given = answers.filter(({ answered }) => readBlockText(answered, 'MessageID') !== '')
  const ids = new Set(given.map(({ answered }) => readBlockText(answered, 'MessageID')))
  if (ids.size < given.length)
    trial.expect(false, 'each response has a MessageID of its own', ...given.map(({ answered }) => answered))
}
