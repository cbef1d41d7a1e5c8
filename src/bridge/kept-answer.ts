/** The outcome of a call as text, and back: values of messages in their JSON, which is exact. */
import { memoizeByObject } from '../base/memo.ts'
import type { Json } from '../base/objects.ts'
import type { PortExchange } from '../contract/exchange.ts'
import { createXmlJsonCodec, type XmlJsonCodec } from '../contract/xml-json.ts'
import type { AnyRootElement } from '../contract/xml-type.ts'
import { parseJson, writeJson } from '../http/json.ts'
import { readRootName } from '../xml/index.ts'
import type { PortAnswer } from './port-caller.ts'

const keptCodecOf = memoizeByObject((root: AnyRootElement): XmlJsonCodec => createXmlJsonCodec(root, readRootName))

/** Wide, since the text was written here, from an answer within the limits of messages. */
const ownLimits = { depth: 1000, digits: 1_000_000, names: 1_000_000 }

const writeKeptValue = (root: AnyRootElement, value: unknown): string => writeJson(keptCodecOf(root).write(value))
function readKeptValue(root: AnyRootElement, text: string): unknown {
  const { value, failure } = parseJson(text, ownLimits)
  if (failure) throw new Error(`a stored answer is damaged: ${failure.reason}`)
  return keptCodecOf(root).read(value as Json, [])
}

const rootNamed = (roots: Readonly<Record<string, AnyRootElement>>, name: string): AnyRootElement => {
  const root = Object.hasOwn(roots, name) ? roots[name] : undefined
  if (!root) throw new Error(`${name} is no longer declared: the contract of the bridge was changed`)
  return root
}

/** Writes an answer whose octets have all arrived. */
export function writeKeptAnswer(exchange: PortExchange, answer: PortAnswer): string {
  if (answer.kind === 'answer') {
    const { output, replyHeaders } = exchange
    const content = typeof output === 'object' ? writeKeptValue(output, answer.content) : undefined
    const blocks = Object.entries(answer.blocks).map(([name, value]) => [
      name,
      writeKeptValue(rootNamed(replyHeaders, name), value),
    ])
    return JSON.stringify({ kind: 'answer', content, blocks: Object.fromEntries(blocks) })
  }
  if (answer.kind !== 'fault' || !answer.declared) return JSON.stringify(answer)
  const { name, detail } = answer.declared
  return JSON.stringify({
    ...answer,
    declared: { name, detail: writeKeptValue(rootNamed(exchange.faults, name), detail) },
  })
}

/** @param text the result of `writeKeptAnswer` */
export function readKeptAnswer(exchange: PortExchange, text: string): PortAnswer {
  const answer = JSON.parse(text) as PortAnswer // each member is unchanged, except for values of messages
  if (answer.kind === 'answer') {
    const { output, replyHeaders } = exchange
    const content = typeof output === 'object' ? readKeptValue(output, String(answer.content)) : undefined
    const blocks = Object.fromEntries(
      Object.entries(answer.blocks).map(([name, value]) => [
        name,
        readKeptValue(rootNamed(replyHeaders, name), String(value)),
      ]),
    )
    return { kind: 'answer', content, blocks }
  }
  if (answer.kind !== 'fault' || !answer.declared) return answer
  const { name, detail } = answer.declared
  return { ...answer, declared: { name, detail: readKeptValue(rootNamed(exchange.faults, name), String(detail)) } }
}
