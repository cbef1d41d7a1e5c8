/**
 * D3: values in SOAP's encoding that claim more than they contain (SOAP 1.1 §5, SOAP 1.2 Part 2
 * §3).
 */
import type { CheckRule } from '../rule.ts'
import { sendMessage } from '../soap-discovery.ts'
import type { SoapWords } from '../soap-message.ts'
import { isAnswer } from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { expectEachRefused, type HostileMessages } from './hostile-message.ts'
import { findEncoded } from './message-rules.ts'

const hugeCount = 2_147_483_647
const doublings = 12

export const encodingAttacks: readonly CheckRule[] = [
  {
    id: 'D3.18',
    says: 'a value of SOAP’s encoding costs what it holds, not what it announces or refers to',
    how: `messages to an encoded operation with arrays that announce ${hugeCount} items, begin there or have an item there, with 100,000 items in each of three dimensions, with references that double ${doublings} times, and with a circle: refused quickly, and the operation still answers afterwards`,
    probe: async (trial: Trial) => {
      const probe = await findEncoded(trial.bench)
      if (!probe) trial.skip('no described operation that changes nothing is encoded')
      const { endpoint, as, operation, body } = probe
      await expectEachRefused(trial, probe, writeHostileValues(endpoint.words, body))
      const answered = await sendMessage(trial.bench, endpoint, { body }, { as, action: operation.action })
      trial.expect(isAnswer(answered), 'the operation is answered afterwards', answered)
    },
  },
]

interface EncodingWords {
  readonly uri: string
  readonly reference: (id: string) => string
  readonly identifier: (id: string) => string
  /** Attributes of arrays that hold two items, and what they claim. */
  readonly arrays: readonly (readonly [subject: string, attributes: string, ofItem?: string])[]
}
const encodings: Readonly<Record<SoapWords['number'], EncodingWords>> = {
  '1.1': {
    uri: 'http://schemas.xmlsoap.org/soap/encoding/',
    reference: id => `href="#${id}"`,
    identifier: id => `id="${id}"`,
    arrays: [
      ['an array of many items', `e:arrayType="d:string[${hugeCount}]"`],
      ['an array of many dimensions', 'e:arrayType="d:string[100000,100000,100000]"'],
      ['an array of many ranks', `e:arrayType="d:string${'[,,,]'.repeat(1000)}[2]"`],
      ['a part that begins far behind', `e:arrayType="d:string[${hugeCount}]" e:offset="[${hugeCount - 2}]"`],
      ['an item far behind', 'e:arrayType="d:string[]"', `e:position="[${hugeCount - 1}]"`],
    ],
  },
  '1.2': {
    uri: 'http://www.w3.org/2003/05/soap-encoding',
    reference: id => `e:ref="${id}"`,
    identifier: id => `e:id="${id}"`,
    arrays: [
      ['an array of many items', `e:itemType="d:string" e:arraySize="${hugeCount}"`],
      ['an array of many dimensions', 'e:itemType="d:string" e:arraySize="100000 100000 100000"'],
      ['an array of many ranks', `e:itemType="d:string" e:arraySize="*${' 2'.repeat(1000)}"`],
    ],
  },
}

function writeHostileValues(words: SoapWords, body: string): HostileMessages {
  const { uri, arrays, reference, identifier } = encodings[words.number]
  const names = `xmlns:e="${uri}" xmlns:d="http://www.w3.org/2001/XMLSchema" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"`
  const write = (attributes: string, content: string, behind = ''): string =>
    `<s:Envelope xmlns:s="${words.namespace}" ${names}><s:Body>${replaceValue(nameEncoding(body, uri), attributes, content)}${behind}</s:Body></s:Envelope>`
  const struct = (id: string, next: string): string =>
    `<d:anyType ${identifier(id)}><a ${reference(next)}/><b ${reference(next)}/></d:anyType>`
  const doubling = Array.from({ length: doublings }, (_, at) => struct(`probe${at}`, `probe${at + 1}`)).join('')
  return [
    ...arrays.map(
      ([subject, attributes, ofItem = '']) =>
        [subject, write(`i:type="e:Array" ${attributes}`, `<d:string>probe</d:string><d:string ${ofItem}>probe</d:string>`)] as const, // biome-ignore format: a pair
    ),
    [
      'references that double',
      write(reference('probe0'), '', `${doubling}<d:string ${identifier(`probe${doublings}`)}>probe</d:string>`),
    ],
    ['a circle of references', write(reference('probe0'), '', struct('probe0', 'probe0'))],
  ]
}

const nameEncoding = (body: string, uri: string): string => body.replace(/^<[^\s/>]+/, `$& s:encodingStyle="${uri}"`)

/** The first parameter with another value; without one, an unknown parameter. */
function replaceValue(body: string, attributes: string, content: string): string {
  const leaf = /<([^\s<>/]+)>[^<>]+<\/\1>/
  if (leaf.test(body)) return body.replace(leaf, (_, name) => `<${name} ${attributes}>${content}</${name}>`)
  const probe = `<probe ${attributes}>${content}</probe>`
  return body.endsWith('/>') ? body.replace(/^<([^\s/>]+)([^>]*)\/>$/, `<$1$2>${probe}</$1>`) : body.replace(/<\/[^<>]*>$/, end => probe + end) // biome-ignore format: two cases
}
