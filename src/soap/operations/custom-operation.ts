/** Exchanges of an application's own messages, beside or instead of those of a contract. */

import type { Maybe } from '../../base/maybe.ts'
import type { AnyField, Field, Fields, Value } from '../../contract/field.ts'
import type { Row } from '../../contract/implement.ts'
import type { Part } from '../../contract/xml-message.ts'
import { name } from '../../xml/index.ts'
import { valueReader } from '../codecs/literal-read.ts'
import { alone, type Style, styles } from '../codecs/style.ts'
import { qualified } from '../codecs/values.ts'
import { elementOf } from '../headers/block.ts'
import type { Asked, Exchange } from './bound-operation.ts'
import { wordingOf } from './contract-operation.ts'

/**
 * Declares an exchange: `exchange({ namespace, name: 'echoString', style: 'rpc', request: { inputString: t.string() },
 * response: { return: t.string() }, perform: asked => ({ return: asked.inputString }) })`. Its action is `namespace` and
 * `name` unless given. Who may ask is for `perform` to say: no contract's policy stands before it.
 */
export function exchange<I extends Fields, O extends Fields>(is: {
  readonly namespace: string
  readonly name: string
  readonly style: Style
  readonly action?: string
  /** The namespace of named types; `namespace` by default. */
  readonly types?: string
  /** Local name of the answer's element; `…Response` by default. */
  readonly answer?: string
  readonly request: I
  /** Absent: One-Way (rule B4.10). */
  readonly response?: O
  readonly safe?: boolean
  readonly perform: (content: Value<I>, asked: Asked) => Maybe<Value<O>>
}): Exchange {
  const request: Part = { name: is.name, fields: is.request, main: undefined }
  const response = is.response && { name: is.answer ?? `${is.name}Response`, fields: is.response, main: undefined }
  const action = is.action ?? `${is.namespace}/${is.name}`
  return {
    name: is.name,
    element: name(is.namespace, is.name),
    action,
    replyAction: response && `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: is.safe ?? false,
    longest: 1024 * 1024,
    request: is.request,
    ...styles[is.style](is.namespace, request, response, is.types),
    perform: async asked => {
      const content = asked.content() as Value<I> // the codec reads what `request` says
      return { row: (await is.perform(content, asked)) as Row, standing: undefined }
    },
    wording: wordingOf(is.namespace, { request }),
  }
}

/**
 * Declares an exchange in document/literal bare (rule B2.7): the child of Body is the business document itself, of any
 * content. `bare({ namespace, name: 'order', content: t.object(…), answer: { name: 'receipt', content: t.string() }, … })`.
 */
export function bare<T, R>(is: {
  readonly namespace: string
  readonly name: string
  readonly action?: string
  readonly content: Field<T, boolean, boolean, unknown>
  readonly answer: { readonly name: string; readonly content: Field<R, boolean, boolean, unknown> }
  readonly safe?: boolean
  readonly perform: (content: T, asked: Asked) => Maybe<R>
}): Exchange {
  const read = valueReader(is.content as AnyField, is.name, qualified(is.namespace))
  const write = elementOf(is.namespace, is.answer.name, is.answer.content)
  const action = is.action ?? `${is.namespace}/${is.name}`
  return {
    name: is.name,
    element: name(is.namespace, is.name),
    action,
    replyAction: `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: is.safe ?? false,
    longest: 1024 * 1024,
    request: {},
    read: (cursor, reading) => alone({ content: read(cursor, reading) }, cursor),
    write: ({ content }, writing) => write(content as R, writing), // what `perform` answers
    perform: async asked => {
      const { content } = asked.content() as { content: T } // the codec reads what `content` says
      return { row: { content: await is.perform(content, asked) }, standing: undefined }
    },
    wording: wordingOf(is.namespace, { request: { name: is.name, fields: {}, main: undefined } }),
  }
}

/** What an empty Body asks for, and is answered by (WS-I Basic Profile 1.1 §4.7.4): all is said in header blocks. */
export function emptyBody(action: string, perform: (asked: Asked) => Maybe<void>): Exchange {
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
    wording: wordingOf('', { request: { name: 'empty', fields: {}, main: undefined } }),
  }
}
