/**
 * Each single change of a schema of OpenAPI as `diglot diff` judges it, and as clients do that were
 * made from the release before: pydantic classes by openapi-generator, which check at run time, and
 * programs with the types of openapi-typescript, which are compiled. What breaks has a value that
 * is refused or changed, or a program that does not compile any more; what is compatible has none.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Json, objectOf } from '../../src/base/objects.ts'
import { compareServices, isBreaking } from '../../src/diff/compare-services.ts'
import { readRestDescription } from '../../src/diff/read-openapi.ts'
import { changesOfOperations, changesOfTypes, service } from '../diff/rest-change-table.ts'
import { isUnseen } from '../diff/unseen-changes.ts'
import { type OperationProgram, operationPrograms } from './diff/rest-programs.ts'
import { mergeRows, type RestReleases, serveReleases } from './diff/rest-releases.ts'
import { candidates, pickWitnesses } from './diff/rest-witnesses.ts'
import { spawnText } from './diff/spawn-text.ts'
import { type Construct, compileConstructs, readValue, writeValue } from './diff/typed-programs.ts'
import { installed } from './installed.ts'
import { folder, missing } from './peer.ts'

const here = import.meta.dirname
const generator = join(here, 'openapi-clients', 'lib', 'openapi-generator-cli-7.15.0.jar')
const python = join(here, 'others', 'venv', 'bin', 'python')
const driver = join(here, 'diff', 'rest_clients.py')
const bin = (name: string): string => join(here, 'openapi-clients', 'node_modules', '.bin', name)
const noPython = missing('pydantic (test/peers/others/requirements.txt)', python, [
  '-c',
  'import dateutil, jsonschema_rs, lazy_imports, pydantic',
])
const skip =
  installed('openapi-clients') ||
  noPython ||
  missing('openapi-generator', 'sh', ['-c', `java -version && ls ${generator}`])

/** Of more than 1,000 exchanges: defaults that pydantic fills in, and null for what is absent. */
const leftMax = 20
const place = folder()
const merge = (at: 1 | 2): Json =>
  mergeRows(
    changesOfTypes.map(row => row[at]),
    changesOfOperations.map(row => row[at]),
  )
const [old, now] = [merge(1), merge(2)]

interface Call {
  readonly row: number
  readonly way: 'take' | 'give' | 'operate'
  readonly release: 'old' | 'new'
  readonly mark: string
  readonly value: Json
}
interface Told {
  readonly end: 'ok' | 'unwritable' | 'refused' | 'client'
  readonly why?: string
  readonly value?: Json
  readonly status?: number
  readonly tag?: string | null
}
interface Trial {
  readonly kind: 'writers' | 'readers' | 'control'
  readonly call: Call
}

/** Of each row, what the old schema takes and what the new one does. */
async function chooseValues(): Promise<
  readonly { readonly written: readonly Json[]; readonly read: readonly Json[] }[]
> {
  // OpenAPI 3.0 says so of null.
  const plain = (schema: Json): Json =>
    JSON.parse(JSON.stringify(schema).replaceAll('"type":"string","nullable":true', '"type":["string","null"]')) as Json
  const asked = changesOfTypes.flatMap(([, one, two]) =>
    [one, two].map(each => ({ schema: plain(each), values: candidates })),
  )
  const said = await spawnText(python, [driver, 'validate'], { input: JSON.stringify(asked) })
  const taken = JSON.parse(said) as readonly (readonly boolean[])[]
  return changesOfTypes.map((_, row) => {
    const [one, two] = [taken[row * 2] ?? [], taken[row * 2 + 1] ?? []]
    return { written: pickWitnesses(one, two), read: pickWitnesses(two, one) }
  })
}

async function generateClients(): Promise<void> {
  const options = ['packageName=released', 'disallowAdditionalPropertiesIfNotPresent=false']
  const parts = [
    'models',
    'apis',
    'supportingFiles',
    ...['modelDocs', 'apiDocs', 'modelTests', 'apiTests'].map(each => `${each}=false`),
  ]
  await spawnText('java', [
    ...[
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      '-jar',
      generator,
      'generate',
      '-g',
      'python',
      '--skip-validate-spec',
    ],
    ...['-i', join(place, 'old.json'), '-o', join(place, 'python')],
    ...['--additional-properties', options.join(','), '--global-property', parts.join(',')],
  ])
}

