import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Cursor,
  clarkNotation,
  internName,
  Malformed,
  type ParseOptions,
  parseOrUndefined,
  parseXml,
  positionOf,
  readElement,
  scanDocument,
  walkTree,
  type XmlLimits,
} from '../../src/xml/index.ts'
import { assertReleased, heldOctets } from '../support/held-memory.ts'
import { parseOrFail } from './documents.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const octets = (text: string) => Uint8Array.from(text, character => character.charCodeAt(0))
/** In UTF-16, little-endian, without a byte order mark. */
const wide = (encoding: string) => Buffer.from(`<?xml version="1.0" encoding="${encoding}"?><a/>`, 'utf16le')

/** The events in short: `(name attribute=value`, `"text`, `!comment`, `?target data`, `)`. */
function writeEvents(cursor: Cursor): string {
  const out: string[] = []
  for (let event = cursor.next(); event !== 'after'; event = cursor.next()) {
    if (event === 'start') {
      const attributes = Array.from(
        { length: cursor.attributes },
        (_, index) => ` ${clarkNotation(cursor.attributeName(index))}=${cursor.attributeValue(index)}`,
      )
      out.push(`(${clarkNotation(cursor.name)}${attributes.join('')}`)
    } else if (event === 'end') out.push(')')
    else if (event === 'text') out.push(`"${cursor.value}`)
    else if (event === 'comment') out.push(`!${cursor.value}`)
    else out.push(`?${cursor.target} ${cursor.value}`)
  }
  return out.join('|')
}

