/** Faults of safe operations, which are called for something that does not exist. */
import type { WsdlOperation } from '../../describe/index.ts'
import type { Bench } from '../bench.ts'
import type { CheckCaller, SoapEndpointTarget } from '../discovered-service.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { isSafe, listProbeOperations, sendMessage, writeSampleBody } from '../soap-discovery.ts'
import { readSoapMessage } from '../soap-message.ts'

/** A message that got a Fault, and the response. */
export interface Failure {
  readonly endpoint: SoapEndpointTarget
  readonly operation: WsdlOperation
  readonly as: CheckCaller | undefined
  readonly body: string
  readonly answered: ProbeExchange
}

/** One for each endpoint and operation that fails this way. */
export const collectFailures = (bench: Bench): Promise<readonly Failure[]> =>
  bench.once('failures', async () => {
    const found: Failure[] = []
    for (const { endpoint, as } of await listProbeOperations(bench))
      for (const operation of endpoint.port.operations.filter(each => each.output && isSafe(bench, each.name))) {
        const body = writeSampleBody(endpoint, operation)
        if (!body.includes('>probe<')) continue
        const failed = await sendAsAnyone(bench, { endpoint, operation, as, body })
        if (!isFailure(failed)) continue
        found.push(failed)
        break
      }
    return found
  })

/** Part 2 Table 20: in SOAP 1.2 a sender fault may have status 400. */
const isFailure = ({ endpoint, answered }: Failure): boolean =>
  (answered.status === 500 || (answered.status === 400 && endpoint.words.number === '1.2')) &&
  readSoapMessage(answered)?.fault !== undefined

async function sendAsAnyone(bench: Bench, message: Omit<Failure, 'answered'>): Promise<Failure> {
  const { endpoint, operation, body } = message
  let { as } = message
  let answered = await sendMessage(bench, endpoint, { body }, { as, action: operation.action })
  for (const caller of bench.callers) {
    if (answered.status !== 401) break
    as = caller
    answered = await sendMessage(bench, endpoint, { body }, { as, action: operation.action })
  }
  return { ...message, as, answered }
}