/** What a service has of a content that goes by its schema: defaults stand for what is absent. */
function completeValue(schema: Json | undefined, value: Json | undefined): Json {
  const defaults = Object.entries(objectOf(objectOf(schema)['properties'])).flatMap(([name, each]) => {
    const { default: initial } = objectOf(each)
    return initial === undefined ? [] : [[name, initial] as const]
  })
  return { ...Object.fromEntries(defaults), ...objectOf(value) }
}
/** Readers pass over members that a closed schema does not have (A9.3). */
function dropUnknown(schema: Json | undefined, value: Json | undefined): Json {
  const { additionalProperties, properties } = objectOf(schema)
  const isKnown = (name: string) => additionalProperties !== false || Object.hasOwn(objectOf(properties), name)
  return Object.fromEntries(Object.entries(objectOf(value)).filter(([name]) => isKnown(name)))
}
const spellTimes = (value: Json | undefined): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll('+00:00"', 'Z"'))

function findFlaw({ addresses: _, taken, given }: RestReleases, { call, kind }: Trial, told: Told): string | undefined {
  const { row, way, release, mark, value } = call
  if (told.end !== 'ok') return `${told.end}: ${told.why}`
  const [, before, after] = changesOfTypes[row]!
  const [expected, came] =
    way === 'give'
      ? [dropUnknown(before, given.get(mark)), told.value]
      : [
          completeValue(before, value),
          completeValue(release === 'old' ? before : after, taken.get(`${release} ${mark}`)),
        ]
  if (isDeepStrictEqual(spellTimes(expected), spellTimes(came))) return undefined
  return `${kind}: ${JSON.stringify(expected)} came as ${JSON.stringify(came)}`
}

interface Finding {
  readonly pydantic: { readonly writers: string[]; readonly readers: string[]; controls: number }
  readonly types: { readonly writers: string[]; readonly readers: string[]; controls: number }
}
const findings = changesOfTypes.map(
  (): Finding => ({
    pydantic: { writers: [], readers: [], controls: 0 },
    types: { writers: [], readers: [], controls: 0 },
  }),
)
const left: string[] = []

/** What a program of the old release sees at each release. */
interface Operated {
  readonly title: string
  readonly program: OperationProgram
  readonly seen: string[]
}
const operated = changesOfOperations.flatMap(([title]) =>
  (operationPrograms[title] ?? []).map((program): Operated => ({ title, program, seen: [] })),
)
const rowOf = (title: string): number => changesOfOperations.findIndex(each => each[0] === title)
const operationCalls = operated.flatMap(({ title, program }, at): readonly Call[] =>
  (['old', 'new'] as const).map(release => ({
    row: rowOf(title),
    way: 'operate',
    release,
    mark: `operate-${at}`,
    value: { ...program },
  })),
)

async function judgeByCalls(values: Awaited<ReturnType<typeof chooseValues>>): Promise<void> {
  const releases = await serveReleases(old, now)
  for (const [at, { program }] of operated.entries())
    if (program.status !== undefined) releases.statuses.set(`operate-${at}`, program.status)
  const trials = values.flatMap(({ written, read }, row) => [
    ...written.flatMap((value, at): readonly Trial[] => [
      { kind: 'control', call: { row, way: 'take', release: 'old', mark: `${row}-o${at}`, value } },
      { kind: 'writers', call: { row, way: 'take', release: 'new', mark: `${row}-o${at}`, value } },
      { kind: 'control', call: { row, way: 'give', release: 'old', mark: `${row}-o${at}`, value } },
    ]),
    ...read.map(
      (value, at): Trial => ({
        kind: 'readers',
        call: { row, way: 'give', release: 'new', mark: `${row}-n${at}`, value },
      }),
    ),
  ])
  for (const { call } of trials) if (call.way === 'give') releases.given.set(call.mark, call.value)
  await generateClients()
  const { addresses } = releases
  const said = await spawnText(python, [driver, 'call', join(place, 'python'), addresses.old, addresses.new], {
    input: JSON.stringify([...trials.map(({ call }) => call), ...operationCalls]),
  })
  const told = JSON.parse(said) as readonly Told[]
  for (const [at, { release, mark }] of operationCalls.entries()) {
    const { end, status, value, tag } = told[trials.length + at] ?? { end: 'client' }
    const seen = end === 'ok' ? { value, tag } : { end, status }
    operated[Math.floor(at / 2)]?.seen.push(JSON.stringify({ ...seen, read: releases.taken.get(`${release} ${mark}`) }))
  }
  const flawed = trials.map((trial, at) => ({
    ...trial,
    flaw: findFlaw(releases, trial, told[at] ?? { end: 'client' }),
  }))
  const keyOf = ({ row, way, value }: Call) => `${row} ${way} ${JSON.stringify(value)}`
  const harmed = new Set<string>()
  for (const { kind, call, flaw } of flawed) {
    if (kind !== 'control') continue
    if (flaw === undefined) findings[call.row]!.pydantic.controls++
    else {
      harmed.add(keyOf(call))
      left.push(`${changesOfTypes[call.row]![0]}: ${keyOf(call)}: ${flaw}`)
    }
  }
  for (const { kind, call, flaw } of flawed)
    if (kind !== 'control' && flaw !== undefined && !harmed.has(keyOf(call)))
      findings[call.row]!.pydantic[kind].push(`${JSON.stringify(call.value)}: ${flaw}`)
}