const accepted: [title: string, source: string | Uint8Array, events: string, options?: ParseOptions][] = [
  ['[1] one element', '<a/>', '(a|)'],
  ['[3] white space around and inside tags', '\n<a\t>\r\n</a \n>\n ', '(a|"\n|)'],
  [
    '[22] a declaration, comments and instructions around',
    '<?xml version="1.0"?><!--x--><?p?><a/><?q  r ?>',
    '(a|)|?q r ',
    {},
  ],
  ['§2.8 version 1.1 is read as 1.0 (Fifth Edition)', "<?xml version='1.1' standalone = 'yes' ?><a/>", '(a|)'],
  ['§2.11 line ends', '<a b="1\r\n2\r3\n4\t5">1\r\n2\r3\r\r\n</a>', '(a b=1 2 3 4 5|"1\n2\n3\n\n|)'],
  ['§2.11 a carriage return by reference stays', '<a b="&#13;&#10;&#9;">&#xD;\n</a>', '(a b=\r\n\t|"\r\n|)'],
  [
    '§2.11 line ends in comments, CDATA, instructions',
    '<a><!--\r\n--><![CDATA[\r]]><?p x\r\n?></a>',
    '(a|!\n|"\n|?p x\n|)',
    { comments: true },
  ],
  ['[14] ] and > in text', '<a>]] > ]>]]</a>', '(a|"]] > ]>]]|)'],
  ['[18] CDATA is text and joins', '<a>1<![CDATA[<&]]]]>2<![CDATA[]]>3</a>', '(a|"1<&]]23|)'],
  ['[18] an empty CDATA section is not a text', '<a><![CDATA[]]></a>', '(a|)'],
  ['[15] a comment is dissolved', '<a>1<!-- - -->2</a>', '(a|"12|)'],
  ['[15] a comment alone is not a text', '<a><!----></a>', '(a|)'],
  ['[15] a comment, when asked for', '<a>1<!-- - -->2</a>', '(a|"1|! - |"2|)', { comments: true }],
  ['[16] instructions', '<a><?xml-stylesheet?><?p  a?b ??></a>', '(a|?xml-stylesheet |?p a?b ?|)'],
  ['[67] references', '<a b="&lt;&#x3C;&quot;">&amp;&gt;&apos;&#128512;&#x1F600;&#00065;</a>', '(a b=<<"|"&>\'😀😀A|)'],
  ['[66] a reference to > after ]]', '<a>]]&gt;]]&#62;</a>', '(a|"]]>]]>|)'],
  ['[10] both quotes, > in a value', `<a b='"' c="'>]]>"/>`, `(a b=" c='>]]>|)`],
  [
    '§2.2 the limits of Char',
    '<a>\u{7f}\u{85}\u{d7ff}\u{e000}\u{fffd}\u{10000}\u{10ffff}</a>',
    '(a|"\u{7f}\u{85}\u{d7ff}\u{e000}\u{fffd}\u{10000}\u{10ffff}|)',
  ],
  ['§2.3 names of the Fifth Edition', '<é\u{b7}-.0><\u{10000}/><_/></é\u{b7}-.0>', '(é\u{b7}-.0|(\u{10000}|)|(_|)|)'],
  ['NS §6.1 prefixes are scoped', '<p:a xmlns:p="u"><p:b xmlns:p="v"/><p:c/></p:a>', '({u}a|({v}b|)|({u}c|)|)'],
  ['NS §6.2 the default is not for attributes', '<a xmlns="u" b="1"><c xmlns=""/><d/></a>', '({u}a b=1|(c|)|({u}d|)|)'],
  ['NS §6.1 a declaration after its use', '<p:a p:b="1" xmlns:p="u"/>', '({u}a {u}b=1|)'],
  ['NS §6.3 one local name, different namespaces', '<a xmlns="u" xmlns:p="u" b="1" p:b="2"/>', '({u}a b=1 {u}b=2|)'],
  [
    'NS §3 xml needs no declaration and may have it',
    '<a xml:b="1" xmlns:xml="http://www.w3.org/XML/1998/namespace"/>',
    '(a {http://www.w3.org/XML/1998/namespace}b=1|)',
  ],
  ['NS a namespace name is normalised as a value is', '<a xmlns="u&#x41;\n"/>', '({uA }a|)'],
  [
    'P15 names of Object.prototype',
    '<__proto__ constructor="1" xmlns:toString="u"><toString:valueOf/></__proto__>',
    '(__proto__ constructor=1|({u}valueOf|)|)',
  ],
  ['§4.3.3 UTF-8 with a byte order mark', octets('\xef\xbb\xbf<a>\xc3\xa9</a>'), '(a|"é|)'],
  ['§4.3.3 UTF-8 declared as UTF8', '<?xml version="1.0" encoding="UTF8"?><a>é</a>', '(a|"é|)'],
  ['§4.3.3 UTF-8 declared, in any case', '<?xml version="1.0" encoding="uTf-8"?><a>é</a>', '(a|"é|)'],
  ['§4.3.3 UTF-16, little-endian', octets('\xff\xfe<\0a\0>\0\xe9\0</\0a\0>\0'.replace('</\0', '<\0/\0')), '(a|"é|)'],
  ['§4.3.3 UTF-16, big-endian', octets('\xfe\xff\0<\0a\0/\0>'), '(a|)'],
  ['appendix F UTF-16LE by declaration, without a mark', wide('UTF-16LE'), '(a|)'],
  ['appendix F UTF-16BE by declaration, without a mark', wide('utf-16be').swap16(), '(a|)'],
  ['RFC 7303 UTF-16LE by charset, without a mark', octets('<\0a\0/\0>\0'), '(a|)', { charset: 'UTF-16LE' }],
  ['§4.3.3 ISO-8859-1 where declared', octets('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>'), '(a|"é|)'],
  [
    '§4.3.3 windows-1252, whose octets from 0x80 to 0x9F are no control characters',
    octets('<?xml version="1.0" encoding="Windows-1252"?><a>\x80 \xe9\x92</a>'),
    '(a|"€ é’|)',
  ],
  ['RFC 7303 windows-1251 by charset', octets('<a>\xcf\xf0</a>'), '(a|"Пр|)', { charset: 'windows-1251' }],
  ['RFC 7303 ISO-8859-2 by charset', octets('<a>\xb3\x85</a>'), '(a|"ł\x85|)', { charset: 'ISO-8859-2' }],
  ['RFC 7303 ISO-8859-9, apart from windows-1254', octets('<a>\xf0\x80</a>'), '(a|"ğ\x80|)', { charset: 'iso-8859-9' }],
  ['RFC 7303 ISO-8859-15 by charset', octets('<a>\xa4</a>'), '(a|"€|)', { charset: 'iso-8859-15' }],
  ['RFC 7303 KOI8-R by charset', octets('<a>\xd0</a>'), '(a|"п|)', { charset: 'KOI8-R' }],
  ['RFC 7303 ISO-8859-1 by charset', octets('<a>\xe9</a>'), '(a|"é|)', { charset: 'iso-8859-1' }],
  ...[
    ['Shift_JIS', '<a>\x93\xfa\x96{\x83\\\xb1</a>', '日本ソｱ'],
    ['Windows-31J', '<a>\x87@</a>', '①'],
    ['EUC-JP', '<a>\xc6\xfc\xcb\xdc\x8e\xb1</a>', '日本ｱ'],
    ['EUC-KR', '<a>\xc7\xd1</a>', '한'],
    ['GB2312', '<a>\xd6\xd0</a>', '中'],
    ['GBK', '<a>\x81@\xd6\xd0</a>', '丂中'],
    ['GB18030', '<a>\xd6\xd0\x81\x30\x84\x36\x94\x39\xda\x33</a>', '中¥💩'],
    ['Big5', '<a>\xa4\xa4\xa5\\</a>', '中功'],
  ].flatMap(([label = '', document = '', text = '']): (typeof accepted)[number][] => [
    [`RFC 7303 ${label} by charset`, octets(document), `(a|"${text}|)`, { charset: label }],
    [`§4.3.3 ${label} where declared`, octets(`<?xml version="1.0" encoding="${label}"?>${document}`), `(a|"${text}|)`],
  ]),
  ['a slice, with the namespaces around it', '<p:a/>', '({u}a|)', { scope: new Map([['p', 'u']]) }],
]

for (const [title, source, expected, options] of accepted) {
  test(`XML 1.0 ${title}`, () => {
    const document = typeof source === 'string' ? bytes(source) : source
    const around = (text: string) => (title.startsWith('[22]') ? text.replace(/^/, '?p |') : text)
    assert.equal(writeEvents(scanDocument(document, options)), around(expected))
  })
}

const xmlns = 'http://www.w3.org/2000/xmlns/'
const xml = 'http://www.w3.org/XML/1998/namespace'

