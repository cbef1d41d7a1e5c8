import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { XmlC14NMode, XmlDocument, type XmlElement } from 'libxml2-wasm'
import {
  type CanonicalForm,
  canonicalize,
  canonicalizeOctets,
  type Element,
  escapeText,
  Malformed,
  type Node,
  parseOrUndefined,
  parseXml,
  writeAttribute,
  writeElement,
} from '../../src/xml/index.ts'
import { joinBases, removeDotSegments } from '../../src/xml/joined-base.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { anyTree, elementsWithin, parseOrFail as readPlain } from './documents.ts'

const inclusive: CanonicalForm = { exclusive: false, comments: false }
const exclusive: CanonicalForm = { exclusive: true, comments: false }

const read = (text: string) => readPlain(text, { comments: true })

const forms: CanonicalForm[] = [false, true].flatMap(comments => [
  { exclusive: false, comments },
  { exclusive: false, comments, version: '1.1' as const },
  { exclusive: true, comments },
  { exclusive: true, comments, prefixes: ['a', 'é', '#default'] },
])

function oracle(document: XmlDocument, element: number | undefined, form: CanonicalForm): string {
  const options = {
    mode: form.exclusive
      ? XmlC14NMode.XML_C14N_EXCLUSIVE_1_0
      : form.version
        ? XmlC14NMode.XML_C14N_1_1
        : XmlC14NMode.XML_C14N_1_0,
    withComments: form.comments,
    ...(form.prefixes && { inclusiveNamespacePrefixes: [...form.prefixes] }),
  }
  if (element === undefined) return document.canonicalizeToString(options)
  return (document.get(`(//*)[${element + 1}]`) as XmlElement).canonicalizeToString(options)
}

test('C14N, Exclusive C14N: any document, and any element of it, has the canonical form of libxml2', () => {
  fc.assert(
    fc.property(anyTree, tree => {
      const source = `<!--before--><?p before?>${writeElement(tree)}<!--after--><?p?>`
      const document = read(source)
      using peer = XmlDocument.fromString(source)
      for (const form of forms) {
        assert.equal(canonicalize(document, form), oracle(peer, undefined, form))
        for (const [index, element] of elementsWithin(document.root).slice(0, 4).entries()) {
          assert.equal(canonicalize(element, form), oracle(peer, index, form))
        }
      }
    }),
    { numRuns: 300 },
  )
})

/** A document of this tree, in one of the many ways to write it; `chance` decides each choice. */
function spellDocument(node: Node, chance: () => boolean): string {
  const blank = (least: string) =>
    chance() ? [' ', '\n', '\t', '\r\n', '  '][Number(chance()) * 2 + Number(chance())]! : least
  if (node.kind === 'instruction') return `<?${node.target} ${node.value}?>`
  if (node.kind === 'comment') return `<!--${node.value}-->`
  if (node.kind === 'text') {
    if (chance() && !node.value.includes(']]>') && !/\r/.test(node.value)) return `<![CDATA[${node.value}]]>`
    const written = escapeText(node.value).replace(/\r/g, '&#13;')
    if (chance()) return written
    return written.replace(/&gt;/g, (reference, at: number) => (written.slice(0, at).endsWith(']]') ? reference : '>'))
  }
  const qname = node.prefix === '' ? node.name.local : `${node.prefix}:${node.name.local}`
  const quoted = (value: string) => {
    const written = writeAttribute(value)
    return chance()
      ? `'${written
          .slice(1, -1)
          .replace(/'/g, '&#39;')
          .replace(/&quot;/g, '"')}'`
      : written
  }
  const declared = node.declarations.map(
    ({ prefix, uri }) => `xmlns${prefix && `:${prefix}`}${blank('')}=${blank('')}${quoted(uri)}`,
  )
  const given = node.attributes.map(
    ({ prefix, name, value }) => `${prefix && `${prefix}:`}${name.local}${blank('')}=${blank('')}${quoted(value)}`,
  )
  const all = chance()
    ? [...given, ...declared]
    : chance()
      ? [...declared, ...given]
      : [...declared, ...given].reverse()
  const tag = `<${qname}${all.map(each => `${blank(' ') || ' '}${each}`).join('')}${blank('')}`
  const content = node.children.map(child => spellDocument(child, chance)).join(chance() ? '<!--between-->' : '')
  if (content === '' && chance()) return `${tag}/>`
  return `${tag}>${content}</${qname}${blank('')}>`
}

