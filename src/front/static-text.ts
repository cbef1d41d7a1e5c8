/**
 * A text that is the same for every caller until the software changes, such as a description: sent
 * with validators, a coding and a lifetime (rules A1.3, A4.18, A4.19).
 */
import { createHash } from 'node:crypto'
import { memoizeByObject } from '../base/memo.ts'
import type { Response } from '../http/message.ts'
import { acceptableEncodings } from '../http/negotiate.ts'
import { evaluatePreconditions, parsePreconditions } from '../http/precondition.ts'
import { respond } from '../http/respond.ts'
import { type Coding, isWorthCoding } from './compression.ts'
import type { Entry } from './entry.ts'

/** An object is digested and compressed only once, so its owner keeps it. */
export interface StaticText {
  readonly mediaType: string
  readonly content: string
}

/** Lifetime in caches. */
const freshSeconds = 60

const variantsOf = memoizeByObject(({ content }: StaticText) => ({
  digest: createHash('sha256').update(content).digest('hex').slice(0, 16),
  byCoding: new Map<string, Uint8Array>(),
}))

export function replyWithText(
  { request, now }: Entry,
  text: StaticText,
  codings: Readonly<Record<string, Coding>>,
): Response {
  const names = isWorthCoding(text.content) ? Object.keys(codings) : []
  const [coding = 'identity'] = acceptableEncodings(request.fields['accept-encoding'], [...names, 'identity'])
  const { digest, byCoding } = variantsOf(text)
  const fields = {
    etag: coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`,
    'cache-control': `public, max-age=${freshSeconds}`,
    ...(names.length > 0 && { vary: 'Accept-Encoding' }),
  }
  const verdict = evaluatePreconditions(parsePreconditions(request.fields, now), request.method, { etag: fields.etag })
  if (verdict === 'not-modified') return { status: 304, fields }
  if (verdict === 'failed') return respond(412, { detail: 'the precondition failed' })
  const typed = { ...fields, 'content-type': text.mediaType }
  const encode = codings[coding]
  if (coding === 'identity' || !encode) return { status: 200, fields: typed, content: text.content }
  const content = byCoding.get(coding) ?? encode(new TextEncoder().encode(text.content))
  byCoding.set(coding, content)
  return { status: 200, fields: { ...typed, 'content-encoding': coding }, content }
}
