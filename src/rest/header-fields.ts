/**
 * The headers of a contract that have an HTTP field. Other headers exist only in SOAP: a handler
 * finds no value for one, and one that it sets is not sent.
 */
import { headersOfOperation, isOfRequest, isOfResponse, type NamedHeader } from '../contract/header.ts'
import type { Values } from '../contract/implement.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import { compileScalarWriter, readScalar } from '../contract/lexical/scalar.ts'
import type { Operation } from '../contract/operation.ts'
import { isScalar } from '../contract/shape.ts'
import type { HttpFields } from '../http/message.ts'
import type { CallHeaders } from '../service/call.ts'
import type { ApiVersion } from './api-version.ts'
import type { Exchange } from './exchange.ts'
import { refuseRequest } from './refusal.ts'

interface HeaderField extends NamedHeader {
  readonly field: string
}
const hasField = (header: NamedHeader): header is HeaderField => header.field !== undefined

/** Refuses a field that is missing or invalid. */
export function readHeaderFields(exchange: Exchange, operation: Operation): CallHeaders {
  const { edition, entry } = exchange
  const { service, version } = edition
  const headers = headersOfOperation(service, version, operation.name).filter(hasField)
  const ofResponse = headers.filter(isOfResponse)
  const ofRequest = headers.filter(isOfRequest)
  exchange.headerFields = ofRequest.map(({ field }) => field)
  return {
    given: readValues(ofRequest, entry.request.fields),
    answer: new Map(),
    write: (name, value) => {
      const header = ofResponse.find(each => each.name === name)
      return header && writeFieldValue(header, value)
    },
  }
}

function readValues(headers: readonly HeaderField[], fields: HttpFields): Values {
  const values: Record<string, unknown> = {}
  for (const { name, field, content, isRequired } of headers) {
    const text = fields[field]
    if (text === undefined && isRequired) refuseRequest({ kind: 'bad-request', detail: `${field} is missing: send it` })
    if (text === undefined || content === 'xml' || !isScalar(content.shape)) continue
    const value = readScalar(content.shape, text)
    if (value instanceof Flaw) refuseRequest({ kind: 'bad-request', detail: `${field} ${value.detail}` })
    values[name] = value
  }
  return values
}

/** @throws Error for text that a field cannot carry (RFC 9110 §5.5) */
function writeFieldValue({ name, field, content }: HeaderField, value: unknown): string {
  const text = content !== 'xml' && isScalar(content.shape) ? compileScalarWriter(content.shape)(value) : ''
  if (!/^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text))
    throw new Error(`the header ${name} cannot be sent as the field ${field}: its text is not visible ASCII`)
  return text
}

/** The fields that handlers have set. */
export function addHeaderFields(
  { answer }: CallHeaders,
  { service }: ApiVersion,
  fields: Record<string, string | readonly string[]>,
): void {
  for (const [name, text] of answer) fields[service.headers[name]?.field ?? name] = text
}