test('C14N, Exclusive C14N: however a document is written, and of a slice of it', () => {
  fc.assert(
    fc.property(anyTree, fc.nat(), fc.integer({ min: 1, max: 40 }), (tree, seed, seldom) => {
      let state = seed
      const chance = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0
        return (state >>> 8) % seldom === 0
      }
      const source = spellDocument(tree, chance)
      using peer = XmlDocument.fromString(source)
      for (const form of forms) {
        const { root } = form.comments ? read(source) : readPlain(source)
        for (const [index, element] of elementsWithin(root).entries())
          assert.equal(canonicalize(element, form), oracle(peer, index, form), source)
      }
    }),
    { numRuns: 1000 },
  )
})

test('C14N §2.1: the canonical form is in UTF-8, whatever the encoding of the document', () => {
  const source = '<r a="é"><b>\u{1f600} ü</b><c/></r>'
  const wide = Uint8Array.from([0xff, 0xfe, ...new Uint8Array(new Uint16Array(codeUnitsOf(source)).buffer)])
  const narrow = Uint8Array.from(codeUnitsOf('<?xml version="1.0" encoding="ISO-8859-1"?><r a="é"><b> ü</b><c/></r>'))
  const expected = '<r a="é"><b>\u{1f600} ü</b><c></c></r>'
  for (const [octets, form] of [
    [new TextEncoder().encode(`\ufeff${source}`), expected],
    [wide, expected],
    [narrow, expected.replace('\u{1f600}', '')],
  ] as const) {
    const document = parseXml(octets)
    assert.ok(!(document instanceof Malformed))
    assert.equal(new TextDecoder().decode(canonicalizeOctets(document.root, inclusive)), form)
  }
})
const codeUnitsOf = (text: string) => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))

test('C14N: a changed tree is written anew, not copied from its document', () => {
  const source = '<r><a>one</a><b><c>two</c></b><d/></r>'
  const changed = (change: (root: Element) => void) => {
    const { root } = readPlain(source)
    change(root)
    return canonicalize(root, exclusive)
  }
  const two: Node = { kind: 'text', value: 'other' }
  const at = (root: Element, ...path: readonly number[]) =>
    path.reduce((element, index) => element.elements()[index]!, root)
  assert.equal(
    changed(() => {}),
    '<r><a>one</a><b><c>two</c></b><d></d></r>',
  )
  assert.equal(
    changed(root => at(root, 1, 0).splice(0, 1, [two])),
    '<r><a>one</a><b><c>other</c></b><d></d></r>',
  )
  assert.equal(
    changed(root => at(root, 2).append([two])),
    '<r><a>one</a><b><c>two</c></b><d>other</d></r>',
  )
  assert.equal(
    changed(root => root.splice(0, 2, [two])),
    '<r>other<d></d></r>',
  )
  assert.equal(
    changed(root => root.append(readPlain('<x>longer than that</x>').root.children)),
    '<r><a>one</a><b><c>two</c></b><d></d>longer than that</r>',
  )
})

test('C14N: the canonical form of a canonical form is itself', () => {
  fc.assert(
    fc.property(anyTree, fc.constantFrom(...forms), (tree, form) => {
      const once = canonicalize(read(writeElement(tree)), form)
      assert.equal(canonicalize(read(once), form), once)
    }),
    { numRuns: 300 },
  )
})

