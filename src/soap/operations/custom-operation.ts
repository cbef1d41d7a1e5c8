/** Exchanges of an application's own messages, beside or instead of those of a contract. */

import type { Maybe } from '../../base/maybe.ts'
import type { AnyField, Field, Fields, Value } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import type { MessagePart, MessageStyle } from '../../contract/xml-message.ts'
import { internName } from '../../xml/index.ts'
import { compileValueReader } from '../codecs/literal-read.ts'
import { messageStyles, onlyChild } from '../codecs/style.ts'
import { qualifiedSpace } from '../codecs/values.ts'
import { elementOf } from '../headers/block.ts'
import type { BoundOperation, OperationRequest } from './bound-operation.ts'
import { faultWordingOf } from './contract-operation.ts'

/**
 * Declares an exchange: `exchange({ namespace, name: 'echoString', style: 'rpc', request: {
 * inputString: t.string() }, response: { return: t.string() }, perform: asked => ({ return:
 * asked.inputString }) })`. Its action is `namespace` and `internName` unless given. Who may ask is
 * for `perform` to say: no contract's policy stands before it.
 */
export function bindCustomOperation<I extends Fields, O extends Fields>(is: {
  readonly namespace: string
  readonly name: string
  readonly style: MessageStyle
  readonly action?: string
  /** The namespace of named types; `namespace` by default. */
  readonly types?: string
  /** Local name of the answer's element; `…Response` by default. */
  readonly answer?: string
  readonly request: I
  /** Absent: One-Way (rule B4.10). */
  readonly response?: O
  readonly safe?: boolean
  readonly perform: (content: Value<I>, asked: OperationRequest) => Maybe<Value<O>>
}): BoundOperation {
  const request: MessagePart = { name: is.name, fields: is.request, main: undefined }
  const response = is.response && { name: is.answer ?? `${is.name}Response`, fields: is.response, main: undefined }
  const action = is.action ?? `${is.namespace}/${is.name}`
  return {
    name: is.name,
    element: internName(is.namespace, is.name),
    action,
    replyAction: response && `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: is.safe ?? false,
    longest: 1024 * 1024,
    request: is.request,
    ...messageStyles[is.style](is.namespace, request, response, is.types),
    perform: async asked => {
      const content = asked.content() as Value<I> // the codec reads what `request` says
      return { row: (await is.perform(content, asked)) as Values, standing: undefined }
    },
    wording: faultWordingOf(is.namespace, { request }),
  }
}

/**
 * Declares an exchange in document/literal bare (rule B2.7): the child of Body is the business
 * document itself, of any content. `bare({ namespace, name: 'order', content: t.object(…), answer:
 * { name: 'receipt', content: t.string() }, … })`.
 */
export function bareElement<T, R>(is: {
  readonly namespace: string
  readonly name: string
  readonly action?: string
  readonly content: Field<T, boolean, boolean, unknown>
  readonly answer: { readonly name: string; readonly content: Field<R, boolean, boolean, unknown> }
  readonly safe?: boolean
  readonly perform: (content: T, asked: OperationRequest) => Maybe<R>
}): BoundOperation {
  const read = compileValueReader(is.content as AnyField, is.name, qualifiedSpace(is.namespace))
  const write = elementOf(is.namespace, is.answer.name, is.answer.content)
  const action = is.action ?? `${is.namespace}/${is.name}`
  return {
    name: is.name,
    element: internName(is.namespace, is.name),
    action,
    replyAction: `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: is.safe ?? false,
    longest: 1024 * 1024,
    request: {},
    read: (cursor, reading) => onlyChild({ content: read(cursor, reading) }, cursor),
    write: ({ content }, writing) => write(content as R, writing), // what `perform` answers
    perform: async asked => {
      const { content } = asked.content() as { content: T } // the codec reads what `content` says
      return { row: { content: await is.perform(content, asked) }, standing: undefined }
    },
    wording: faultWordingOf(is.namespace, { request: { name: is.name, fields: {}, main: undefined } }),
  }
}

/**
 * What an empty Body asks for, and is answered by (WS-I Basic Profile 1.1 §4.7.4): all is said in
 * header blocks.
 */
export function emptyBodyOperation(action: string, perform: (asked: OperationRequest) => Maybe<void>): BoundOperation {
  return {
    name: 'empty',
    element: undefined,
    action,
    replyAction: `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: false,
    longest: 1024 * 1024,
    request: {},
    read: () => ({}),
    write: () => '',
    perform: async asked => {
      asked.content()
      await perform(asked)
      return { row: {}, standing: undefined }
    },
    wording: faultWordingOf('', { request: { name: 'empty', fields: {}, main: undefined } }),
  }
}