/** The offset is at `¦`, which is not part of the document. */
const refused: [title: string, source: string, reason: RegExp, options?: ParseOptions][] = [
  ['[1] nothing', '¦', /cut off/],
  ['[1] white space only', ' ¦', /cut off/],
  ['[1] no root element', '<!-- -->¦', /no root/],
  ['[1] text before the root', '¦x<a/>', /text outside the root/],
  ['[1] text after the root', '<a/>¦x<b/>', /after the root/],
  ['[1] two roots (P17)', '<a/>¦<b/>', /second root/],
  ['[1] a NUL at the end (P17)', '<a/>\0¦', /something follows/],
  ['[1] a reference after the root', '<a/>¦&#32;<b/>', /after the root/],
  ['[27] CDATA outside the root', '¦<![CDATA[]]><a/>', /unexpected `<!`/],
  ['[28] a document type declaration (P1)', '¦<!DOCTYPE a><a/>', /document type/],
  ['[28] … after a comment (P1)', '<!-- -->¦<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', /document type/],
  ['[28] … inside an element', '<a>¦<!DOCTYPE a></a>', /document type/],
  ['[23] a declaration that is not the first', ' ¦<?xml version="1.0"?><a/>', /XML declaration is not at the start/],
  ['[23] no version', '¦<?xml encoding="utf-8"?><a/>', /XML declaration/],
  ['[26] version 2.0', '¦<?xml version="2.0"?><a/>', /XML declaration/],
  ['[32] standalone maybe', '¦<?xml version="1.0" standalone="maybe"?><a/>', /XML declaration/],
  ['[23] the wrong order', '¦<?xml version="1.0" standalone="no" encoding="utf-8"?><a/>', /XML declaration/],
  ['[23] a declaration without an end', '¦<?xml version="1.0"><a/>', /XML declaration/],
  ['[15] -- in a comment', '<a><!-- ¦-- --></a>', /`--`/],
  ['[15] a comment that ends in --->', '<a><!-- ¦---></a>', /`--`/],
  ['[15] a comment without an end', '<a><!--¦ </a>', /ends inside/],
  ['[16] an instruction without a target', '<a>¦<? ?></a>', /target/],
  ['[17] an instruction named XML', '<a>¦<?xMl version="1.0"?></a>', /target/],
  ['NS §7 a colon in a target', '<a>¦<?p:q?></a>', /target/],
  ['[16] data right after the target', '<a>¦<?p=1?></a>', /target/],
  ['[14] ]]> in text', '<a>x¦]]></a>', /`]]>`/],
  ['[14] ]]> after a reference', '<a>&amp;¦]]></a>', /`]]>`/],
  ['[14] ]]> after CDATA', '<a><![CDATA[]]>¦]]></a>', /`]]>`/],
  ['[39] another end tag', '<a><b>¦</a></b>', /end tag/],
  ['[39] a longer end tag', '<a>¦</ab>', /end tag/],
  ['[39] a shorter end tag', '<ab>¦</a></ab>', /end tag/],
  ['[39] an end tag that differs in the middle', '<abcdefghijklmnop>¦</abcdEFGHijklmnop>', /end tag/],
  ['[39] no end tag after CDATA', '<a><![CDATA[]]>¦ ', /ends inside/],
  ['[39] another prefix in the end tag', '<p:a xmlns:p="u" xmlns:q="u">¦</q:a>', /end tag/],
  ['[42] an attribute in an end tag', '<a>¦</a b="1">', /end tag/],
  ['[39] an end tag too many', '<a></a>¦</a>', /second root/],
  ['[40] white space before the name', '<¦ a/>', /invalid name/],
  ['[40] a digit before the name', '<a><¦1/></a>', /invalid name/],
  ['[40] no white space between attributes', '<a b="1"¦c="2"/>', /white space/],
  ['[44] a slash alone', '<a ¦/ >x</a>', /`\/`/],
  ['[41] no value', '<a b¦/>', /without a value/],
  ['[10] no quotes', '<a b=¦1/>', /not quoted/],
  ['[10] < in a value', '<a b="¦<"/>', /`<`/],
  ['[10] a value without an end', '<a b=">¦', /ends inside/],
  ['[66] no semicolon', '<a>¦&#65</a>', /reference/],
  ['[66] no digits', '<a>¦&#;</a>', /reference/],
  ['[66] X', '<a>¦&#X41;</a>', /reference/],
  ['[66] a reference to no Char', '<a>¦&#0;</a>', /illegal character/],
  ['[66] a reference to a surrogate', '<a>¦&#xD83D;&#xDE00;</a>', /illegal character/],
  ['[66] a reference beyond Unicode', '<a>¦&#x100000041;</a>', /illegal character/],
  ['[66] a reference to U+FFFE in a value', '<a b="¦&#xFFFE;"/>', /illegal character/],
  ['§4.1 an entity that is not declared', '<a>¦&nbsp;</a>', /undeclared entity/],
  ['§4.1 toString is not an entity', '<a>¦&toString;</a>', /undeclared entity/],
  ['§4.1 & alone', '<a>x ¦& y</a>', /invalid reference/],
  ['§2.2 U+0001 (P18)', '<a>é¦\u0001</a>', /illegal/],
  ['§2.2 U+001F in a value (P18)', '<a b="¦\u001f"/>', /illegal/],
  ['§2.2 U+0000 in CDATA (P18)', '<a><![CDATA[¦\0]]></a>', /illegal/],
  ['§2.2 U+000C in a comment (P18)', '<a><!--¦\f--></a>', /illegal/],
  ['§2.2 U+FFFF (P18)', '<a>¦\uffff</a>', /illegal/],
  ['NS §3 a prefix that is not declared (P23)', '<a>¦<p:b/></a>', /prefix p/],
  ['NS §3 … of an attribute (P23)', '<a¦ p:b=""/>', /prefix p/],
  ['NS §3 … any more (P23)', '<a><p:b xmlns:p="u"/>¦<p:b/></a>', /prefix p/],
  ['NS §2.2 a prefix undeclared (P23)', '<a xmlns:p="u"><b ¦xmlns:p=""/></a>', /undeclared/],
  ['NS §3 xml for another (P24)', '<a ¦xmlns:xml="u"/>', /belong together/],
  ['NS §3 another for xml (P24)', `<a ¦xmlns:p="${xml}"/>`, /belong together/],
  ['NS §3 xml as default (P24)', `<a ¦xmlns="${xml}"/>`, /belong together/],
  ['NS §3 xmlns declared (P24)', `<a ¦xmlns:xmlns="${xmlns}"/>`, /xmlns/],
  ['NS §3 a prefix for xmlns (P24)', `<a ¦xmlns:p="${xmlns}"/>`, /xmlns/],
  ['NS §3 xmlns as default (P24)', `<a ¦xmlns="${xmlns}"/>`, /xmlns/],
  ['NS §3 an element xmlns:a (P24)', '¦<xmlns:a/>', /prefix xmlns/],
  ['NS §4 two colons', '<¦p:q:a xmlns:p="u"/>', /invalid name/],
  ['NS §4 a colon at the end', '<¦p: xmlns:p="u"/>', /invalid name/],
  ['NS §4 a colon at the beginning', '<¦:a/>', /invalid name/],
  ['NS §4 a digit after the colon', '<¦p:1 xmlns:p="u"/>', /invalid name/],
  ['[41] an attribute twice', '<a¦ b="1" b="2"/>', /duplicate attribute/],
  [
    'NS §6.3 the same attribute by two prefixes (P22)',
    '<a¦ xmlns:p="u" xmlns:q="u" p:b="" q:b=""/>',
    /duplicate attribute/,
  ],
  [
    'NS §6.3 … among many (P22)',
    `<a¦ xmlns:p="u" xmlns:q="u" p:b="" ${repeatText(20, n => `c${n}=""`)} q:b=""/>`,
    /duplicate attribute/,
  ],
  ['[41] a declaration twice', '<a xmlns:p="u" ¦xmlns:p="u"/>', /duplicate namespace declaration/],
  ['[41] a default twice', '<a xmlns="u" ¦xmlns="v"/>', /duplicate namespace declaration/],
  [
    'SOAP 1.2 §5 an instruction, where it is refused (P16)',
    '<a>¦<?p?></a>',
    /processing instruction/,
    { instructions: 'refuse' },
  ],
  ['SOAP 1.2 §5 … before the root (P16)', '¦<?p?><a/>', /processing instruction/, { instructions: 'refuse' }],
  ['§4.3.3 UTF-16 declared in UTF-8 (P18)', '¦<?xml version="1.0" encoding="UTF-16"?><a/>', /byte order mark/],
  [
    '§4.3.3 UTF-16LE declared in UTF-8 (P18)',
    '¦<?xml version="1.0" encoding="UTF-16LE"?><a/>',
    /the declared encoding .* contradicts/,
  ],
  [
    '§4.3.3 ISO-8859-1 declared, UTF-8 told (P18)',
    '¦<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
    /the declared encoding .* contradicts/,
    { charset: 'utf-8' },
  ],
  [
    '§4.3.3 UTF-8 declared, ISO-8859-1 told (P18)',
    '¦<?xml version="1.0" encoding="UTF-8"?><a/>',
    /the declared encoding .* contradicts/,
    { charset: 'iso-8859-1' },
  ],
  [
    '§4.3.3 ISO-8859-1 after a mark of UTF-8 (P18)',
    '¦\ufeff<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
    /byte order mark/,
  ],
  ['§4.3.3 an encoding that is not supported', '¦<?xml version="1.0" encoding="UTF-7"?><a/>', /not supported/],
  ['RFC 7303 a charset that is not supported', '¦<a/>', /not supported/, { charset: 'constructor' }],
  ['RFC 7303 UTF-16 told, without a mark', '¦<a/>', /byte order mark/, { charset: 'utf-16' }],
  ['RFC 7303 UTF-16 told, a mark of UTF-8 (P18)', '¦\ufeff<a/>', /byte order mark/, { charset: 'utf-16' }],
  ['US-ASCII beyond itself (P18)', '<a>¦é</a>', /us-ascii does not define/, { charset: 'us-ascii' }],
]

