/**
 * Messages with attachments (SOAP Messages with Attachments; WSDL 1.1 §5): which members of a
 * message are sent next to its envelope, what its Body has without them, and whether it refers to
 * others.
 */
import { memoizeByObject } from '../base/memo.ts'
import type { ExchangeBody, PortExchange } from './exchange.ts'
import { listReachedTypes } from './xml-reach.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AttachmentMark,
  BodyContent,
  isSwaRef,
  RootElement,
  XmlType,
} from './xml-type.ts'

/** A part of a message that is sent next to its envelope. */
export interface AttachedPart extends AttachmentMark {
  /** The key in the value of the message. */
  readonly key: string
  /** The name in the WSDL, and in the Content-ID (WS-I Attachments Profile 1.0 §3.8). */
  readonly name: string
  readonly mayBeAbsent: boolean
  readonly member: AnyMember
}
export interface SplitBody {
  readonly inBody: ExchangeBody
  /** In the order of their members. */
  readonly attached: readonly AttachedPart[]
}

/** Returns the body itself if nothing is attached. */
export const splitBody = (body: ExchangeBody): SplitBody =>
  body === 'empty' ? { inBody: body, attached: [] } : splitRoot(body)

const splitRoot = memoizeByObject((root: AnyRootElement): SplitBody => {
  const { definition } = root.type()
  if (definition.kind !== 'complex') return { inBody: root, attached: [] }
  const attached = Object.entries(definition.members).flatMap(([key, member]): AttachedPart[] => {
    const { attached: mark, name = key, min } = member.marks
    return mark ? [{ ...mark, key, name, mayBeAbsent: min === 0, member }] : []
  })
  if (attached.length === 0) return { inBody: root, attached }
  const members = Object.fromEntries(Object.entries(definition.members).filter(([, { marks }]) => !marks.attached))
  const type = new XmlType<unknown>({ ...definition, members })
  if (!(root instanceof BodyContent))
    return { inBody: new RootElement(root.name, () => type, root.form, root.marks), attached }
  return { inBody: Object.keys(members).length === 0 ? 'empty' : new BodyContent(() => type), attached }
})

/** Whether something in the Body may refer to an attachment (WS-I Attachments Profile 1.0 §4.4). */
export const mayReferToParts = (body: ExchangeBody): boolean => body !== 'empty' && rootMayRefer(body)
const rootMayRefer = memoizeByObject((root: AnyRootElement) => listReachedTypes([root]).types.some(isSwaRef))

/** Whether a message needs a package, for a part of its own or for one that it refers to. */
export const needsPackage = (body: ExchangeBody): boolean =>
  splitBody(body).attached.length > 0 || mayReferToParts(body)
export const hasAttachedParts = ({ input, output = 'empty' }: Pick<PortExchange, 'input' | 'output'>): boolean =>
  [input, output].some(needsPackage)
