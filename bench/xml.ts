/**
 * XML beside other parsers, CPU for one document, both in turn, the median of the pairs. Each does the same for its user:
 * namespace-aware events with names, attribute values and texts; or a document read, validated and bound. What C programs
 * give are pointers into a buffer, what is given here are strings.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { XmlDocument, XsdValidator } from 'libxml2-wasm'
import { SaxesParser } from 'saxes'
import { compileMessages } from '../src/contract/xml-message.ts'
import { writeXsd } from '../src/describe/xsd.ts'
import { compileRowReader } from '../src/soap/codecs/literal-read.ts'
import { type LiteralReading, qualifiedSpace } from '../src/soap/codecs/values.ts'
import { strictParsing } from '../src/soap/envelope.ts'
import { scanDocument } from '../src/xml/scanner.ts'
import { inFolder, paired, quick, type Row, row, skipped, stayOff } from './harness.ts'
import { compile } from './native.ts'
import { orderXml, shop } from './servers/shop.ts'

const line = (n: number) => `
        <o:line><o:product>product-${n}</o:product><o:quantity unit="piece">${n % 9}</o:quantity><o:price>${n}.50</o:price></o:line>`

/** A message with the namespaces that messages have, 940 octets with 3 lines. */
export const message = (
  lines: number,
): string => `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope" xmlns:wsa="http://www.w3.org/2005/08/addressing">
  <soap:Header>
    <wsa:Action soap:mustUnderstand="true">urn:example:orders/CreateOrder</wsa:Action>
    <wsa:MessageID>urn:uuid:6b29fc40-ca47-1067-b31d-00dd010662da</wsa:MessageID>
  </soap:Header>
  <soap:Body>
    <o:CreateOrder xmlns:o="urn:example:orders">
      <o:customer>c-1024</o:customer>
      <o:currency>EUR</o:currency>
      <o:lines>${Array.from({ length: lines }, (_, n) => line(n + 1)).join('')}
      </o:lines>
    </o:CreateOrder>
  </soap:Body>
</soap:Envelope>`

/** Every event of the document, with all its strings; counted as the other programs count. */
export function events(bytes: Uint8Array): number {
  const cursor = scanDocument(bytes)
  let seen = 0
  for (let event = cursor.next(); event !== 'after'; event = cursor.next()) {
    if (event === 'start') {
      seen += cursor.name.local.length
      for (let index = 0; index < cursor.attributes; index++) seen += cursor.attributeValue(index).length
    } else if (event === 'text') seen += cursor.value.length
    else if (event === 'end') seen++
  }
  return seen
}

export function saxesEvents(text: string): number {
  const parser = new SaxesParser({ xmlns: true })
  let seen = 0
  parser.on('opentag', tag => {
    seen += tag.local.length
    for (const key in tag.attributes) {
      const { prefix, value } = tag.attributes[key]!
      if (prefix !== 'xmlns') seen += value.length
    }
  })
  parser.on('closetag', () => {
    seen++
  })
  parser.on('text', value => {
    seen += value.length
  })
  parser.write(text).close()
  return seen
}

/** What the SOAP face does with a Body: it is read, validated and bound in one pass. */
export function binder(): (bytes: Uint8Array) => Record<string, unknown> {
  const [{ request } = { request: { fields: {} } }] = compileMessages(shop, 'v1')
  const read = compileRowReader(request.fields, qualifiedSpace('urn:diglot:shop:v1'))
  return bytes => {
    const cursor = scanDocument(bytes, strictParsing)
    const reading: LiteralReading = { flaws: [], parts: undefined, around: undefined, blocks: [] }
    cursor.next()
    const value = read(cursor, reading)
    cursor.finish()
    if (reading.flaws.length > 0) throw new Error(JSON.stringify(reading.flaws))
    return value
  }
}

