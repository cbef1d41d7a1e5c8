/**
 * Operations for an application's own messages, next to those of a contract or without a contract.
 */

import type { Maybe } from '../../base/maybe.ts'
import type { MessageStyle } from '../../contract/endpoint-rule.ts'
import type { AnyField, Field, Fields, Presence, Value, ValueOrigin } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import type { MessagePart } from '../../contract/xml-message.ts'
import { internName } from '../../xml/index.ts'
import { compileValueReader } from '../codecs/literal-read.ts'
import { messageStyles, requireOnlyChild } from '../codecs/style.ts'
import { qualifiedSpace, typesIn } from '../codecs/values.ts'
import { compileRootWriter } from '../headers/block.ts'
import type { BoundOperation, OperationRequest } from './bound-operation.ts'
import { faultWordingOf } from './contract-operation.ts'

/**
 * Declares an operation: `bindCustomOperation({ namespace, name: 'echoString', style: 'rpc',
 * request: { inputString: t.string() }, response: { return: t.string() }, perform: ({ inputString
 * }) => ({ return: inputString }) })`. Its default action is `namespace/name`. `perform` itself
 * must check the caller: no contract has a policy for it.
 */
export function bindCustomOperation<I extends Fields, O extends Fields>(declaration: {
  readonly namespace: string
  readonly name: string
  readonly style: MessageStyle
  readonly action?: string
  /**
   * The namespace of named types and of the elements inside parameters. Default: `namespace`; in
   * RPC these elements have none.
   */
  readonly types?: string
  /** Local name of the reply's element. Default: `…Response`. */
  readonly answer?: string
  readonly request: I
  /** Absent: one-way (rule B4.10). */
  readonly response?: O
  readonly safe?: boolean
  readonly perform: (content: Value<I>, request: OperationRequest) => Maybe<Value<O>>
}): BoundOperation {
  const request: MessagePart = { name: declaration.name, fields: declaration.request, main: undefined }
  const response = declaration.response && {
    name: declaration.answer ?? `${declaration.name}Response`,
    fields: declaration.response,
    main: undefined,
  }
  const action = declaration.action ?? `${declaration.namespace}/${declaration.name}`
  return {
    name: declaration.name,
    firsts: [internName(declaration.namespace, declaration.name)],
    action,
    replyAction: response && `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: declaration.safe ?? false,
    isLong: declaration.safe ?? false,
    longest: 1024 * 1024,
    request: declaration.request,
    ...messageStyles[declaration.style](declaration.namespace, request, response, {
      ...(declaration.types !== undefined && { types: typesIn(declaration.types), inner: declaration.types }),
    }),
    perform: async request => {
      const content = request.content() as Value<I> // the codec reads `request`
      return { row: (await declaration.perform(content, request)) as Values, standing: undefined }
    },
    wording: faultWordingOf(declaration.namespace, { request }),
  }
}

/**
 * Declares an operation in document/literal bare (rule B2.7): the child of Body is the business
 * document itself, with any content. `bareElement({ namespace, name: 'order', content: t.object(…),
 * answer: { name: 'receipt', content: t.string() }, … })`.
 */
export function bareElement<T, R>(declaration: {
  readonly namespace: string
  readonly name: string
  readonly action?: string
  readonly content: Field<T, Presence, ValueOrigin, unknown>
  readonly answer: { readonly name: string; readonly content: Field<R, Presence, ValueOrigin, unknown> }
  readonly safe?: boolean
  readonly perform: (content: T, request: OperationRequest) => Maybe<R>
}): BoundOperation {
  const read = compileValueReader(
    declaration.content as AnyField,
    declaration.name,
    qualifiedSpace(declaration.namespace),
  )
  const write = compileRootWriter(declaration.namespace, declaration.answer.name, declaration.answer.content)
  const action = declaration.action ?? `${declaration.namespace}/${declaration.name}`
  return {
    name: declaration.name,
    firsts: [internName(declaration.namespace, declaration.name)],
    action,
    replyAction: `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: declaration.safe ?? false,
    isLong: declaration.safe ?? false,
    longest: 1024 * 1024,
    request: {},
    read: (cursor, reading) => requireOnlyChild({ content: read(cursor, reading) }, cursor),
    write: ({ content }, writing) => write(content as R, writing), // the result of `perform`
    perform: async request => {
      const { content } = request.content() as { content: T } // the codec reads `content`
      return { row: { content: await declaration.perform(content, request) }, standing: undefined }
    },
    wording: faultWordingOf(declaration.namespace, {
      request: { name: declaration.name, fields: {}, main: undefined },
    }),
  }
}

/**
 * An operation with an empty Body and an empty reply (WS-I Basic Profile 1.1 §4.7.4): its data are
 * header blocks.
 */
export function emptyBodyOperation(
  action: string,
  perform: (request: OperationRequest) => Maybe<void>,
): BoundOperation {
  return {
    name: 'empty',
    firsts: [undefined],
    action,
    replyAction: `${action}Response`,
    faultAction: fault => `${action}/Fault/${fault}`,
    safe: false,
    isLong: false,
    longest: 1024 * 1024,
    request: {},
    read: () => ({}),
    write: () => '',
    perform: async request => {
      request.content()
      await perform(request)
      return { row: {}, standing: undefined }
    },
    wording: faultWordingOf('', { request: { name: 'empty', fields: {}, main: undefined } }),
  }
}
