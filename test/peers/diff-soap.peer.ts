/**
 * Each single change of a WSDL as `diglot diff` judges it, and as clients do that were made from
 * the release before. Values that the old schema takes are written to the new service, and those
 * that the new one takes are read from it. What breaks has a value that is refused or changed;
 * what is compatible has none. What the same client does not exchange with the old service unharmed
 * counts for nothing.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { compareServices, isBreaking } from '../../src/diff/compare-services.ts'
import { readSoapDescription } from '../../src/diff/read-soap.ts'
import { type Element, Malformed, parseXml } from '../../src/xml/index.ts'
import {
  changesOfOperations,
  changesOfTypes,
  eachWay,
  type Shape,
  writeSchema,
  writeWsdl,
} from '../diff/soap-change-table.ts'
import { isUnseen } from '../diff/unseen-changes.ts'
import { digestElement } from '../import/served-port.ts'
import {
  learnValue,
  type OperationRelease,
  type SoapRelease,
  serveAsWritten,
  serveOperation,
  serveRelease,
} from './diff/soap-releases.ts'
import { chooseWitnesses, writeGive, writeGiven, writeTake } from './diff/soap-witnesses.ts'
import { spawnText } from './diff/spawn-text.ts'
import { folder, missing } from './peer.ts'

const here = import.meta.dirname
const libraries = join(here, 'cxf', 'lib')
const skip = missing('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${libraries}/jaxb-xjc-*.jar`,
])

interface Call {
  readonly release: string
  readonly address: string
  readonly action: string
  readonly xml: string
}
interface Told {
  /** `unwritable`: the schema of the client does not allow the request. */
  readonly end: 'ok' | 'fault' | 'client' | 'unwritable'
  readonly xml?: string
  readonly why?: string
}
/** A call of an old client, and what is wrong with what became of it. */
interface Trial {
  readonly row: number
  readonly kind: 'writers' | 'readers' | 'control'
  readonly way: 'taken' | 'given' | 'given as written'
  readonly witness: string
  readonly call: Call
  readonly findFlaw: (told: Told) => string | undefined
}

type Pair = readonly [old: SoapRelease, now: SoapRelease]

/** Of more than 500 values: floats of ten digits, wildcards, times without a zone. */
const leftMax = 12
const place = folder()

let publishAsWritten: Awaited<ReturnType<typeof serveAsWritten>>

const readXml = (xml: string): Element => {
  const document = parseXml(Buffer.from(xml))
  assert.ok(!(document instanceof Malformed), xml)
  return document.root
}
const findThing = (element: Element): Element | undefined =>
  element.name.local === 'thing' ? element : element.elements().map(findThing).find(Boolean)
const digestThing = (xml: string): string => digestElement(findThing(readXml(xml)), false)

/** What a service has read: texts by their names, whatever the contract calls what is around them. */
function listTexts(value: unknown, name = ''): readonly string[] {
  if (value instanceof Uint8Array) return [`${name}=${Buffer.from(value).toString('hex')}`]
  if (Array.isArray(value)) return value.flatMap(each => listTexts(each, name))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([inside, each]) => listTexts(each, inside))
  const text = String(value)
  if (!text.startsWith('<')) return [`${name}=${text}`]
  const element = readXml(text)
  return [`${name}=${element.elements().length > 0 ? digestElement(element, false) : element.text}`]
}
const spellTexts = (value: unknown): string => listTexts(value).join(', ')

function prepareWriting(row: number, [old, now]: Pair, witness: string, mark: string): readonly Trial[] {
  const xml = writeTake(witness, mark, old.shape.form)
  const expected = spellTexts(old.given.get(mark))
  return [old, now].map(({ address, taken }) => ({
    row,
    kind: address === old.address ? 'control' : 'writers',
    way: 'taken',
    witness,
    call: { release: `r${row}`, address, action: 'urn:take', xml },
    findFlaw: ({ end, why }) => {
      if (end !== 'ok') return end === 'unwritable' ? end : `${end}: ${why}`
      const seen = spellTexts(taken.get(mark))
      return seen === expected ? undefined : `${expected} was read as ${seen}`
    },
  }))
}

const collapseSpace = (digest: string): string => digest.replaceAll(/\s+/g, ' ').replaceAll(/ ?([<>]) ?/g, '$1')