const rows: [title: string, source: string, form: CanonicalForm, expected: string][] = [
  [
    '§3.1 comments and processing instructions outside the root are on lines of their own',
    '<?xml version="1.0"?>\n\n<?xml-stylesheet   href="doc.xsl"\n   type="text/xsl"   ?>\n\n<doc>Hello, world!<!-- Comment 1 --></doc>\n\n<?pi-without-data     ?>\n\n<!-- Comment 2 -->\n\n<!-- Comment 3 -->',
    { ...inclusive, comments: true },
    '<?xml-stylesheet href="doc.xsl"\n   type="text/xsl"   ?>\n<doc>Hello, world!<!-- Comment 1 --></doc>\n<?pi-without-data?>\n<!-- Comment 2 -->\n<!-- Comment 3 -->',
  ],
  [
    '§3.1 … and without comments',
    '<?xml-stylesheet   href="doc.xsl"?>\n<doc>Hello, world!<!-- Comment 1 --></doc><?pi-without-data     ?>\n<!-- Comment 2 -->',
    inclusive,
    '<?xml-stylesheet href="doc.xsl"?>\n<doc>Hello, world!</doc>\n<?pi-without-data?>',
  ],
  [
    '§3.3 start and end tags: empty elements, order of namespaces and attributes, superfluous declarations',
    '<doc><e2   ></e2><e3   name = "elem3"   id="elem3"   /><e5 a:attr="out" b:attr="sorted" attr2="all" attr="I\'m"\n xmlns:b="http://www.ietf.org" xmlns:a="http://www.w3.org" xmlns="http://example.org"/><e6 xmlns="" xmlns:a="http://www.w3.org"><e7 xmlns="http://www.ietf.org"><e8 xmlns="" xmlns:a="http://www.w3.org"/></e7></e6></doc>',
    inclusive,
    '<doc><e2></e2><e3 id="elem3" name="elem3"></e3><e5 xmlns="http://example.org" xmlns:a="http://www.w3.org" xmlns:b="http://www.ietf.org" attr="I\'m" attr2="all" b:attr="sorted" a:attr="out"></e5><e6 xmlns:a="http://www.w3.org"><e7 xmlns="http://www.ietf.org"><e8 xmlns=""></e8></e7></e6></doc>',
  ],
  [
    '§3.4 character modifications',
    '<doc><text>First line&#x0d;&#10;Second line</text><value>&#x32;</value><compute><![CDATA[value>"0" && value<"10" ?"valid":"error"]]></compute><norm attr=\' &apos;   &#x20;&#13;&#xa;&#9;   &apos; \'/></doc>',
    inclusive,
    '<doc><text>First line&#xD;\nSecond line</text><value>2</value><compute>value&gt;"0" &amp;&amp; value&lt;"10" ?"valid":"error"</compute><norm attr=" \'    &#xD;&#xA;&#x9;   \' "></norm></doc>',
  ],
  [
    '§2.3 a namespace node is escaped as an attribute node is',
    '<a xmlns="http://example.org/?a=1&amp;b=&quot;2&quot;"/>',
    exclusive,
    '<a xmlns="http://example.org/?a=1&amp;b=&quot;2&quot;"></a>',
  ],
  [
    'Exclusive §2.2: what is not visibly used is not written; what is, where it is used',
    '<a:x xmlns:a="urn:a" xmlns:b="urn:b" xmlns="urn:d"><y b:z="1"/></a:x>',
    exclusive,
    '<a:x xmlns:a="urn:a"><y xmlns="urn:d" xmlns:b="urn:b" b:z="1"></y></a:x>',
  ],
]
for (const [title, source, form, expected] of rows) {
  test(`C14N ${title}`, () => assert.equal(canonicalize(read(source), form), expected))
}

test('C14N §2.4: the apex of an inclusive form has the xml attributes and the namespaces around it', () => {
  const { root } = read(
    '<r xmlns:n="urn:n" xmlns="urn:d" xml:lang="de" xml:space="preserve"><m xml:lang="en"><n:k/></m></r>',
  )
  const apex = elementsWithin(root)[2]!
  assert.equal(
    canonicalize(apex, inclusive),
    '<n:k xmlns="urn:d" xmlns:n="urn:n" xml:lang="en" xml:space="preserve"></n:k>',
  )
  assert.equal(canonicalize(apex, exclusive), '<n:k xmlns:n="urn:n"></n:k>')
  assert.equal(
    canonicalize(apex, { ...exclusive, prefixes: ['#default'] }),
    '<n:k xmlns="urn:d" xmlns:n="urn:n"></n:k>',
  )
})

