/** An exchange as text for a reader: credentials masked, long content cut. */
import { showControls } from '../../base/markup.ts'
import type { ProbeExchange } from '../probe-message.ts'

export interface ExchangeText {
  readonly request: string
  readonly response: string
}

const contentCharactersMax = 4000
const secretFields = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|(?<!idempotency-)key$|token$|secret$/i

export function writeExchange({ request, reply }: ProbeExchange): ExchangeText {
  const { fields, content, method, target, version, announcedOctets } = request
  const announced = announcedOctets === undefined ? '' : `(announces ${announcedOctets} octets and sends none)\n`
  return {
    request: `${method} ${cutText(showControls(target))} HTTP/${version ?? '1.1'}\n${writeFields(Object.entries(fields))}\n${announced}${writeContent(content)}`,
    response: `${reply.status}\n${writeFields(reply.lines)}\n${writeContent(reply.content)}`,
  }
}

const writeFields = (lines: Iterable<readonly [string, string]>): string =>
  Array.from(lines, ([name, value]) => `${name}: ${maskField(name, value)}\n`).join('')

const maskField = (name: string, value: string): string =>
  showControls(secretFields.test(name) ? maskSecret(value) : value)

export const maskFields = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskField(name, value)]))

/** The passwords of UsernameTokens. */
export const maskContent = (text: string): string => text.replaceAll(/(<[\w.-]*:?Password\b[^>]*>)[^<]*/g, '$1***')

/** Keeps the scheme and hides the secret. */
const maskSecret = (value: string): string =>
  value.replace(/^(\S+)\s.*$|^.*$/s, (_, scheme) => `${scheme ?? ''} ***`.trim())

function writeContent(content: Uint8Array | undefined): string {
  if (!content || content.length === 0) return ''
  const text = new TextDecoder().decode(content.subarray(0, contentCharactersMax * 4))
  return cutText(showControls(maskContent(text).replaceAll('\r\n', '\n')))
}

const cutText = (text: string): string =>
  text.length > contentCharactersMax ? `${text.slice(0, contentCharactersMax)}… (cut)` : text
