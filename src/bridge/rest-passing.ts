/** Messages of a bridge whose octets pass to a REST service without being held. */
import { randomUUID } from 'node:crypto'
import type { ArrivalPlace, PassingOctets } from '../base/passing-octets.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import { isBase64Type, mayLeaveOctets } from '../contract/octet-types.ts'
import { listReachedTypes } from '../contract/xml-reach.ts'
import type { AnyMember } from '../contract/xml-type.ts'
import { isJsonType } from '../http/media-type.ts'
import type { RestExchange, RestPort } from '../import/openapi/rest-port.ts'
import { listInOrder } from '../soap/mime/write-package.ts'
import { FlowingContent } from './rest-transport.ts'
import { typeMembersOf } from './rest-values.ts'
import { contentOfMember } from './xml-fields.ts'

/**
 * A port whose exchanges say whether octets of their input pass: if they are the whole content, or
 * parts of a form.
 *
 * @param octetsMax the limit of a package with them
 */
export const passRestInputs = (port: Port, { exchanges }: RestPort, octetsMax: number): Port => ({
  ...port,
  exchanges: Object.fromEntries(
    Object.entries(port.exchanges).map(([name, each]) => {
      const exchange = exchanges.get(name)
      return [name, exchange && isPassableByHttp(each, exchange) ? { ...each, passingMax: octetsMax } : each]
    }),
  ),
})

function isPassableByHttp({ input }: PortExchange, { content }: RestExchange): boolean {
  if (typeof input !== 'object' || !content || isJsonType(content.mediaType) || !mayLeaveOctets(input)) return false
  const keys = 'key' in content.as ? [content.as.key] : /^multipart\//i.test(content.mediaType) ? content.as.keys : []
  const others = Object.entries(typeMembersOf(input.type()) ?? {}).filter(
    ([key, member]) => !(keys.includes(key) && isOctetsMember(member)),
  )
  return others.every(([, member]) => !reachesOctets(member))
}
function reachesOctets(member: AnyMember): boolean {
  const content = contentOfMember(member)
  return !content || listReachedTypes([], [content.type]).types.some(isBase64Type)
}

/** Whether a member is a single value of octets. */
export function isOctetsMember(member: AnyMember | undefined): boolean {
  const content = member && !member.marks.isMany ? contentOfMember(member) : undefined
  return content?.type.definition.kind === 'builtIn' && content.type.definition.name === 'base64Binary'
}

export interface FlowingPart {
  readonly name: string
  readonly octets: PassingOctets
  readonly arrival: ArrivalPlace | undefined
  readonly mediaType?: string
}

/** RFC 7578: a form whose last parts arrive while it is sent, in the order of their arrival. */
export class FlowingForm extends FlowingContent {
  readonly mediaType: string

  constructor(held: FormData, coming: readonly FlowingPart[]) {
    const boundary = `diglot-${randomUUID()}`
    super(writeFlowingForm(held, coming, boundary))
    this.mediaType = `multipart/form-data; boundary=${boundary}`
  }
}

async function* writeFlowingForm(held: FormData, coming: readonly FlowingPart[], boundary: string) {
  const utf8 = new TextEncoder()
  const head = (name: string, more: string) =>
    utf8.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"${more}\r\n\r\n`)
  for (const [name, value] of held) {
    if (typeof value === 'string') yield Buffer.concat([head(name, ''), utf8.encode(value)])
    else {
      yield head(name, `; filename="blob"\r\nContent-Type: ${value.type || 'application/octet-stream'}`)
      yield new Uint8Array(await value.arrayBuffer())
    }
    yield utf8.encode('\r\n')
  }
  for await (const { name, octets, mediaType = 'application/octet-stream' } of listInOrder(coming)) {
    yield head(name, `; filename="blob"\r\nContent-Type: ${mediaType}`)
    yield* octets.read()
    yield utf8.encode('\r\n')
  }
  yield utf8.encode(`--${boundary}--\r\n`)
}

/** As browsers do (HTML, multipart/form-data encoding algorithm). */
const escapeName = (name: string): string => name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
