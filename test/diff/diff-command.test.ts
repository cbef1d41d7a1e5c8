/** `diglot diff` as a command: what is compared with what, what is printed, and the exit status. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { startHosted } from '../host/hosted-service.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'diglot-diff-'))
after(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, 'node_modules'))
symlinkSync(root, join(folder, 'node_modules', 'diglot'))
writeFileSync(join(folder, 'package.json'), '{ "name": "own", "type": "module" }')
writeFileSync(join(folder, '.gitignore'), 'node_modules\n')

const writeService = (name: string, fields: string, from = "'open', 'held'", roles = 'anyone') =>
  writeFileSync(
    join(folder, name),
    `import { anyone, implement, resource, role, service, t } from 'diglot'
const notes = resource('notes', {
  fields: { id: t.id('n'), state: t.state(), ${fields} },
  states: ['open', 'held', 'done'],
  actions: on => ({ hold: on('open').to('held', { rel: 'hold' }), finish: on(${from}).to('done', { rel: 'finish' }) }),
}).rules({ allow: { read: [anyone], create: [anyone], change: [anyone], hold: [anyone], finish: [${roles}] } })
export default implement(service('notes', { namespace: 'urn:n', resources: [notes] }), {})
`,
  )
const run = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'diff', ...words],
    { encoding: 'utf8', timeout: 120_000, cwd: folder },
  )
  return { status, stdout, stderr }
}

writeFileSync(join(folder, 'cut.json'), '{ "openapi": ')
writeFileSync(join(folder, 'bad.yaml'), 'a: [')
writeService('old.ts', 'text: t.string({ max: 10 })')
writeService('same.ts', 'text: t.string({ max: 10 })')
writeService('wider.ts', 'text: t.string({ max: 10 }), note: t.string().optional()')
writeService('open.ts', 'text: t.string().optional(), place: t.string().optional()')
writeService(
  'guarded.ts',
  "text: t.string().optional().visibleTo(role('clerk')), place: t.string().optional().settableIn('open', 'done'), more: t.string().optional().visibleTo(role('clerk'))",
)
writeService('broken.ts', 'text: t.string({ max: 5 })', "'open'", "role('clerk')")

const writeRates = (name: string, declared: string) =>
  writeFileSync(
    join(folder, name),
    `import { anyone, implement, resource, service, t } from 'diglot'
const rates = resource('rates', { ${declared} }).rules({
  one: 'rates',
  allow: { read: [anyone], create: [anyone], change: [anyone] },
})
export default implement(service('rates', { namespace: 'urn:r', resources: [rates] }), {})
`,
  )
writeRates('many.ts', "fields: { id: t.id('r'), daily: t.int() }")
writeRates('single.ts', 'single: true, fields: { daily: t.int() }')

const writePort = (name: string, type: string) =>
  writeFileSync(
    join(folder, name),
    `import { anyone, exchange, implement, port, service, x } from 'diglot'
const ns = x.namespace('urn:tree')
const Ask = ns.element('Ask', x.object({ depth: x.element(${type}) }))
const trees = port('Trees', {
  namespace: 'urn:tree',
  allow: [anyone],
  exchanges: { Ask: exchange({ action: 'urn:ask', input: Ask, output: ns.element('Tree', x.object({})) }) },
})
export default implement(service('trees', { namespace: 'urn:trees', resources: [], ports: [trees] }), { Trees: { Ask: () => ({}) } })
`,
  )
test('B9.2 the SOAP input of a port is compared, too: exit status 1', () => {
  writePort('tall.ts', 'x.long')
  writePort('short.ts', 'x.int')
  assert.equal(run('tall.ts', 'tall.ts').status, 0)
  const { status, stdout } = run('tall.ts', 'short.ts')
  assert.equal(status, 1, stdout)
  assert.match(stdout, /^breaking +SOAP +.*Ask.*xs:long → xs:int/m)
})

test('A9.3 nothing changed: exit status 0, and one line', () => {
  const { status, stdout, stderr } = run('old.ts', 'same.ts')
  assert.deepEqual([status, stderr], [0, ''], stdout)
  assert.equal(stdout, '0 breaking changes, 0 compatible changes from old.ts to same.ts\n')
})

test('A9.3, B9.2 an optional field is compatible in REST, and breaks strict readers of SOAP: exit status 1', () => {
  const { status, stdout } = run('old.ts', 'wider.ts')
  assert.equal(status, 1, stdout)
  assert.match(stdout, /^breaking {4}SOAP {2}.*note.*optional member added \(readers breaking; B9\.2\)$/m)
  assert.match(
    stdout,
    /^compatible {2}REST {2}v1\.Note\/note in .*: optional member added \(readers compatible; A9\.3\)$/m,
  )
})

test('A9.4 a tighter type, a removed state and a removed role: exit status 1, each with its cure', () => {
  const { status, stdout } = run('old.ts', 'broken.ts', '--json', 'found.json', '--sarif', 'found.sarif', '--breaking')
  assert.equal(status, 1, stdout)
  assert.match(
    stdout,
    /^breaking {4}REST {2}.*\/text.*: maxLength 10 → 5 \(.*writers breaking; A9\.4\)\n {12}keep accepting/m,
  )
  assert.match(stdout, /^breaking {4}contract {2}FinishNote: state held removed/m)
  assert.match(stdout, /^breaking {4}contract {2}FinishNote: role anyone removed/m)
  assert.doesNotMatch(stdout, /^compatible/m)
  const { counts, differences } = JSON.parse(readFileSync(join(folder, 'found.json'), 'utf8'))
  assert.equal(counts.breaking + counts.compatible, differences.length)
  assert.ok(counts.compatible > 0, 'a role came')
  const sarif = JSON.parse(readFileSync(join(folder, 'found.sarif'), 'utf8'))
  const levels = sarif.runs[0].results.map(({ level }: { level: string }) => level)
  assert.equal(levels.filter((level: string) => level === 'error').length, counts.breaking)
})

const turns = [
  [
    'many.ts',
    'single.ts',
    'items many → one',
    'GET /api/v1/rates/{}: operation removed',
    'ListRates: operation removed',
  ],
  ['single.ts', 'many.ts', 'items one → many', 'PUT /api/v1/rates: operation removed', 'id: required member added'],
] as const
for (const [before, after, items, rest, soap] of turns)
  test(`A9.4 a resource that turns from ${before} to ${after} breaks the callers of both faces`, () => {
    const { status, stdout } = run(before, after)
    assert.equal(status, 1)
    const lines = stdout.split('\n').filter(line => line.startsWith('breaking'))
    const has = (face: string, text: string): boolean => lines.some(line => line.includes(face) && line.includes(text))
    assert.ok(has('contract', `GetRates: ${items}`), stdout)
    assert.ok(has('REST', rest), stdout)
    assert.ok(has('SOAP', soap), stdout)
  })

test('A9.4 a lost right to see a field, to set it, or to do so in a state breaks callers', () => {
  const { stdout } = run('open.ts', 'guarded.ts')
  for (const line of [
    'breaking    contract  GetNote: role that sees text: anyone that reads the item removed (readers breaking; A9.4)',
    'compatible  contract  GetNote: role that sees text: clerk added (readers compatible; A9.3)',
    'breaking    contract  CreateNote: role that may set text: anyone that sends the item removed (writers breaking; A9.4)',
    'breaking    contract  ReplaceNote: state in which place may be set: held removed (writers breaking; A9.4)',
  ])
    assert.ok(stdout.split('\n').includes(line), `${line} in\n${stdout}`)
  assert.doesNotMatch(stdout, /CreateNote: state in which place|role that sees (place|more)/)
  const back = run('guarded.ts', 'open.ts').stdout
  assert.doesNotMatch(back, /^breaking +contract +GetNote/m)
  assert.match(back, /^compatible +contract +GetNote: role that sees text: anyone that reads the item added/m)
  assert.match(back, /^compatible +contract +ReplaceNote: state in which place may be set: held added/m)
})

test('against a revision of Git: the old file is read, and nothing is left behind', () => {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, stdio: 'ignore' })
  git('init', '-b', 'main')
  writeService('service.ts', 'text: t.string({ max: 10 })')
  git('add', '.')
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-m', 'first')
  writeService('service.ts', 'text: t.string({ max: 9 })')
  const { status, stdout, stderr } = run('service.ts', '--against', 'git:main')
  assert.equal(status, 1, stderr)
  assert.match(stdout, /maxLength 10 → 9/)
  assert.match(stdout, /from git:main to service\.ts$/m)
  assert.equal(run('git:main:service.ts', 'service.ts').status, 1)
  assert.deepEqual(
    readdirSync(folder).filter(name => name.startsWith('.diglot')),
    [],
  )
  const unknown = run('service.ts', '--against', 'git:nowhere')
  assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
  assert.match(unknown.stderr, /^diglot: git archive .*nowhere/)
})

test('against a running service: its own contract has no difference', async () => {
  const { server } = await startHosted({}, app)
  const { performDiff } = await import('../../src/diff/diff-command.ts')
  const address = `${server.url}/openapi.json`
  const { text, status } = await performDiff([address, address], {}, () => assert.fail('no contract is loaded'))
  assert.deepEqual([status, text], [0, `0 breaking changes, 0 compatible changes from ${address} to ${address}\n`])
})

test('OpenAPI in YAML, with an anchor, is read as in JSON', () => {
  const write = (max: number) => `openapi: 3.0.3
paths:
  /notes:
    post:
      requestBody: { content: { application/json: { schema: &note { type: string, maxLength: ${max} } } } }
      responses: { '200': { description: it, content: { application/json: { schema: *note } } } }
`
  writeFileSync(join(folder, 'old.yaml'), write(10))
  writeFileSync(join(folder, 'new.yaml'), write(9))
  const { status, stdout } = run('old.yaml', 'new.yaml')
  assert.equal(status, 1, stdout)
  assert.match(stdout, /^breaking .*POST \/notes content application\/json: maxLength 10 → 9 \(writers breaking/m)
  assert.match(stdout, /^compatible .*POST \/notes 200 application\/json: maxLength 10 → 9 \(readers compatible/m)
})

/** [words, what is printed to standard error] */
const impossible: readonly (readonly [readonly string[], RegExp])[] = [
  [['old.ts'], /^diglot: the other release is missing: give OLD NEW, or NEW --against git:main\n$/],
  [['old.ts', 'same.ts', '--against', 'git:main'], /two releases are compared/],
  [['old.ts', 'none.json'], /^diglot: none\.json not found/],
  [
    ['package.json', 'old.ts'],
    /package\.json is not an OpenAPI document of version 3\.0 to 3\.2: "openapi" is missing/,
  ],
  [['.gitignore', 'old.ts'], /^diglot: \.gitignore is not an OpenAPI document/],
  [['cut.json', 'old.ts'], /^diglot: cut\.json is not JSON at \/openapi: the text ends/],
  [['bad.yaml', 'old.ts'], /^diglot: bad\.yaml is not YAML: /],
  [['http://127.0.0.1:1/', 'old.ts'], /^diglot: http:\/\/127\.0\.0\.1:1\/ cannot be read/],
]
for (const [words, expected] of impossible)
  test(`diff ${words.join(' ')}: exit status 2, one line with the cure, no other output`, () => {
    const { status, stdout, stderr } = run(...words)
    assert.deepEqual([status, stdout], [2, ''], stderr)
    assert.match(stderr, expected)
    assert.equal(stderr.trim().split('\n').length, 1)
  })
