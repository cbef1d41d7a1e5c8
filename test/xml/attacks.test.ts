import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Malformed, parseOrUndefined, parseXml, scanDocument, type XmlLimits } from '../../src/xml/index.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { assertReleased, heldOctets } from '../support/held-memory.ts'

/**
 * Hostile documents, each refused (or read) by the defaults within 100 ms of CPU. The ids are those
 * of the list of attacks.
 */
const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => write(n)).join('')

/** Names whose hash (×31) is the same: `Aa` and `BB` in every combination. */
const collidingNames = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    Array.from({ length: 14 }, (_, bit) => ((n >> bit) & 1 ? 'Aa' : 'BB')).join(''),
  )

const entities = repeat(10, n => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`)

/** What is read, or how it is made for each try. */
type HostileDocument = string | Uint8Array | ((turn: number) => string)
const rows: [title: string, document: HostileDocument, refused: boolean | keyof XmlLimits][] = [
  ['P1 a DOCTYPE', '<!DOCTYPE a><a/>', true],
  ['P2 an internal entity', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', true],
  ['P3 an external entity', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', true],
  ['P4 a parameter entity', '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://127.0.0.1/"> %b;]><a/>', true],
  ['P5 a billion laughs', `<!DOCTYPE a [<!ENTITY e0 "ha">${entities}]><a>&e10;</a>`, true],
  ['P6 quadratic blow-up', `<!DOCTYPE a [<!ENTITY b "${'c'.repeat(100_000)}">]><a>${'&b;'.repeat(100_000)}</a>`, true],
  ['P7 defaults of an ATTLIST', '<!DOCTYPE a [<!ATTLIST a b CDATA "c">]><a/>', true],
  ['P8 200,000 deep', `${'<a>'.repeat(200_000)}${'</a>'.repeat(200_000)}`, 'depth'],
  ['P8 200,000 deep, without ends', `${'<a>'.repeat(200_000)}`, 'depth'],
  ['P9 100,000 attributes', `<a ${repeat(100_000, n => `b${n}="" `)}/>`, 'attributes'],
  [
    'P9 256 attributes on each of 1,000 elements',
    `<a>${`<b ${repeat(256, n => `c${n}="" `)}/>`.repeat(1000)}</a>`,
    false,
  ],
  ['P10 100,000 declarations', `<a ${repeat(100_000, n => `xmlns:b${n}="urn:${n}" `)}/>`, 'attributes'],
  [
    'P10 250 declarations at each of 60 depths, all used',
    `${repeat(60, depth => `<a ${repeat(250, n => `xmlns:p${depth}-${n}="urn:${n}" `)}>`)}${repeat(9000, n => `<p${n % 60}-${n % 250}:b/>`)}${'</a>'.repeat(60)}`,
    false,
  ],
  ['P11 300,000 siblings', `<a>${'<b/>'.repeat(300_000)}</a>`, 'children'],
  ['P12 60 MB of text', `<a>${'x'.repeat(60_000_000)}</a>`, 'bytes'],
  ['P12 12 MB of text', `<a>${'x'.repeat(12_000_000)}</a>`, 'text'],
  ['P13 a name of 2 MB', `<${'a'.repeat(2_000_000)}/>`, 'name'],
  ['P13 an attribute name of 2 MB', `<a ${'b'.repeat(2_000_000)}=""/>`, 'name'],
  ['P13 a prefix of 2 MB', `<${'a'.repeat(2_000_000)}:b/>`, 'name'],
  ['P14 a million references', `<a>${'&#65;'.repeat(1_000_000)}</a>`, 'references'],
  ['P14 a million references to predefined entities', `<a>${'&lt;'.repeat(1_000_000)}</a>`, 'references'],
  ['P14 a million references in values', `<a>${`<b c="${'&lt;'.repeat(10_000)}"/>`.repeat(100)}</a>`, 'references'],
  [
    'P15 9,000 colliding names',
    `<a>${collidingNames(9000)
      .map(name => `<${name}/>`)
      .join('')}</a>`,
    false,
  ],
  [
    'P15 250 colliding attributes',
    `<a ${collidingNames(250)
      .map(name => `${name}=""`)
      .join(' ')}/>`,
    false,
  ],
  [
    'P15 250 colliding prefixes',
    `<a ${collidingNames(250)
      .map(name => `xmlns:${name}="u"`)
      .join(' ')}/>`,
    false,
  ],
  [
    'P15 names of Object.prototype',
    '<__proto__ constructor="" hasOwnProperty="" __proto__=""><toString/></__proto__>',
    false,
  ],
  // Other names in each try: those of the last one are known for a while.
  [
    'P15 50,000 different names',
    turn => `<a>${repeat(9, m => `<b>${repeat(5_600, n => `<c${turn}-${m}-${n}/>`)}</b>`)}</a>`,
    'names',
  ],
  ['P17 two roots', '<a/><a/>', true],
  ['P17 trailing junk', '<a/>junk', true],
  ['P18 a million illegal characters', `<a>${'\u0001'.repeat(1_000_000)}</a>`, true],
  ['P21 a million ]', `<a>${']'.repeat(1_000_000)}</a>`, false],
  ['P21 a million > in text', `<a>${'>'.repeat(1_000_000)}</a>`, false],
  ['P21 100,000 CDATA sections', `<a>${'<![CDATA[]]>'.repeat(100_000)}</a>`, false],
  ['P21 100,000 comments', `<a>${'<!---->'.repeat(100_000)}</a>`, false],
  ['100,000 comments before the root', `${'<!---->'.repeat(100_000)}<a/>`, false],
  ['P21 a million carriage returns', `<a>${'\r'.repeat(1_000_000)}</a>`, false],
  ['P22 an attribute by two prefixes', '<a xmlns:b="u" xmlns:c="u" b:d="" c:d=""/>', true],
  ['P23 100,000 undeclared prefixes', `<a>${repeat(100_000, n => `<b${n}:c/>`)}</a>`, true],
  ['P24 xmlns rebound', '<a xmlns:xmlns="u"/>', true],
  ['an instruction that does not end', `<a><?b ${'?'.repeat(1_000_000)}</a>`, true],
  ['a comment that does not end', `<a><!-- ${'- '.repeat(1_000_000)}</a>`, true],
  ['a CDATA section that does not end', `<a><![CDATA[${']'.repeat(1_000_000)}</a>`, true],
  ['a declaration of a megabyte', `<?xml version="1.0"${' '.repeat(1_000_000)}?><a/>`, true],
  ['a tag of white space', `<a${' '.repeat(1_000_000)}/>`, false],
  ['a name space of 60 KB, 200 times', `<a>${`<b xmlns="${'u'.repeat(60_000)}"/>`.repeat(200)}</a>`, false],
]

let turns = 0
const octetsOf = (document: HostileDocument): Uint8Array => {
  const given = typeof document === 'function' ? document(turns++) : document
  return typeof given === 'string' ? new TextEncoder().encode(given) : given
}

for (const [title, document, refused] of rows) {
  for (const [kind, read] of [
    ['read over', (bytes: Uint8Array) => parseOrUndefined(() => scanDocument(bytes).finish())],
    ['made a tree', (bytes: Uint8Array) => parseXml(bytes)],
  ] as const) {
    test(`B5.5 ${title}: ${refused ? 'refused' : 'harmless'}, ${kind} in less than 100 ms of CPU`, async () => {
      const given = Array.from({ length: typeof document === 'function' ? 11 : 1 }, () => octetsOf(document))
      await assertCpuMsBelow(100, () => {
        const result = read(given.length > 1 ? given.pop()! : given[0]!)
        assert.equal(
          result instanceof Malformed,
          refused !== false,
          JSON.stringify(result instanceof Malformed && result),
        )
        if (typeof refused === 'string') assert.equal(result instanceof Malformed && result.limit, refused)
      })
    })
  }
}

const message =
  '\ufeff<?xml version="1.0" encoding="utf-8"?><!--é--><e:Envelope xmlns:e="urn:e"><e:Body a="1&amp;2">x<![CDATA[y]]>é</e:Body></e:Envelope>'

test('P17 a message cut at every byte is refused', () => {
  const bytes = new TextEncoder().encode(message)
  assert.ok(!(parseXml(bytes) instanceof Malformed))
  for (let length = 0; length < bytes.length; length++) {
    assert.ok(parseXml(bytes.subarray(0, length)) instanceof Malformed, `${length} bytes`)
  }
})

test('P15 names of hostile documents are forgotten', async () => {
  const before = heldOctets()
  for (let round = 0; round < 30; round++) {
    const names = repeat(5000, n => `<flood-${round}-${n}-${'x'.repeat(500)}/>`)
    scanDocument(new TextEncoder().encode(`<a>${names}</a>`)).finish()
    await setImmediate()
  }
  // 150,000 names of 500 characters are 75 MB.
  await assertReleased(before, 10_000_000)
})

test('P15 long namespace names of hostile documents are forgotten, even with few prefixes', async () => {
  const before = heldOctets()
  for (let round = 0; round < 2000; round++) {
    const uri = `urn:${round}-${'x'.repeat(20_000)}`
    const document = `<f${round}:a xmlns:f${round}="${uri}"><f${round}:b/></f${round}:a>`
    scanDocument(new TextEncoder().encode(document)).finish()
    if (round % 100 === 0) await setImmediate()
  }
  // 2,000 names of 20,000 characters are 40 MB.
  await assertReleased(before, 10_000_000)
})
