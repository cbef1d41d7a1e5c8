/**
 * D3: what attackers send to a SOAP endpoint: each message has at most 200 KB, expands to at most
 * 20 KB, and names only addresses of the checker. None can change anything: its operation only
 * reads, or does not exist.
 */
import { gzipSync } from 'node:zlib'
import { writeAttribute } from '../../xml/index.ts'
import type { ProbeExchange } from '../probe-message.ts'
import type { CheckRule } from '../rule.ts'
import { listProbeOperations, type ProbeOperation, sendMessage } from '../soap-discovery.ts'
import { addressingNamespace, isAnswer, readSoapMessage, writeSoapMessage } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { sendAddressed } from './addressing-checks.ts'
import { unknownBody } from './envelope-checks.ts'
import { usernameToken } from './fault-rules.ts'
import { expectAllRefused, expectRefused, putIntoBody, sendText, writeHostileEnvelope } from './hostile-message.ts'
import { sendChanged, writeBlock } from './message-rules.ts'
import { probeWrapping } from './signature-wrapping.ts'

const levels = 5000
const inflatedOctets = 8 * 1024 * 1024

/** Names with one hash in Java's String, and as many with different ones: 2,048 of 22 letters. */
const listCombinations = ([one, other]: readonly [string, string]): readonly string[] =>
  Array.from({ length: 2048 }, (_, at) =>
    Array.from({ length: 11 }, (_, bit) => ((at >> bit) & 1 ? one : other)).join(''),
  )
const writeAttributes = (names: readonly string[]): string => names.map(name => `${name}=""`).join(' ')