function repeatText(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(' ')
}

for (const [title, source, reason, options] of refused) {
  test(`XML 1.0 ${title} is refused`, () => {
    const [before, after] = source.split('¦')
    const failure = parseOrUndefined(() => writeEvents(scanDocument(bytes(before! + after!), options)))
    assert.ok(failure instanceof Malformed, String(failure))
    assert.match(failure.reason, reason)
    assert.equal(failure.at, bytes(before!).length)
    assert.equal(failure.limit, undefined)
    const skipped = parseOrUndefined(() => scanDocument(bytes(before! + after!), options).finish())
    assert.deepEqual(skipped, failure, 'what is skipped is checked as what is read')
  })
}

const invalid: [title: string, octets: string, at: number][] = [
  ['overlong, two octets', '<a>\xc0\xbc</a>', 3],
  ['overlong, three octets', '<a>\xe0\x80\xbc</a>', 3],
  ['overlong, four octets', '<a>\xf0\x8f\xbf\xbf</a>', 3],
  ['a surrogate', '<a>\xed\xa0\x80</a>', 3],
  ['beyond U+10FFFF', '<a>\xf4\x90\x80\x80</a>', 3],
  ['five octets', '<a>\xf8\x88\x80\x80\x80</a>', 3],
  ['a continuation alone', '<a>\x80</a>', 3],
  ['cut off', '<a>\xe4\xb8</a>', 3],
  ['in a name', '<a\xff/>', 1],
  ['in a value', '<a b="\xff"/>', 6],
  ['in the target of an instruction', '<a><?p\xff?></a>', 3],
  ['in an instruction', '<a><?p \xff?></a>', 7],
  ['in a comment', '<a><!--\xff--></a>', 7],
  ['in CDATA', '<a><![CDATA[\xff]]></a>', 12],
  ['in an end tag', '<\xc3\xa9></\xc3\xaa>', 4],
]
for (const [title, text, at] of invalid) {
  test(`RFC 3629 §4 not UTF-8: ${title} (P18)`, () => {
    const result = parseXml(octets(text))
    assert.ok(result instanceof Malformed)
    assert.equal(result.at, at)
  })
}