/** Our service gives the value; where it spells it otherwise, another gives it as it stands, too. */
async function prepareReading(
  row: number,
  [old]: Pair,
  [from, witness, mark]: readonly [SoapRelease, string, string],
): Promise<readonly Trial[]> {
  const trial = (way: Trial['way'], address: string, findChange: (came: string) => string | undefined): Trial => ({
    row,
    kind: from === old ? 'control' : 'readers',
    way,
    witness,
    call: { release: `r${row}`, address, action: 'urn:give', xml: writeGive(mark) },
    findFlaw: ({ end, why, xml = '' }) => (end === 'ok' ? findChange(digestThing(xml)) : `${end}: ${why}`),
  })
  const given = digestThing(await learnValue(from, witness, mark))
  const written = digestThing(writeGiven(witness, from.shape.form))
  const byUs = trial('given', from.address, came => (came === given ? undefined : `${given} came as ${came}`))
  if (given === written) return [byUs]
  const isSame = (came: string) => collapseSpace(came) === collapseSpace(written)
  const address = publishAsWritten(witness, from.shape.form)
  return [byUs, trial('given as written', address, came => (isSame(came) ? undefined : `${written} came as ${came}`))]
}

async function prepareRow(row: number, pair: Pair): Promise<readonly Trial[]> {
  const [old, now] = pair
  const written = chooseWitnesses(old.shape, now.shape)
  const read = chooseWitnesses(now.shape, old.shape)
  const reading = [
    ...written.map((each, at) => [old, each, `o${at}`] as const),
    ...read.map((each, at) => [now, each, `n${at}`] as const),
  ]
  const trials: Trial[] = []
  for (const each of reading) trials.push(...(await prepareReading(row, pair, each)))
  return [...written.flatMap((each, at) => prepareWriting(row, pair, each, `o${at}`)), ...trials]
}

/** They are made while the services learn what to give. */
function startOldClients(releases: readonly SoapRelease[]) {
  const words = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', `${libraries}/*`]
  const child = spawn('java', [...words, join(here, 'cxf', 'OldClients.java'), place], { timeout: 240_000 })
  const made = releases.map(({ wsdl, shape }, row) => ({ name: `r${row}`, wsdl, xsd: writeSchema(shape, eachWay) }))
  child.stdin.write(`${JSON.stringify(made)}\n`)
  return {
    async ask(calls: readonly Call[]): Promise<readonly Told[]> {
      child.stdin.end(`${JSON.stringify(calls)}\n`)
      const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      assert.equal(child.exitCode, 0, complaint)
      return JSON.parse(said) as readonly Told[]
    },
  }
}

const judgeByDiff = (old: Shape, now: Shape) => {
  const [one, two] = [old, now].map(each => readSoapDescription(writeWsdl(each, eachWay), 'x', () => undefined))
  assert.ok(one && two)
  const found = compareServices(one, two)
  const worst = (side: 'writers' | 'readers') => found.some(each => each[side] === 'breaking')
  return { writers: worst('writers'), readers: worst('readers') }
}

interface Finding {
  readonly writers: string[]
  readonly readers: string[]
  /** How many values the old client exchanges with the old service unharmed. */
  controls: number
  /** What it does not, though libxml2 says that its schema takes it. */
  readonly left: string[]
}

/** What the old client does not exchange with the old service says nothing of a change. */
function judgeTrials(trials: readonly Trial[], told: readonly Told[]): readonly Finding[] {
  const findings = changesOfTypes.map((): Finding => ({ writers: [], readers: [], controls: 0, left: [] }))
  const flawed = trials.map((trial, at) => ({ ...trial, flaw: trial.findFlaw(told[at] ?? { end: 'client' }) }))
  const harmed = new Set<string>()
  const unwritable = new Set<string>()
  for (const { row, kind, way, witness, flaw } of flawed) {
    if (kind !== 'control') continue
    if (flaw === undefined) findings[row]!.controls++
    else {
      harmed.add(`${row} ${way} ${witness}`)
      if (flaw === 'unwritable') unwritable.add(`${row} ${witness}`)
      findings[row]!.left.push(`${way} ${witness}: ${flaw}`)
    }
  }
  for (const { row, kind, way, witness, flaw } of flawed) {
    if (kind === 'control' || flaw === undefined) continue
    // A value that the schema of the client does not allow for certain is read all the same.
    const isNewOnly = kind === 'readers' && unwritable.has(`${row} ${witness}`)
    if (isNewOnly || !harmed.has(`${row} ${way} ${witness}`)) findings[row]![kind].push(`${witness}: ${flaw}`)
  }
  return findings
}