/** Microseconds of CPU for one call, over enough calls to be measured. */
export function time(work: () => unknown, calls: number): number {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** One side of a comparison: what one document costs, over so many. */
type Work = (times: number) => number
const inside =
  (work: () => unknown): Work =>
  times =>
    time(work, times)

const libxml2 = { library: 'libxml-2.0', link: 'xml2', package: 'libxml2-dev' }
/** A program of `native`, compiled here, on one file; `seen`: what it must count. */
function native(folder: string, name: string, file: string, seen: number, words: readonly string[] = []): Work {
  return times => {
    const said = execFileSync(join(folder, name), [file, String(times), ...words], { encoding: 'utf8' })
    const [took, counted] = said.split(' ').map(Number)
    if (counted !== seen) throw new Error(`${name} counted ${counted} and not ${seen} in ${file}`)
    return took ?? Number.NaN
  }
}

interface Case {
  readonly what: string
  readonly against: string
  readonly goal: string
  readonly ours: Work
  /** Or why it cannot be run. */
  readonly theirs: Work | string
}

/** Microseconds of CPU that one measurement takes, about. */
const enough = 100_000

async function measured({ what, against, goal, ours, theirs }: Case): Promise<Row> {
  if (typeof theirs === 'string') return skipped(what, against, theirs)
  const times = [ours, theirs].map(each => Math.max(3, Math.round(enough / warmed(each))))
  return row(
    what,
    against,
    goal,
    await paired(
      quick ? 5 : 13,
      () => ours(times[0]!),
      () => theirs(times[1]!),
    ),
  )
}

/** Run until it is compiled; answers about what one time costs. */
function warmed(work: Work): number {
  const first = Math.max(1, work(3))
  return Math.max(1, work(Math.round((enough * 4) / first)))
}

export const xml = (): Promise<Row[]> =>
  inFolder(async folder => {
    stayOff()
    const cases = [...eventCases(folder), ...bindCases(folder)]
    const rows: Row[] = []
    for (const each of cases) rows.push(await measured(each))
    return rows
  })

function eventCases(folder: string): Case[] {
  const compiled = {
    expat: compile(folder, 'expat', { library: 'expat', link: 'expat', package: 'libexpat1-dev' }),
    sax2: compile(folder, 'sax2', libxml2),
  }
  return [message(78), message(3)].flatMap((text, i) => {
    const octets = text.length
    const bytes = new TextEncoder().encode(text)
    const file = join(folder, `events-${i}.xml`)
    writeFileSync(file, bytes)
    const seen = events(bytes)
    if (saxesEvents(text) !== seen) throw new Error(`saxes counted ${saxesEvents(text)} and not ${seen}`)
    const what = `XML events of ${octets.toLocaleString('en')} octets, namespace-aware`
    const one = { what, ours: inside(() => events(bytes)) }
    return [
      { ...one, against: 'saxes 6', goal: '≥ 4.5', theirs: inside(() => saxesEvents(text)) },
      { ...one, against: 'C expat', goal: '≥ 2', theirs: compiled.expat ?? native(folder, 'expat', file, seen) },
      { ...one, against: 'C libxml2 SAX2', goal: '≥ 1', theirs: compiled.sax2 ?? native(folder, 'sax2', file, seen) },
    ]
  })
}

function bindCases(folder: string): Case[] {
  const schema = join(folder, 'shop.xsd')
  const written = writeXsd(shop, 'v1')
  writeFileSync(schema, written)
  const why = compile(folder, 'validate', libxml2)
  const validator = XsdValidator.fromDoc(XmlDocument.fromString(written))
  const bind = binder()
  return [7, 98, 9950].flatMap(lines => {
    const text = orderXml(lines)
    const octets = text.length
    const bytes = new TextEncoder().encode(text)
    const file = join(folder, `order-${lines}.xml`)
    writeFileSync(file, bytes)
    const parseAndValidate = (from: Uint8Array): void => {
      using document = XmlDocument.fromBuffer(from)
      validator.validate(document)
    }
    for (const each of [bind, parseAndValidate]) refuses(each, text)
    const what = `XML of ${octets.toLocaleString('en')} octets parsed, validated, bound`
    const one = { what, ours: inside(() => bind(bytes)) }
    return [
      {
        ...one,
        against: 'C libxml2, parse and XSD',
        goal: '≥ 1.9',
        theirs: why ?? native(folder, 'validate', file, 1, [schema]),
      },
      { ...one, against: 'libxml2-wasm, the same', goal: '≥ 2.8', theirs: inside(() => parseAndValidate(bytes)) },
    ]
  })
}

/** Both judge alike: what is against the schema at its end is refused. */
function refuses(work: (bytes: Uint8Array) => unknown, text: string): void {
  try {
    work(new TextEncoder().encode(text.replace(/<\/price>(?!.*<price>)/s, 'x</price>')))
  } catch {
    return
  }
  throw new Error('a document with a wrong price was taken')
}