async function judgeByTypes(values: Awaited<ReturnType<typeof chooseValues>>): Promise<void> {
  const constructs = values.flatMap(({ written }, row) => [
    ...written.flatMap(value => writeValue(row, value)),
    ...readValue(row, Object.keys(objectOf(objectOf(changesOfTypes[row]![1])['properties']))),
  ])
  const flaws = await compileConstructs(place, bin, constructs)
  const keyOf = ({ row, about }: Construct) => `${row} ${about}`
  const harmed = new Set(constructs.filter(each => each.kind === 'control' && flaws.has(each)).map(keyOf))
  for (const each of constructs) {
    const flaw = flaws.get(each)
    const finding = findings[each.row]!.types
    if (each.kind === 'control' && flaw === undefined) finding.controls++
    if (each.kind !== 'control' && flaw !== undefined && !harmed.has(keyOf(each)))
      finding[each.kind].push(`${each.about}: ${flaw}`)
  }
}

describe('clients made from the release before', { skip, timeout: 300_000 }, () => {
  before(async () => {
    writeFileSync(join(place, 'old.json'), JSON.stringify(old))
    writeFileSync(join(place, 'new.json'), JSON.stringify(now))
    const values = await chooseValues()
    await Promise.all([judgeByCalls(values), judgeByTypes(values)])
  })

  test('few values differ between the client and the release that it was made from', () => {
    assert.ok(left.length <= leftMax, left.join('\n'))
  })

  for (const [row, [title, one, two]] of changesOfTypes.entries())
    test(title, () => {
      const { pydantic, types } = findings[row]!
      const found = compareServices(readRestDescription(service(one), 'old'), readRestDescription(service(two), 'new'))
      assert.ok(pydantic.controls >= 2, `the judge is broken: ${pydantic.controls} values pass before the change`)
      for (const side of ['writers', 'readers'] as const) {
        const flaws = [...pydantic[side].map(each => `pydantic ${each}`), ...types[side].map(each => `tsc ${each}`)]
        const isExcepted = isUnseen('REST', title, side)
        const [isSeen, expected] = [flaws.length > 0, found.some(each => each[side] === 'breaking')]
        if (isExcepted) assert.deepEqual([isSeen, expected], [false, true], `${side}: no exception any more`)
        else assert.equal(isSeen, expected, `${side}: ${flaws.join('\n') || 'no client shows it'}`)
      }
    })

  for (const [title, one, two] of changesOfOperations)
    test(title, () => {
      const all = operated.filter(each => each.title === title)
      assert.ok(all.some(({ seen: [before] }) => before?.includes('"read"') && !before.includes('"end"')))
      const found = compareServices(readRestDescription(one, 'old'), readRestDescription(two, 'new'))
      const changed = all.filter(({ seen: [before, after] }) => before !== after)
      const flaws = changed.map(({ program, seen }) => `${JSON.stringify(program)}: ${seen.join(' became ')}`)
      assert.equal(flaws.length > 0, found.some(isBreaking), flaws.join('\n') || 'no program shows it')
    })
})