describe('clients made by XJC and CXF from the release before', { skip, timeout: 300_000 }, () => {
  let findings: readonly Finding[] = []
  before(async () => {
    publishAsWritten = await serveAsWritten()
    const pairs: Pair[] = []
    for (const [row, [, old, now]] of changesOfTypes.entries())
      pairs.push([await serveRelease(old, place, `old${row}`), await serveRelease(now, place, `new${row}`)])
    const clients = startOldClients(pairs.map(([old]) => old))
    const trials: Trial[] = []
    for (const [row, pair] of pairs.entries()) trials.push(...(await prepareRow(row, pair)))
    findings = judgeTrials(trials, await clients.ask(trials.map(({ call }) => call)))
  })

  test('the client and libxml2 disagree on few values', () => {
    const left = findings.flatMap(each => each.left)
    assert.ok(left.length <= leftMax, left.join('\n'))
  })

  for (const [row, [title, old, now]] of changesOfTypes.entries())
    test(title, () => {
      const { writers, readers, controls } = findings[row]!
      assert.ok(controls >= 2, `the judge is broken: ${controls} values pass before the change`)
      const verdict = judgeByDiff(old, now)
      for (const side of ['writers', 'readers'] as const) {
        const flaws = { writers, readers }[side]
        const isExcepted = isUnseen('SOAP', title, side)
        const isSeen = flaws.length > 0
        const expected = verdict[side]
        if (isExcepted) assert.deepEqual([isSeen, expected], [false, true], `${side}: no exception any more`)
        else assert.equal(isSeen, expected, `${side}: ${flaws.join('\n') || 'no call shows it'}`)
      }
    })
})

/** What a program of the old release sends. */
interface SoapProgram {
  readonly a: string
  readonly isText?: boolean
  readonly header?: string
}
const call: SoapProgram = { a: 'x' }
const octets: SoapProgram = { a: 'x', isText: false }
/** Messages with attachments are none of zeep's. */
const programs: Readonly<Record<string, readonly SoapProgram[]>> = {
  'the namespace': [call],
  'the action': [call],
  'a fault comes': [call, { a: 'late' }],
  'a fault goes': [call],
  'a fault about a header block is added': [{ ...call, header: 'x' }],
  'octets in the XML become those of an attachment': [octets],
  'a URI becomes the octets of an attachment': [call],
  'a header block is added': [call],
  'a header block goes': [{ ...call, header: 'x' }],
}
const python = join(here, 'others', 'venv', 'bin', 'python')
const noZeep = missing('zeep (test/peers/others/requirements.txt)', python, ['-c', 'import zeep'])

interface OperationTrial {
  readonly program: SoapProgram
  readonly releases: readonly [OperationRelease, OperationRelease]
}
interface OperationTold {
  readonly end: 'ok' | 'fault' | 'client'
  readonly value: string
}

async function tryPrograms(): Promise<
  ReadonlyMap<string, (OperationTrial & { readonly told: readonly OperationTold[] })[]>
> {
  const trials: (OperationTrial & { readonly title: string })[] = []
  for (const [row, [title, old, now]] of changesOfOperations.entries())
    for (const [at, program] of (programs[title] ?? []).entries()) {
      const name = `${row}-${at}`
      const releases = [
        await serveOperation(old, place, `before${name}`),
        await serveOperation(now, place, `after${name}`),
      ] as const
      trials.push({ title, program, releases })
    }
  const calls = trials.flatMap(({ program, releases }) => {
    const [{ wsdl, uri }] = releases
    return releases.map(({ address }) => ({ wsdl, uri, address, ...program }))
  })
  const said = await spawnText(python, [join(here, 'diff', 'soap_operations.py')], { input: JSON.stringify(calls) })
  const told = JSON.parse(said) as readonly OperationTold[]
  return Map.groupBy(
    trials.map((trial, at) => ({ ...trial, told: told.slice(at * 2, at * 2 + 2) })),
    ({ title }) => title,
  )
}

describe('clients by zeep from the release before, at an operation', { skip: noZeep, timeout: 120_000 }, () => {
  let tried: Awaited<ReturnType<typeof tryPrograms>> = new Map()
  before(async () => {
    tried = await tryPrograms()
  })
  for (const [title, old, now] of changesOfOperations.filter(([each]) => programs[each]))
    test(title, () => {
      const trials = tried.get(title) ?? []
      const said = JSON.stringify(trials.map(({ told }) => told))
      assert.ok(trials.length > 0 && trials.every(({ told }) => told[0]?.end === 'ok'), `the judge is broken: ${said}`)
      const [one, two] = [old, now].map(each => readSoapDescription(writeWsdl(each), 'x', () => undefined))
      assert.ok(one && two)
      // A fault that was not declared is a fault to its caller.
      const isSeen = trials.some(({ program, told: [before, after], releases }) =>
        program.a === 'late'
          ? after?.end !== 'fault'
          : !isDeepStrictEqual([before, releases[0].blocks], [after, releases[1].blocks]),
      )
      const isBroken = compareServices(one, two).some(isBreaking)
      if (isUnseen('SOAP', title, 'writers')) assert.deepEqual([isSeen, isBroken], [false, true], said)
      else assert.equal(isSeen, isBroken, said)
    })
})
