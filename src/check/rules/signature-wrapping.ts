/** The oldest attack on XML signatures: the proven element is not the element that is read. */
import type { Bench } from '../bench.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { isAnswer } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { NotObservable } from '../verdict.ts'

interface Wrapping {
  readonly answers: readonly ProbeExchange[]
  readonly genuine: ProbeExchange
}

/**
 * The wrapped messages come first, and none of them repeats an accepted one. The unchanged message
 * comes last, and once in a run: it shows that the others were refused for being wrapped.
 */
export async function probeWrapping(trial: Trial): Promise<void> {
  const { answers, genuine } = await sendWrapped(trial.bench)
  if (!isAnswer(genuine) && !answers.some(isAnswer))
    trial.lack('a signed message that the service accepts: `signedMessage` of the profile was refused')
  for (const answered of answers) trial.expect(!isAnswer(answered), 'a wrapped Body is refused', answered, genuine)
}

const sendWrapped = (bench: Bench): Promise<Wrapping> =>
  bench.once('wrapping', async () => {
    const { signedMessage } = bench.profile
    if (!signedMessage)
      throw new NotObservable('a signed message that the service accepts: `signedMessage` of the profile')
    const { path, fields, xml } = signedMessage
    const send = (content: string): Promise<ProbeExchange> =>
      bench.send('POST', path, { isSafe: true, content, fields: { 'content-type': 'text/xml', ...fields } })
    const wrapped = wrapBody(xml)
    if (wrapped.length === 0)
      throw new NotObservable('a Header and a Body with an Id in `signedMessage` of the profile')
    const answers: ProbeExchange[] = []
    for (const each of wrapped) answers.push(await send(each))
    return { answers, genuine: await send(xml) }
  })

/**
 * Moves the signed Body into a block of the Header and puts an unsigned copy in its place; its
 * operation stays the same. Empty if there is nothing to move.
 */
function wrapBody(xml: string): readonly string[] {
  const body = /<((?:[\w.-]+:)?)Body\b[^>]*>[\s\S]*<\/\1Body>/.exec(xml)?.[0]
  const id = body && /^<[^>]*?\s((?:[\w.-]+:)?Id)="([^"]*)"/.exec(body)
  if (body === undefined || !id || !/<\/(?:[\w.-]+:)?Header>/.test(xml)) return []
  const copies = [body.replace(id[0], id[0].replace(/\s\S+$/, '')), body, body.replace(`"${id[2]}"`, '"probe-other"')]
  return copies.map(copy =>
    xml
      .replace(body, () => copy)
      .replace(
        /<\/(?:[\w.-]+:)?Header>/,
        end => `<x:Wrapper xmlns:x="urn:example:diglot-check">${body}</x:Wrapper>${end}`,
      ),
  )
}
