import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type CanonicalForm, canonicalize, type Element, internName, Malformed, parseXml } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { elementsWithin } from './documents.ts'

/**
 * Digests of published signatures over elements of the same document: this canonical form must have
 * the same ones.
 */
const signatures = 'http://www.w3.org/2000/09/xmldsig#'
const dsig = (local: string) => internName(signatures, local)
const attribute = (element: Element, local: string) => element.attribute(internName('', local))

const forms = new Map<string, CanonicalForm>([
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315', { exclusive: false, comments: false }],
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments', { exclusive: false, comments: true }],
  ['http://www.w3.org/2006/12/xml-c14n11', { exclusive: false, version: '1.1', comments: false }],
  ['http://www.w3.org/2006/12/xml-c14n11#WithComments', { exclusive: false, version: '1.1', comments: true }],
  ['http://www.w3.org/2001/10/xml-exc-c14n#', { exclusive: true, comments: false }],
  ['http://www.w3.org/2001/10/xml-exc-c14n#WithComments', { exclusive: true, comments: true }],
])
const inclusive = forms.get('http://www.w3.org/TR/2001/REC-xml-c14n-20010315')!

interface Case {
  readonly digest: string
  readonly algorithm: string
  readonly over: string
}

/**
 * Undefined for a reference to something other than an element here, or with a transform that has
 * nothing to do with canonical form.
 */
function caseOf(reference: Element, root: Element): Case | undefined {
  const id = /^#(?:xpointer\(id\('(.*)'\)\)|([^(]*))$/.exec(attribute(reference, 'URI') ?? 'none')
  const target = elementsWithin(root).find(element =>
    ['Id', 'ID'].some(local => attribute(element, local) === (id?.[1] ?? id?.[2])),
  )
  if (!id || !target) return undefined
  let form = inclusive
  for (const transform of elementsWithin(reference).filter(element => element.name === dsig('Transform'))) {
    const found = forms.get(attribute(transform, 'Algorithm')!)
    if (!found) return undefined
    const prefixes = transform.elements()[0] && attribute(transform.elements()[0]!, 'PrefixList')?.split(/\s+/)
    form = prefixes ? { ...found, prefixes } : found
  }
  const part = (local: string) => reference.elements(dsig(local))[0]!
  const algorithm = attribute(part('DigestMethod'), 'Algorithm')!.replace(/.*#/, '')
  return { digest: part('DigestValue').text.trim(), algorithm, over: canonicalize(target, form) }
}

const folder = suites('xmldsig')

test('C14N, Exclusive C14N: the digests of published signatures', { skip: !folder }, () => {
  let checked = 0
  for (const file of readdirSync(folder!, { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.xml'),
  )) {
    const document = parseXml(readFileSync(join(folder!, file)), { comments: true })
    if (document instanceof Malformed) {
      assert.equal(document.reason, 'a document type declaration is not allowed', file)
      continue
    }
    for (const reference of elementsWithin(document.root).filter(element => element.name === dsig('Reference'))) {
      const found = caseOf(reference, document.root)
      if (!found) continue
      const digest = createHash(found.algorithm).update(found.over).digest('base64')
      assert.equal(digest, found.digest, `${file} ${attribute(reference, 'URI')}`)
      checked++
    }
  }
  assert.ok(checked >= 8, `${checked}`)
})
