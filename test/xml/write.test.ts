import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Document,
  Element,
  escapeText,
  internName,
  Malformed,
  type Node,
  parseXml,
  Unwritable,
  writeAttribute,
  writeElement,
} from '../../src/xml/index.ts'
import { anyText, anyTree, elementsWithin, parseOrFail, withoutLinks } from './documents.ts'

const rows: [value: string, text: string, attribute: string][] = [
  ['', '', '""'],
  ['plain é 中 😀 \u{10ffff}', 'plain é 中 😀 \u{10ffff}', '"plain é 中 😀 \u{10ffff}"'],
  ['a<b>&"\'', 'a&lt;b&gt;&amp;"\'', '"a&lt;b&gt;&amp;&quot;\'"'],
  [']]>', ']]&gt;', '"]]&gt;"'],
  ['\t\n\r', '\t\n&#13;', '"&#9;&#10;&#13;"'],
]
for (const [value, asText, asAttribute] of rows) {
  test(`XML 1.0 §2.4, §2.11, §3.3.3 ${JSON.stringify(value)} is written so that it is read unchanged (P21)`, () => {
    assert.equal(escapeText(value), asText)
    assert.equal(writeAttribute(value), asAttribute)
    const { root } = parseOrFail(`<a b=${writeAttribute(value)}>${escapeText(value)}</a>`)
    assert.equal(root.text, value)
    assert.equal(root.attribute(internName('', 'b')), value)
  })
}

for (const value of ['\0', 'a\u0008', '\u000b', '\u001f', '\ufffe', '\uffff', '\ud800', 'a\udc00b', '\udc00\ud800']) {
  test(`XML 1.0 §2.2 ${JSON.stringify(value)} cannot be written`, () => {
    assert.throws(() => escapeText(value), Unwritable)
    assert.throws(() => writeAttribute(value), Unwritable)
    const comment: Node = { kind: 'comment', value }
    assert.throws(() => writeElement(comment), Unwritable)
  })
}

const unwritable: [title: string, node: Node][] = [
  ['§2.5 -- in a comment', { kind: 'comment', value: 'a--b' }],
  ['§2.5 - at the end of a comment', { kind: 'comment', value: 'a-' }],
  ['§2.11 a carriage return in a comment', { kind: 'comment', value: '\r' }],
  ['§2.6 ?> in an instruction', { kind: 'instruction', target: 'p', value: 'a?>b' }],
  ['§2.6 an instruction named xml', { kind: 'instruction', target: 'xml', value: '' }],
  ['§2.6 a target that is not a name', { kind: 'instruction', target: 'a b', value: '' }],
  ['§2.6 white space before an instruction’s data', { kind: 'instruction', target: 'p', value: ' a' }],
  ['NS §2.2 a prefix undeclared', new Element(undefined, internName('', 'a'), '', [], [{ prefix: 'p', uri: '' }])],
  [
    'NS an element in no namespace with a default',
    new Element(undefined, internName('', 'a'), '', [], [{ prefix: '', uri: 'u' }]),
  ],
  ['§2.3 a name with a space', new Element(undefined, internName('', 'a b'), '')],
  ['§2.3 a name with markup', new Element(undefined, internName('', 'a><b'), '')],
  ['§2.3 a prefix with markup', new Element(undefined, internName('u', 'a'), 'p="" q')],
  [
    '§2.3 an attribute with markup',
    new Element(undefined, internName('', 'a'), '', [{ name: internName('', 'b="" c'), prefix: '', value: '' }]),
  ],
]
for (const [title, node] of unwritable) {
  test(`XML 1.0 ${title} cannot be written`, () => assert.throws(() => writeElement(node), Unwritable))
}

test('a written tree is read as the same tree', () => {
  fc.assert(
    fc.property(anyTree, tree => {
      const written = writeElement(tree)
      const { root } = parseOrFail(written, { comments: true })
      assert.deepEqual(withoutLinks(root), withoutLinks(tree))
      assert.equal(writeElement(root), written)
    }),
    { numRuns: 500 },
  )
})

