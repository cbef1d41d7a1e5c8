/** Compares what an earlier release described with what is still described (A9.4, B9.2). */
import type { LostPromises, PublishedWsdl } from '../../describe/index.ts'
import type { SoapTarget } from '../discovered-service.ts'
import type { ProbeExchange } from '../probe-message.ts'
import type { Trial } from '../trial.ts'

/** A9.4 */
export async function expectRestKept(trial: Trial): Promise<void> {
  const { options, service, exchanges } = trial.bench
  const { openapi } = service
  const find = options.earlier?.findRestBreaks
  if (!find) trial.lack('the OpenAPI document of an earlier release: --before')
  if (openapi === undefined) trial.lack('an OpenAPI document of the service now: --openapi')
  const isGiven = options.openapi !== undefined
  const described = isGiven ? undefined : exchanges.find(({ json }) => json === openapi)
  const read = described ? { text: described.text } : { json: openapi }
  expectKept(trial, await find(read), described ? [described] : [])
}

/** B9.2 */
export async function expectSoapKept(trial: Trial): Promise<void> {
  const { options, service } = trial.bench
  const find = options.earlier?.findSoapBreaks
  if (!find) trial.lack('the WSDL of an earlier release: --before')
  const readable = service.soap.filter(({ document }) => document !== undefined)
  if (readable.length === 0) trial.lack('a WSDL of the service now: --wsdl')
  const evidence = readable.map(({ described }) => described)
  expectKept(trial, await find(readable.map(toPublished)), evidence)
}

const toPublished = ({ location, described, find }: SoapTarget): PublishedWsdl => ({
  ...{ location, find },
  octets: described.reply.content,
})

function expectKept(trial: Trial, lost: LostPromises, evidence: readonly ProbeExchange[]): void {
  if ('needs' in lost) trial.lack(lost.needs)
  const { breaks, remarks } = lost
  trial.bench.remarks.push(...remarks)
  for (const each of breaks) trial.expect(false, each, ...evidence)
  if (breaks.length === 0)
    trial.expect(true, 'what callers of the earlier release rely on is still described', ...evidence)
}
