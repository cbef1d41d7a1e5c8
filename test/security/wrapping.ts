/**
 * Signature wrapping, generated: the signed element is moved to every place in the message, and
 * another one replaces it, with an identifier written in every way.
 */
import assert from 'node:assert/strict'
import { wsuNs } from '../../src/security/vocabulary.ts'
import { type Element, Malformed, parseXml } from '../../src/xml/index.ts'

/**
 * Offsets at which an element could be put: first and last in every element that has an end tag of
 * its own.
 */
function findPlaces(text: string, element: Element): number[] {
  const start = text.indexOf('>', element.from) + 1
  const end = text.lastIndexOf('<', element.to - 1)
  const own = text[start - 2] === '/' ? [] : start === end ? [start] : [start, end]
  return [...own, ...element.elements().flatMap(child => findPlaces(text, child))]
}

/** How the identifier of the attacker's element is written. */
const identifierWays = (id: string) => [
  '',
  ` wsu:Id="${id}"`,
  ` u:Id="${id}" xmlns:u="${wsuNs}"`,
  ` Id="${id}"`,
  ` ID="${id}"`,
  ` id="${id}"`,
  ` xml:id="${id}"`,
  ` AssertionID="${id}"`,
  ` wsu:Id="other"`,
  ` wsu:id="${id}"`,
]

/**
 * @param written a message whose envelope has the prefix `s`
 * @param tag of the signed element, with its prefix
 * @param forge what the attacker makes of it
 */
export function* wrapMessage(written: string, tag: string, forge: (element: string) => string): Generator<string> {
  const text = written.replace('<s:Envelope ', `<s:Envelope xmlns:wsu="${wsuNs}" `)
  const document = parseXml(Buffer.from(text))
  assert.ok(!(document instanceof Malformed))
  const genuine = new RegExp(`<${tag}(?: [^>]*)?(?:/>|>.*</${tag}>)`, 's').exec(text)![0]
  const from = text.indexOf(genuine)
  const id = / wsu:Id="([^"]*)"/.exec(genuine)![1]!
  const bare = forge(genuine)
    .replace(/ xmlns:wsu="[^"]*"/, '')
    .replace(/ wsu:Id="[^"]*"/, '')
  for (const way of identifierWays(id)) {
    const forged = bare.replace(`<${tag}`, `<${tag} xmlns:wsu="${wsuNs}"${way}`)
    for (const place of findPlaces(text, document.root)) {
      if (place > from && place < from + genuine.length) continue
      const early = text.slice(0, Math.min(place, from))
      const late = text.slice(Math.max(place, from + genuine.length))
      const between = place <= from ? text.slice(place, from) : text.slice(from + genuine.length, place)
      yield place <= from ? early + genuine + between + forged + late : early + forged + between + genuine + late
    }
    const inside = forged.indexOf('>') + 1
    if (!forged.endsWith('/>')) yield text.replace(genuine, forged.slice(0, inside) + genuine + forged.slice(inside))
    yield text.replace(genuine, forged) // and the genuine one nowhere
  }
}