export const messageAttacks: readonly CheckRule[] = [
  {
    id: 'D3.1',
    says: 'a DTD is refused by its presence; nothing that it declares is expanded (SOAP 1.2 Part 1 §5)',
    how: 'messages with an empty DTD, with entities that expand to 5,000 characters, with a parameter entity, with a default attribute',
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint, body }) => {
        const entities =
          '<!ENTITY a "probe"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">'
        const expanded = `${entities}<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">`
        const inner = '<!ENTITY % p \'<!ENTITY d "probe">\'> %p;'
        return [
          ['an empty DTD', `<!DOCTYPE s:Envelope>${writeHostileEnvelope(endpoint, body)}`],
          [
            'an expanding entity',
            `<!DOCTYPE s:Envelope [${expanded}]>${writeHostileEnvelope(endpoint, putIntoBody(body, '&d;'))}`,
          ],
          [
            'a parameter entity',
            `<!DOCTYPE s:Envelope [${inner}]>${writeHostileEnvelope(endpoint, putIntoBody(body, '&d;'))}`,
          ],
          [
            'a default attribute',
            `<!DOCTYPE s:Envelope [<!ATTLIST s:Body a CDATA "b">]>${writeHostileEnvelope(endpoint, body)}`,
          ],
        ]
      }),
  },
  {
    id: 'D3.2',
    says: 'nothing that a DTD names is fetched',
    how: 'messages with an external entity, an external subset and an external parameter entity at an address of the check: refused, and no request arrives there',
    probe: async (trial: Trial) => {
      const listener = await trial.bench.listen()
      const at = `${listener.address}/entity`
      await expectAllRefused(trial, ({ endpoint, body }) => [
        [
          'an external entity',
          `<!DOCTYPE a [<!ENTITY x SYSTEM "${at}">]>${writeHostileEnvelope(endpoint, putIntoBody(body, '&x;'))}`,
        ],
        ['an external subset', `<!DOCTYPE s:Envelope SYSTEM "${at}">${writeHostileEnvelope(endpoint, body)}`],
        [
          'an external parameter entity',
          `<!DOCTYPE a [<!ENTITY % x SYSTEM "${at}"> %x;]>${writeHostileEnvelope(endpoint, body)}`,
        ],
      ])
      trial.expect(!(await listener.hasVisit('/entity')), 'nothing is fetched')
    },
  },
  {
    id: 'D3.3',
    says: 'the service follows no hint in a message',
    how: 'messages with xsi:schemaLocation, XInclude and a style sheet at an address of the check: answered or refused, and no request arrives there',
    probe: async (trial: Trial) => {
      const listener = await trial.bench.listen()
      const at = `${listener.address}/hint`
      for (const probe of await listProbeOperations(trial.bench)) {
        const { endpoint, body } = probe
        const xsi = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${endpoint.words.namespace} ${at}" xsi:noNamespaceSchemaLocation="${at}"`
        const include = `<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${at}"/>`
        for (const text of [
          writeHostileEnvelope(endpoint, body, xsi),
          writeHostileEnvelope(endpoint, putIntoBody(body, include)),
          `<?xml-stylesheet type="text/xsl" href="${at}"?>${writeHostileEnvelope(endpoint, body)}`,
        ])
          await sendText(trial.bench, probe, text)
      }
      trial.expect(!(await listener.hasVisit('/hint')), 'nothing is fetched')
    },
  },
  {
    id: 'D3.4',
    says: 'deep nesting is refused quickly',
    how: `a message with ${levels} levels in its Body`,
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint }) => [
        ['deep nesting', writeHostileEnvelope(endpoint, `${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}`)],
      ]),
  },
  {
    id: 'D3.5',
    says: 'many attributes, namespaces or elements are refused quickly',
    how: 'messages with 5,000 attributes, 5,000 namespace declarations and 20,000 elements in an unknown element',
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint }) => {
        const numbers = Array.from({ length: 5000 }, (_, at) => at)
        return [
          ['5,000 attributes', writeHostileEnvelope(endpoint, `<a ${numbers.map(at => `b${at}=""`).join(' ')}/>`)],
          [
            '5,000 namespaces',
            writeHostileEnvelope(endpoint, `<a ${numbers.map(at => `xmlns:b${at}="urn:${at}"`).join(' ')}/>`),
          ],
          ['20,000 elements', writeHostileEnvelope(endpoint, `<a>${'<b/>'.repeat(20_000)}</a>`)],
        ]
      }),
  },
  {
    id: 'D3.6',
    says: 'names that share a hash cost no more than others',
    how: '2,048 attributes whose names have one hash in Java, and 2,048 others: the first take at most a second, or ten times as long as the others',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const send = (pair: readonly [string, string]): Promise<ProbeExchange> =>
          sendText(
            trial.bench,
            probe,
            writeHostileEnvelope(probe.endpoint, `<a ${writeAttributes(listCombinations(pair))}/>`),
          )
        const usual = await send(['Ab', 'Cd'])
        const colliding = await send(['Aa', 'BB'])
        const isCheap = colliding.reply.tookMs < Math.max(1000, 10 * usual.reply.tookMs)
        trial.expect(isCheap, 'colliding names take no longer', usual, colliding)
      }
    },
  },
  {
    id: 'D3.7',
    says: 'an operation or element with the name of a member that every object inherits is unknown like any other',
    how: 'messages with __proto__, constructor, hasOwnProperty and toString as operation',
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint }) =>
        ['__proto__', 'constructor', 'hasOwnProperty', 'toString'].map(name => {
          const uri = endpoint.document.targetNamespace
          return [
            `the operation ${name}`,
            writeHostileEnvelope(endpoint, `<p:${name} xmlns:p=${writeAttribute(uri)}/>`),
          ]
        }),
      ),
  },
  {
    id: 'D3.8',
    says: 'a message is read to its end before anything is done',
    how: 'a message cut at eight places, one with a second root and one with text after its end',
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint, body }) => {
        const whole = writeHostileEnvelope(endpoint, body)
        const cuts = Array.from({ length: 8 }, (_, at) => whole.slice(0, Math.floor((whole.length * (at + 1)) / 9)))
        return [
          ...cuts.map(cut => [`a message cut after ${cut.length} characters`, cut] as const),
          ['a message without its last character', whole.slice(0, -1)],
          ['a second root', `${whole}<a/>`],
          ['text after the end', `${whole}probe`],
        ]
      }),
  },
  {
    id: 'D3.9',
    says: 'octets that are not of the encoding, and characters that XML does not have, are refused',
    how: 'messages with an overlong form, half of a character, a NUL and a reference to one, and an encoding other than the declared one',
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint, body }) => {
        const write = (content: string): Uint8Array =>
          Buffer.from(writeHostileEnvelope(endpoint, putIntoBody(body, content)), 'latin1')
        return [
          ['an overlong form', write('\xc0\xbc')],
          ['half of a character', write('\xe2\x82')],
          ['a NUL', write('\x00')],
          ['a reference to NUL', write('&#0;')],
          [
            'UTF-16 that says UTF-8',
            Buffer.from(`<?xml version="1.0" encoding="utf-8"?>${writeHostileEnvelope(endpoint, body)}`, 'utf16le'),
          ],
        ]
      }),
  },
  {
    id: 'D3.10',
    says: 'a message with two Headers, two Bodies or, in SOAP 1.2, something after the Body is refused',
    how: 'messages of each kind',
    probe: (trial: Trial) =>
      expectAllRefused(trial, ({ endpoint: { words }, body }) => {
        const write = (content: string): string => `<s:Envelope xmlns:s="${words.namespace}">${content}</s:Envelope>`
        const one = `<s:Body>${body}</s:Body>`
        return [
          ['two Headers', write(`<s:Header/><s:Header/>${one}`)],
          ['two Bodies', write(one + one)],
          ...(words.number === '1.2'
            ? [['something after the Body', write(`${one}<x:a xmlns:x="urn:x"/>`)] as const]
            : []),
        ]
      }),
  },
  {
    id: 'D3.11',
    says: 'a mustUnderstand that is neither true nor false is refused',
    how: 'an unknown block with mustUnderstand yes, and with 2',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench))
        for (const value of ['yes', '2']) {
          const refused = await sendChanged(trial, probe, writeBlock('Unknown', ` s:mustUnderstand="${value}"`))
          expectRefused(trial, `mustUnderstand="${value}"`, refused)
        }
    },
  },
  {
    id: 'D3.12',
    says: 'addressing blocks that occur twice are refused (WS-Addressing 1.0 SOAP Binding §6.4.1)',
    how: 'messages with two MessageIDs, two Actions and two Tos, where one of each is accepted',
    probe: async (trial: Trial) => {
      const answers = await sendAddressed(trial)
      for (const [at, probe] of (await listProbeOperations(trial.bench)).entries()) {
        if (!answers[at] || !isAnswer(answers[at].answered)) trial.skip('the endpoint does not accept WS-Addressing')
        const blocks = writeAddressing(probe)
        for (const name of ['MessageID', 'Action', 'To'] as const) {
          const all = Object.values(blocks).join('')
          expectRefused(trial, `a second ${name}`, await sendChanged(trial, probe, all + blocks[name]))
        }
      }
    },
  },
  {
    id: 'D3.13',
    says: 'no reply goes to an address that a stranger names',
    how: 'messages with ReplyTo and FaultTo at an address of the check, with a Body that is answered and with one that is not: no request arrives there',
    probe: async (trial: Trial) => {
      const listener = await trial.bench.listen()
      const at = `<a:Address>${listener.address}/reply-to</a:Address>`
      for (const probe of await listProbeOperations(trial.bench))
        for (const more of [{}, { body: unknownBody }]) {
          const blocks = Object.values(writeAddressing(probe)).join('')
          const to = ['ReplyTo', 'FaultTo'].map(name => `<a:${name} xmlns:a="${addressingNamespace}">${at}</a:${name}>`)
          await sendChanged(trial, probe, blocks + to.join(''), more)
        }
      trial.expect(!(await listener.hasVisit('/reply-to')), 'nothing is sent there')
    },
  },
  {
    id: 'D3.14',
    says: 'content by reference is only that of the message itself (XOP 1.0 §4)',
    how: 'messages with an xop:Include of an address of the check, and of a file: refused, no request arrives there, and no file is shown',
    probe: async (trial: Trial) => {
      const listener = await trial.bench.listen()
      await expectAllRefused(trial, ({ endpoint, body }) =>
        [`${listener.address}/xop`, 'file:///etc/passwd'].map(href => {
          const include = `<xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="${href}"/>`
          return [
            `a reference to ${new URL(href).protocol}`,
            writeHostileEnvelope(endpoint, putIntoBody(body, include)),
          ]
        }),
      )
      const shown = trial.findings
        .flatMap(({ evidence }) => evidence)
        .find(({ text }) => /root:[^:\n]*:0:0:/.test(text))
      trial.expect(shown === undefined, 'no file is shown', shown)
      trial.expect(!(await listener.hasVisit('/xop')), 'nothing is fetched')
    },
  },
  {
    id: 'D3.15',
    says: 'a UsernameToken without a password, or with an empty one, proves nothing',
    how: 'messages with the name of a caller and no Password, and with an empty one',
    probe: async (trial: Trial) => {
      const caller = trial.bench.callers.find(({ password }) => password !== undefined)
      if (!caller) trial.lack('a caller with a password: --caller')
      for (const { endpoint, operation, body } of await listProbeOperations(trial.bench))
        for (const password of [undefined, '']) {
          const header = usernameToken(caller.name, password)
          const refused = await sendMessage(trial.bench, endpoint, { header, body }, { action: operation.action })
          if (readSoapMessage(refused)?.fault?.code === 'MustUnderstand')
            trial.skip('the endpoint does not understand Security blocks')
          const subject = password === undefined ? 'a name without a password' : 'an empty password'
          trial.expect(!isAnswer(refused), `${subject} is refused`, refused)
        }
    },
  },
  {
    id: 'D3.16',
    says: 'the element that was signed is the element that is processed: signature wrapping fails',
    how: 'the signed message of the profile with its Body in a block and a copy in its place, with and without the identifier, then unchanged: only the last one is accepted',
    probe: probeWrapping,
  },
  {
    id: 'D3.17',
    says: 'content that is not compressed as it claims, or that expands a thousandfold, is refused',
    how: 'messages with Content-Encoding: gzip that are plain, that end early, and that expand from 8 KB to 8 MB of blanks before an unknown operation',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const { words } = probe.endpoint
        const plain = new TextEncoder().encode(writeSoapMessage(words, { body: probe.body }))
        const blanks = writeSoapMessage(words, { body: unknownBody + ' '.repeat(inflatedOctets) })
        for (const [subject, octets] of [
          ['gzip that is plain', plain],
          ['gzip that ends early', gzipSync(plain).subarray(0, -12)],
          ['gzip that expands', gzipSync(blanks)],
        ] as const)
          expectRefused(trial, subject, await sendText(trial.bench, probe, octets, { 'content-encoding': 'gzip' }))
      }
    },
  },
]

/** The WS-Addressing blocks of a request, each mandatory. */
function writeAddressing({ endpoint, operation }: ProbeOperation) {
  const action = operation.action || `${endpoint.document.targetNamespace}/${operation.name}`
  const write = (name: string, content: string): string =>
    `<a:${name} xmlns:a="${addressingNamespace}" s:mustUnderstand="1">${content}</a:${name}>`
  return {
    MessageID: write('MessageID', `urn:uuid:${crypto.randomUUID()}`),
    Action: write('Action', action),
    To: write('To', endpoint.port.address ?? ''),
  }
}
