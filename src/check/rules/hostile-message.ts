/** Messages that attack an endpoint, and their fate: all are small, and none changes anything. */
import type { Bench } from '../bench.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import { type ProbeExchange, requireUnreachable, Unreachable } from '../probe-message.ts'
import { listProbeOperations, type ProbeOperation, sendMessage } from '../soap-discovery.ts'
import { readSoapMessage } from '../soap-message.ts'
import type { Trial } from '../trial.ts'

const quickMs = 5000

/** By name: a whole message that replaces that of a safe operation. */
export type HostileMessages = readonly (readonly [subject: string, text: string | Uint8Array])[]

/** Sends each instead of the message of each safe operation, and expects all to be refused. */
export async function expectAllRefused(trial: Trial, write: (probe: ProbeOperation) => HostileMessages): Promise<void> {
  for (const probe of await listProbeOperations(trial.bench)) await expectEachRefused(trial, probe, write(probe))
}

/** The same for one operation. @param fields of each request, instead of the usual ones */
export async function expectEachRefused(
  trial: Trial,
  probe: ProbeOperation,
  messages: HostileMessages,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [subject, text] of messages) {
    const refused = await sendText(trial.bench, probe, text, fields).catch(requireUnreachable)
    if (refused instanceof Unreachable) trial.expect(false, `${subject} is answered: ${refused.message}`)
    else expectRefused(trial, subject, refused)
  }
}

export function sendText(
  bench: Bench,
  { endpoint, as, operation }: Pick<ProbeOperation, 'endpoint' | 'as' | 'operation'>,
  text: string | Uint8Array,
  fields: Readonly<Record<string, string>> = {},
): Promise<ProbeExchange> {
  return sendMessage(bench, endpoint, {}, { as, action: operation.action, text, fields })
}

/** Refused promptly, by a Fault or by a status that blames the sender. */
export function expectRefused(trial: Trial, subject: string, refused: ProbeExchange): void {
  const fault = readSoapMessage(refused)?.fault
  const isBlamed = fault
    ? !/^(?:Receiver|Server)$/.test(fault.code ?? '')
    : refused.status >= 400 && refused.status < 500
  const code = fault?.code ?? refused.status
  trial.expect(isBlamed, `${subject} is refused as the fault of its sender${isBlamed ? '' : `, not ${code}`}`, refused)
  trial.expect(refused.reply.tookMs < quickMs, `${subject} is answered within ${quickMs} ms`, refused)
}

export const writeHostileEnvelope = ({ words }: SoapEndpointTarget, body: string, more = ''): string =>
  `<s:Envelope xmlns:s="${words.namespace}"${more}><s:Body>${body}</s:Body></s:Envelope>`

/**
 * Replaces the first text in an element; without one, adds an element with it as the last child.
 */
export function putIntoBody(body: string, content: string): string {
  const leaf = />([^<>]+)<\//
  if (leaf.test(body)) return body.replace(leaf, () => `>${content}</`)
  return body.replace(/<\/[^<>]*>$/, end => `<p:probe>${content}</p:probe>${end}`)
}