test('§4.3.3 octets that a multi-octet encoding does not define are refused, with their place (P18)', () => {
  const flawed: readonly (readonly [label: string, text: string, at: number])[] = [
    ['Shift_JIS', '<a>\x93\xfa\x93</a>', 5], // a lead without its trail takes no markup with it
    ['Shift_JIS', '<a>\x93', 3],
    ['EUC-JP', '<a>\xc6\xfc\xc6</a>', 5],
    ['GBK', '<a>\xd6\xd0\xff</a>', 5],
    ['GB18030', '<a>\x81\x30\x81</a>', 3],
    ['Big5', '<a>\xa4\xa4\xa4<b/></a>', 5],
    ['EUC-KR', '<a b="\xc7"/>', 6],
  ]
  for (const [charset, text, at] of flawed) {
    const failure = parseXml(octets(text), { charset })
    assert.ok(failure instanceof Malformed, `${charset} ${text}`)
    assert.match(failure.reason, /does not define/)
    assert.equal(failure.at, at, `${charset} ${text}`)
  }
  const later = parseXml(octets('<a>\xd6\xd0\xd6\xd0<b></a>'), { charset: 'gbk' })
  assert.equal(later instanceof Malformed && later.at, 10, 'in the octets as they came')
})
test('§4.3.3 encodings in which US-ASCII octets may be other characters are not accepted (P18)', () => {
  for (const charset of ['ISO-2022-JP', 'ISO-2022-KR', 'HZ-GB-2312', 'UTF-7', 'UTF-32', 'IBM037', 'x-user-defined'])
    assert.match(String((parseXml(octets('<a/>'), { charset }) as Malformed).reason), /not supported/, charset)
  const everyAscii = Uint8Array.from({ length: 0x5f }, (_, i) => 0x20 + i)
  for (const label of ['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5'])
    assert.equal(new TextDecoder(label).decode(everyAscii), String.fromCharCode(...everyAscii), label)
})
test('§4.3.3 an octet that its encoding does not define is refused, with its place (P18)', () => {
  const failure = parseXml(octets('<a>\xe9\xaa</a>'), { charset: 'windows-1253' })
  assert.ok(failure instanceof Malformed)
  assert.deepEqual([failure.at, failure.reason], [4, 'an octet that windows-1253 does not define'])
  const later = parseXml(octets('<a>\xe9\xe9<b></a>'), { charset: 'windows-1253' })
  assert.ok(later instanceof Malformed)
  assert.equal(later.at, 8)
})

test('§4.3.3 the refusal of UTF-16 without a byte order mark says so, unless it is declared as UTF-16LE or UTF-16BE', () => {
  const reasonOf = (bytes: Buffer) => {
    const found = parseXml(bytes)
    return found instanceof Malformed ? found.reason : 'read'
  }
  for (const bytes of [wide('UTF-16'), Buffer.from('<a/>', 'utf16le'), Buffer.from('<a/>', 'utf16le').swap16()])
    assert.match(reasonOf(bytes), /UTF-16 needs a byte order mark/i)
  for (const name of ['UTF-8', 'UTF-16BE', 'ISO-8859-1'])
    assert.match(reasonOf(wide(name)), /the declared encoding .* contradicts utf-16le/)
  assert.equal(reasonOf(wide('UTF-16LE')), 'read')
})
test('§4.3.3 UTF-16: offsets count the received octets; lone surrogates and half characters are refused (P18)', () => {
  const wide = (text: string) => octets(`\xff\xfe${[...text].map(character => `${character}\0`).join('')}`)
  const failure = parseXml(wide('<a>\xe9\xe9<b></a>'))
  assert.ok(failure instanceof Malformed)
  assert.equal(failure.at, 2 + 2 * 8)
  const lone = parseXml(octets('\xfe\xff\0<\0a\0>\xd8\x3d\0<\0/\0a\0>'))
  assert.ok(lone instanceof Malformed)
  assert.equal(lone.at, 8)
  assert.ok(parseXml(octets('\xfe\xff\0<\0a\0/\0>\0')) instanceof Malformed)
  assert.ok(parseXml(octets('\xff\xfe\0\0<\0\0\0a\0\0\0/\0\0\0>\0\0\0')) instanceof Malformed, 'UTF-32')
})

