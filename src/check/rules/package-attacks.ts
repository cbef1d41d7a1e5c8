/** D3: packages (multipart/related, XOP 1.0) designed to cost more than their octets. */
import type { CheckRule } from '../rule.ts'
import { listProbeOperations, sendMessage } from '../soap-discovery.ts'
import { isAnswer, type SoapWords, soapFields, writeSoapMessage } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { expectEachRefused, type HostileMessages } from './hostile-message.ts'

const partCount = 2000
const fieldCount = 2000
const levels = 500
const boundary = 'probe-boundary'

export const packageAttacks: readonly CheckRule[] = [
  {
    id: 'D3.19',
    says: 'a flood of parts, fields or levels in a package is refused quickly, as the fault of its sender',
    how: `packages around a safe operation with ${partCount} parts that nothing refers to, with ${fieldCount} fields and with one of 100,000 octets in a part, with ${levels} packages in each other, with two parts of one Content-ID, and without an end: refused quickly, and the operation still answers afterwards`,
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { endpoint, as, operation, body } = probe
        const { words } = endpoint
        const type = `multipart/related; type="application/xop+xml"; start="<root@probe>"; start-info="${words.mediaType}"; boundary="${boundary}"`
        const fields = { ...(words.number === '1.1' && soapFields(words, operation.action)), 'content-type': type }
        await expectEachRefused(trial, probe, writeFloods(words, body), fields)
        const answered = await sendMessage(trial.bench, endpoint, { body }, { as, action: operation.action })
        trial.expect(isAnswer(answered), 'the operation is answered afterwards', answered)
      }
    },
  },
]

const writeRawPart = (fields: readonly string[], content: string): string =>
  `--${boundary}\r\n${fields.join('\r\n')}\r\n\r\n${content}\r\n`

function writeFloods(words: SoapWords, body: string): HostileMessages {
  const message = writeSoapMessage(words, { body })
  const rootFields = [`Content-Type: application/xop+xml; charset=utf-8; type="${words.mediaType}"`, 'Content-ID: <root@probe>'] // biome-ignore format: two fields
  const root = writeRawPart(rootFields, message)
  const write = (...parts: readonly string[]): string => `${root}${parts.join('')}--${boundary}--\r\n`
  const part = (id: string, more: readonly string[] = []): string => writeRawPart([`Content-ID: <${id}>`, ...more], 'a')
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)
  return [
    [`${partCount} parts`, write(...numbers(partCount).map(at => part(`p${at}`)))],
    [
      `${fieldCount} fields`,
      write(
        part(
          'p',
          numbers(fieldCount).map(at => `X-Probe-${at}: a`),
        ),
      ),
    ],
    ['a field of 100,000 octets', write(part('p', [`X-Probe: ${'a'.repeat(100_000)}`]))],
    [`${levels} packages in each other`, `${writeRawPart(nestedFields(0, ['Content-ID: <root@probe>']), nestPackages(message))}--${boundary}--\r\n`], // biome-ignore format: a pair
    ['two parts of one Content-ID', write(part('p'), part('p'))],
    ['a package without an end', root + part('p')],
  ]
}

const nestedFields = (level: number, more: readonly string[] = []): readonly string[] => [
  `Content-Type: multipart/related; boundary="${boundary}-${level}"`,
  ...more,
]
const nestPackages = (innermost: string): string =>
  Array.from({ length: levels }, (_, at) => levels - 1 - at).reduce((inside, level) => {
    const fields = level === levels - 1 ? ['Content-Type: application/xop+xml'] : nestedFields(level + 1)
    return `--${boundary}-${level}\r\n${fields.join('\r\n')}\r\n\r\n${inside}\r\n--${boundary}-${level}--`
  }, innermost)
