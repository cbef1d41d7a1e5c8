/** Exchanges of an application's own messages, beside or instead of those of a contract. */
import type { Fields, Value } from '../contract/field.ts'
import type { Row } from '../contract/implement.ts'
import type { Part } from '../contract/message.ts'
import type { Maybe } from '../service/store.ts'
import { name } from '../xml/index.ts'
import type { Asked, Exchange } from './exchange.ts'
import { wordingOf } from './operation.ts'
import { type Style, styles } from './style.ts'

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
    ...styles[is.style](is.namespace, request, response),
    perform: async asked => {
      const content = asked.content() as Value<I> // the codec reads what `request` says
      return { row: (await is.perform(content, asked)) as Row, standing: undefined }
    },
    wording: wordingOf(is.namespace, { request }),
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