test('a position has a line and a column in characters, from 1', () => {
  const text = bytes('<a>\r\né😀\r<b></a>')
  assert.deepEqual(positionOf(text, 0), { line: 1, column: 1 })
  assert.deepEqual(positionOf(text, 11), { line: 2, column: 3 })
  assert.deepEqual(positionOf(text, 12), { line: 3, column: 1 })
})

const limited: [limit: keyof XmlLimits, most: number, within: string, over: string][] = [
  ['bytes', 8, '<a>b</a>', '<a>bc</a>'],
  ['depth', 2, '<a><b/></a>', '<a><b><c/></b></a>'],
  ['elements', 3, '<a><b/><c/></a>', '<a><b><d/></b><c/></a>'],
  ['children', 2, '<a><b><b/></b><b/></a>', '<a><b/><b/><b/></a>'],
  ['attributes', 2, '<a b="" xmlns="u"/>', '<a b="" xmlns="u" c=""/>'],
  ['name', 3, '<abc/>', '<abcd/>'],
  ['name', 3, '<a><?pqr?></a>', '<a><?pqrs?></a>'],
  ['name', 3, '<a bcd=""/>', '<a bcde=""/>'],
  ['names', 2, '<limit-1><limit-2/></limit-1>', '<limit-3><limit-4/><limit-5/></limit-3>'],
  ['value', 3, '<a b="123"/>', '<a b="&#9;"/>'],
  ['text', 3, '<a>123<b/>123</a>', '<a>1234</a>'],
  ['text', 20, '<a>1<![CDATA[2]]></a>', '<a>1<![CDATA[2345678901]]></a>'],
  ['references', 2, '<a b="&lt;">&#9;</a>', '<a b="&lt;">&#9;&#9;</a>'],
]
for (const [limit, most, within, over] of limited) {
  test(`a limit of ${most} for ${limit}: ${over}`, () => {
    for (let again = 0; again < 2; again++) {
      const limits = { [limit]: most }
      if (again === 0 || limit !== 'names') parseOrFail(within, { limits })
      const failure = parseXml(bytes(over), { limits })
      if (again === 1 && limit === 'names') return
      assert.ok(failure instanceof Malformed, 'over the limit')
      assert.equal(failure.limit, limit)
    }
  })
}

test('a limit for names also holds for known names', () => {
  for (let again = 0; again < 3; again++) parseOrFail('<abcdefgh><abcdefgh/></abcdefgh>')
  for (let again = 0; again < 3; again++) parseOrFail('<a abcdefgh="1"><a abcdefgh="1"/></a>')
  for (const text of ['<abcdefgh/>', '<a abcdefgh="1"/>', '<a><a abcdefgh="1"/><a abcdefgh="1"/></a>']) {
    const failure = parseXml(bytes(text), { limits: { name: 7 } })
    assert.ok(failure instanceof Malformed, text)
    assert.equal(failure.limit, 'name')
  }
})

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(local => internName('u', local))
const source =
  '<a xmlns="u" xmlns:p="v" c="1" p:c="2">\n <!-- --> <b>1&amp;<![CDATA[2]]><!--x--><?y?>é</b> <b/><d><c/></d><b>3</b>x</a>'

/** Over bytes and over a tree alike. */
for (const [kind, open] of [
  ['bytes', (text: string) => scanDocument(bytes(text), { comments: true })],
  ['a tree', (text: string) => walkTree(parseOrFail(text, { comments: true }).root)],
] as const) {
  test(`a cursor over ${kind}: child, text, octets, skip, finish`, () => {
    const cursor = open(source)
    assert.deepEqual([cursor.event, cursor.child(), cursor.name, cursor.depth], ['before', 'start', a, 1])
    assert.equal(cursor.attribute(internName('', 'c')), '1')
    assert.equal(cursor.attribute(internName('v', 'c')), '2')
    assert.equal(cursor.attribute(internName('v', 'd')), undefined)
    assert.deepEqual([cursor.namespace(''), cursor.namespace('p'), cursor.namespace('q')], ['u', 'v', undefined])
    assert.ok(cursor.namespace('xml'))
    assert.equal(cursor.qname(' p:x\n'), internName('v', 'x'))
    assert.deepEqual(
      [cursor.qname('x'), cursor.qname('q:x'), cursor.qname('p:'), cursor.qname('1')],
      [internName('u', 'x'), undefined, undefined, undefined],
    )
    assert.deepEqual(
      [...cursor.declarations()].map(({ prefix, uri }) => [prefix, uri]),
      [
        ['', 'u'],
        ['p', 'v'],
      ],
    )
    assert.deepEqual(
      [cursor.child(), cursor.name, cursor.text(), cursor.event, cursor.name],
      ['start', b, '1&2é', 'end', b],
    )
    assert.deepEqual([cursor.child(), cursor.path(), cursor.text(), cursor.event], ['start', '/a[1]/b[2]', '', 'end'])
    assert.deepEqual(
      [cursor.child(), cursor.name, cursor.text(), cursor.event, cursor.name],
      ['start', d, undefined, 'start', c],
    )
    cursor.skip()
    assert.deepEqual([cursor.event, cursor.name, cursor.child(), cursor.name], ['end', c, 'end', d])
    assert.deepEqual([cursor.child(), cursor.path()], ['start', '/a[1]/b[1]'])
    assert.deepEqual(new TextDecoder().decode(cursor.octets()), '3')
    assert.deepEqual([cursor.child(), cursor.value], ['text', 'x'])
    assert.deepEqual([cursor.child(), cursor.name, cursor.depth], ['end', a, 1])
    assert.deepEqual([cursor.next(), cursor.next()], ['after', 'after'])
    const skipping = open(source)
    for (const expected of [a, b, b, d]) {
      if (skipping.depth > 1) skipping.skip()
      skipping.child()
      assert.equal(skipping.name, expected)
    }
    skipping.skip()
    assert.deepEqual([skipping.event, skipping.name, skipping.depth], ['end', d, 2])
    skipping.finish()
    assert.equal(skipping.event, 'after')
  })
}