test('the octets of an element are a document with the namespaces in scope', () => {
  fc.assert(
    fc.property(anyTree, tree => {
      const { root, bytes } = parseOrFail(writeElement(tree), { comments: true })
      for (const element of elementsWithin(root)) {
        const scope = element.parent?.namespaces() ?? new Map()
        const slice = parseXml(bytes.subarray(element.from, element.to), { comments: true, scope })
        assert.ok(!(slice instanceof Malformed))
        assert.deepEqual(withoutLinks(slice.root), withoutLinks(element))
      }
    }),
  )
})

test('a part of a document is a document of its own', () => {
  const { root } = parseOrFail('<p:a xmlns:p="u" xmlns="v"><b p:c="1"><d xml:lang="en"/></b></p:a>')
  assert.equal(writeElement(root.elements()[0]!), '<b xmlns="v" xmlns:p="u" p:c="1"><d xml:lang="en"/></b>')
})

test('a tree made by hand needs no declarations; conflicting prefixes are changed', () => {
  const root = new Element(undefined, internName('u', 'a'), 'p', [
    { name: internName('v', 'b'), prefix: 'p', value: '1' },
    { name: internName('w', 'c'), prefix: '', value: '2' },
    { name: internName('', 'd'), prefix: '', value: '3' },
    { name: internName('x', 'e'), prefix: 'xml', value: '4' },
  ])
  root.append([new Element(root, internName('', 'f'), ''), new Element(root, internName('v', 'g'), '')])
  const again = parseOrFail(writeElement(root)).root
  assert.deepEqual(
    again.attributes.map(({ name, value }) => [name.uri, name.local, value]),
    root.attributes.map(({ name, value }) => [name.uri, name.local, value]),
  )
  assert.deepEqual(
    again.elements().map(child => child.name),
    root.elements().map(child => child.name),
  )
  assert.equal(again.name, root.name)
})

test('a whole document is written with comments and instructions around its root', () => {
  const source = '<!--a-->\n<?p b?>\n<c/>\n<!--d-->'
  assert.equal(writeElement(parseOrFail(source, { comments: true })), source)
})

const message =
  '\ufeff<?xml version="1.0" encoding="utf-8"?><!--é--><e:Envelope xmlns:e="urn:e" xmlns:f="urn:f">\r\n<e:Body f:a="1&amp;2" b=\'\'>x<![CDATA[y]]>é&#10;<?p q?></e:Body><f:c/></e:Envelope>'

test('randomly damaged octets are read or refused, and nothing else happens (P17, P18)', () => {
  const bytes = new TextEncoder().encode(message)
  const interesting = fc.oneof(fc.constantFrom(...new TextEncoder().encode('<>/&;!?-[]"\'=: x\0\r\n')), fc.nat(255))
  const change = fc.record({
    at: fc.nat(bytes.length),
    remove: fc.nat(6),
    insert: fc.array(interesting, { maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), changes => {
      let changed = [...bytes]
      for (const { at, remove, insert } of changes) changed = changed.toSpliced(at, remove, ...insert)
      const result: Document | Malformed = parseXml(Uint8Array.from(changed), { comments: true })
      if (result instanceof Malformed) assert.ok(result.at >= 0 && result.at <= changed.length, `${result.at}`)
      else
        assert.deepEqual(
          withoutLinks(parseOrFail(writeElement(result), { comments: true }).root),
          withoutLinks(result.root),
        )
    }),
    { numRuns: 3000 },
  )
})

test('any text survives in text and in attributes', () => {
  fc.assert(
    fc.property(anyText, value => {
      const { root } = parseOrFail(`<a b=${writeAttribute(value)}>${escapeText(value)}</a>`)
      assert.deepEqual([root.text, root.attribute(internName('', 'b'))], [value, value])
    }),
  )
})