test('C14N 1.1 §2.4: an apex has xml:lang and xml:space of the elements around it, no xml:id, and one xml:base of all', () => {
  const canonicalizeLast = (source: string) => {
    const { root } = read(source)
    return canonicalize(elementsWithin(root).at(-1) ?? root, { ...inclusive, version: '1.1' })
  }
  const rows = [
    [
      '<a xml:id="i" xml:lang="de" xml:space="preserve" xml:other="o"><b/></a>',
      '<b xml:lang="de" xml:space="preserve"></b>',
    ],
    [
      '<a xml:base="foo/bar"><b xml:base=".."><c xml:base=".."><d xml:base="x"/></c></b></a>',
      '<d xml:base="../x"></d>',
    ],
    ['<a xml:base="a/b"><b/></a>', '<b xml:base="a/b"></b>'],
    ['<a><b xml:base="a/./b"/></a>', '<b xml:base="a/./b"></b>'],
    ['<a xml:base="abc/"><b xml:base="../"/></a>', '<b></b>'],
    ['<a xml:base=""><b/></a>', '<b></b>'],
    ['<a xml:base="http://h/a/b?q#f"><b xml:base="../c?d#e" z="1"/></a>', '<b z="1" xml:base="http://h/c?d"></b>'],
    ['<a xml:base="http://h"><b xml:base="c"/></a>', '<b xml:base="http://h/c"></b>'],
    ['<a xml:base="http://h/a"><b xml:base="//i/c"/></a>', '<b xml:base="http://i/c"></b>'],
    ['<a xml:base="http://h/a?q"><b xml:base="#f"/></a>', '<b xml:base="http://h/a?q"></b>'],
    ['<a xml:base="a/"><b xml:base="urn:x"/></a>', '<b xml:base="urn:x"></b>'],
  ] as const
  for (const [source, expected] of rows) assert.equal(canonicalizeLast(source), expected, source)
})

test('C14N 1.1 appendix A: paths without dot segments', () => {
  const rows = [
    ['no/.././/kept/file.ext', 'kept/file.ext'],
    ['yes/no//..//.///kept', 'yes/kept'],
    ['no/../yes/no/..', 'yes/'],
    ['../../no/../..', '../../../'],
    ['no/../..', '../'],
    ['no/..', ''],
    ['/a/b/c/./../../g', '/a/g'],
    ['mid/content=5/../6', 'mid/6'],
    ['..yes/..no/..no/../../..yes/', '..yes/..yes/'],
    ['./.', ''],
    ['//no/..', '/'],
    ['/./.././..', '/'],
    ['..', '../'],
  ] as const
  for (const [path, expected] of rows) assert.equal(removeDotSegments(path), expected, path)
  assert.deepEqual([joinBases('abc/', '../'), joinBases('../', '../'), joinBases('..', '..')], ['', '../../', '../../'])
})

test('XML Signature §6.6.4: the enveloped signature is left out with its content, and nothing else', () => {
  const { root } = read('<r xmlns="urn:d"><a/> <s:Signature xmlns:s="urn:s"><s:x/></s:Signature> <b/></r>')
  for (const form of [inclusive, exclusive]) {
    const without = elementsWithin(root)[2]!
    assert.equal(canonicalize(root, { ...form, without }), '<r xmlns="urn:d"><a></a>  <b></b></r>')
  }
})

test('C14N §1.3: a relative namespace name has no canonical form (X9)', () => {
  const { root } = read('<r xmlns:n="relative"/>')
  assert.ok(parseOrUndefined(() => canonicalize(root, inclusive)) instanceof Malformed)
  assert.ok(parseOrUndefined(() => canonicalize(root, exclusive)) instanceof Malformed)
})

test('C14N: 64 elements deep with 250 prefixes each, and 10,000 children that use them, costs less than 500 ms', async () => {
  const open = Array.from({ length: 60 }, (_, depth) => {
    const declarations = Array.from({ length: 250 }, (_, n) => `xmlns:p${depth}-${n}="urn:${n}"`)
    return `<e ${declarations.join(' ')}>`
  })
  const children = Array.from({ length: 9_999 }, (_, n) => `<p${n % 60}-${n % 250}:x/>`).join('')
  const { root } = read(`${open.join('')}${children}${'</e>'.repeat(60)}`)
  // A look at all 15,000 prefixes for each child takes seconds.
  await assertCpuMsBelow(500, () => {
    for (const form of [exclusive, inclusive]) canonicalize(root, form)
    writeElement(root)
  })
})