test('the same events over bytes and over a tree', () => {
  assert.equal(
    writeEvents(walkTree(parseOrFail(source, { comments: true }).root)),
    writeEvents(scanDocument(bytes(source), { comments: true })),
  )
})

test('an element is read from a cursor, and has its position', () => {
  const document = bytes(source)
  const cursor = scanDocument(document)
  while (cursor.name !== d) cursor.child()
  const found = readElement(cursor)
  assert.deepEqual([found.name, found.children.length, found.parent], [d, 1, undefined])
  assert.equal(new TextDecoder().decode(document.subarray(found.from, found.to)), '<d><c/></d>')
  assert.deepEqual([cursor.event, cursor.name], ['end', d])
})

test('a name is one object for its meaning, whenever it is created', () => {
  const { root } = parseOrFail('<x:late xmlns:x="urn:late"/>')
  assert.equal(root.name, internName('urn:late', 'late'))
  assert.equal(parseOrFail('<late xmlns="urn:late"/>').root.name, root.name)
  assert.notEqual(internName('', '__proto__'), internName('', 'constructor'))
})

test('a string is the same wherever a document is cut, and whenever it is requested', () => {
  const lengths = fc.oneof(fc.nat(40), fc.integer({ min: 4080, max: 4110 }), fc.integer({ min: 8180, max: 8200 }))
  const parts = fc.array(
    fc.record({ lengths: fc.array(lengths, { minLength: 3, maxLength: 3 }), late: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  fc.assert(
    fc.property(parts, fc.nat(9000), (plans, before) => {
      const spelt = plans.map(({ lengths }, n) =>
        lengths.map((length, k) => `${n}.${k} ${'abcdefghij'.repeat(1000)}`.slice(0, length)),
      )
      const elements = spelt.map(([a, b, text]) => `<e a="${a}" b="${b}">${text}</e>`)
      const cursor = scanDocument(bytes(`<d>${' '.repeat(before)}${elements.join('')}</d>`))
      cursor.child()
      plans.forEach(({ late }, n) => {
        cursor.child()
        const asked = late ? [1, 0, 1] : [0, 1]
        for (const k of asked) assert.equal(cursor.attributeValue(k), spelt[n]![k])
        assert.equal(cursor.text(), spelt[n]![2])
      })
      cursor.finish()
    }),
  )
})

test('Namespaces §6.1 a prefix means what the innermost declaration says, however many there are', () => {
  const declared = fc.array(fc.array(fc.tuple(fc.nat(20), fc.nat(3)), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 12,
  })
  fc.assert(
    fc.property(declared, levels => {
      const scopes = levels.map(level => new Map(level.map(([prefix, uri]) => [`p${prefix}`, `urn:${uri}`])))
      const tags = scopes.map(scope => `<e ${[...scope].map(([p, uri]) => `xmlns:${p}="${uri}"`).join(' ')}>`)
      const cursor = scanDocument(bytes(`${tags.join('')}${'</e>'.repeat(tags.length)}`))
      for (let event = cursor.next(); event !== 'after'; event = cursor.next()) {
        const inForce = scopes.slice(0, cursor.depth)
        for (let n = 0; n <= 20; n++) {
          assert.equal(cursor.namespace(`p${n}`), inForce.findLast(scope => scope.has(`p${n}`))?.get(`p${n}`))
        }
        assert.deepEqual(
          cursor.declarations().map(({ prefix, uri }) => [prefix, uri]),
          [...inForce.at(-1)!],
        )
      }
    }),
  )
})

test('Namespaces §6 a name means what its own document declares, whatever it meant elsewhere or before', () => {
  const uris = [internName('urn:a', 'x').uri, internName('urn:b', 'x').uri, 'urn:nobody-knows']
  const one = fc.record({
    prefix: fc.constantFrom('', 'p', 'q'),
    attribute: fc.constantFrom('', 'x', 'p:x', 'q:x'),
    declared: fc.uniqueArray(fc.tuple(fc.constantFrom('', 'p', 'q'), fc.constantFrom(...uris)), {
      selector: ([prefix]) => prefix,
    }),
    /** Elements that end behind this start. */
    up: fc.nat(3),
  })
  const written = (prefix: string) => (prefix === '' ? 'x' : `${prefix}:x`)
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), all => {
      const open: { readonly tag: string; readonly scope: ReadonlyMap<string, string> }[] = []
      const [text, expected] = [['<r xmlns:p="urn:a" xmlns:q="urn:b">'], ['(r']]
      const end = () => {
        text.push(`</${open.pop()!.tag}>`)
        expected.push(')')
      }
      for (const { prefix, attribute, declared, up } of all) {
        const around = open.at(-1)?.scope ?? [
          ['p', 'urn:a'],
          ['q', 'urn:b'],
        ]
        const scope = new Map([...(around as Iterable<[string, string]>), ...declared])
        const meant = (of: string) => clarkNotation({ uri: scope.get(of) ?? '', local: 'x' })
        const said = declared.map(([of, uri]) => ` xmlns${of && `:${of}`}="${uri}"`).join('')
        text.push(`<${written(prefix)}${attribute && ` ${attribute}="1"`}${said}>`)
        expected.push(`(${meant(prefix)}${attribute && ` ${attribute === 'x' ? 'x' : meant(attribute[0]!)}=1`}`)
        open.push({ tag: written(prefix), scope })
        for (let k = 0; k < up && open.length > 0; k++) end()
      }
      while (open.length > 0) end()
      assert.equal(writeEvents(scanDocument(bytes(`${text.join('')}</r>`))), [...expected, ')'].join('|'))
    }),
  )
})

test('Namespaces §3 a declaration that occurs again has its own value', () => {
  const values: readonly (readonly [written: string, uri: string])[] = [
    ['"urn:a"', 'urn:a'],
    ["'urn:a'", 'urn:a'],
    ['"urn:b"', 'urn:b'],
    ['"urn:ab"', 'urn:ab'],
    [`'urn:"a'`, 'urn:"a'],
    [`"urn:'a"`, "urn:'a"],
    ['"urn:&#97;"', 'urn:a'],
    ['" urn:a"', ' urn:a'],
    ['"urn:é"', 'urn:é'],
    ['"urn:>"', 'urn:>'],
    [`"urn:${'long'.repeat(100)}"`, `urn:${'long'.repeat(100)}`],
  ]
  const tags = fc.array(fc.tuple(fc.constantFrom('', 'p', 'q'), fc.constantFrom(...values), fc.boolean()))
  fc.assert(
    fc.property(tags, all => {
      const [tagged, expected] = [[] as string[], [] as string[]]
      for (const [prefix, [written, uri], space] of all) {
        const [qname, declares] = prefix ? [`${prefix}:a`, `xmlns:${prefix}`] : ['a', 'xmlns']
        tagged.push(`<${qname} b="" ${declares}${space ? ' = ' : '='}${written}/>`)
        expected.push(`({${uri}}a b=|)`)
      }
      const found = writeEvents(scanDocument(bytes(`<r>${tagged.join('')}</r>`)))
      assert.equal(found, ['(r', ...expected, ')'].join('|'))
    }),
  )
})

test('Namespaces §3 text that only resembles an earlier declaration is refused', () => {
  const declared = (written: string): Malformed | undefined =>
    parseOrUndefined(() => scanDocument(bytes(`<r><a xmlns:p=${written}/></r>`)).finish()) as Malformed | undefined
  for (let again = 0; again < 3; again++) {
    for (const good of ['"urn:x"', `'urn:"x'`, `"urn:'x"`]) assert.equal(declared(good), undefined)
    for (const wrong of ['xurn:xx', `"urn:"x"`, `'urn:'x'`, `"urn:x'`, 'urn:x', `"urn:x`, `"urn:x"b="">`, '>urn:x>'])
      assert.ok(declared(wrong) instanceof Malformed, wrong)
  }
  const short = { limits: { value: 4 } }
  assert.ok(
    parseOrUndefined(() => scanDocument(bytes('<r><a xmlns:p="urn:x"/></r>'), short).finish()) instanceof Malformed,
  )
  assert.ok(
    parseOrUndefined(() => scanDocument(bytes('<r xmlns:p="urn:x" xmlns:p="urn:x"/>')).finish()) instanceof Malformed,
  )
})

test('a path counts siblings of one name, separately in each parent', () => {
  const cursor = scanDocument(bytes('<r><a><b/></a><a><b/><b/><c/><b/></a><c><b/></c></r>'))
  const paths: string[] = []
  for (let event = cursor.next(); event !== 'after'; event = cursor.next())
    if (event === 'start') paths.push(cursor.path().slice(5))
  const expected = ['', '/a[1]', '/a[1]/b[1]', '/a[2]', '/a[2]/b[1]', '/a[2]/b[2]', '/a[2]/c[1]', '/a[2]/b[1]']
  assert.deepEqual(paths, [...expected, '/c[1]', '/c[1]/b[1]'])
})

test('a string from a large document does not keep the document in memory', async () => {
  const held: string[] = []
  const before = heldOctets()
  for (let n = 0; n < 20; n++) {
    const cursor = scanDocument(bytes(`<a><b>a string of some length ${n}</b>${'x'.repeat(1_000_000)}</a>`))
    cursor.child()
    cursor.child()
    held.push(cursor.text()!)
  }
  await assertReleased(before, 5_000_000)
  assert.equal(held.length, 20)
})
