/**
 * What the compiler says of fifty mistakes and more: the text begins with the place or the cure, and
 * few are long. A change of types that makes one unreadable is seen here.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const charactersMax = 600

/** `longest`: known to be longer, since the compiler repeats the types of a function or a service. */
type Row = readonly [name: string, code: string, says: string, longest?: number | undefined, ends?: string]
/** The compiler prints the type of the handler, up to 330 characters, then our text. */
const mayNotReturn = (name: string, handler: string, path: string): Row => [
  name,
  `implement(clinic, { visits: { ...handlers, ${handler} }, reports: jobs })`,
  "Type '(",
  undefined,
  ` is not assignable to type '"this handler may not return ${path}"'.`,
]
const rows: readonly Row[] = [
  [
    'set-typo',
    'implement(clinic, { visits: { ...handlers, confirm: ctx => ({ set: { confirmdAt: ctx.now } }) }, reports: jobs })',
    "Object literal may only specify known properties, but 'confirmdAt' does not exist in type '{ readonl",
  ],
  [
    'set-type',
    'implement(clinic, { visits: { ...handlers, confirm: () => ({ set: { fee: 5 } }) }, reports: jobs })',
    "Type 'number' is not assignable to type 'string'.",
  ],
  [
    'set-state',
    "implement(clinic, { visits: { ...handlers, confirm: () => ({ set: { state: 'held' } }) }, reports: jobs })",
    "Object literal may only specify known properties, and 'state' does not exist in type '{ readonly con",
  ],
  [
    'effect-typo',
    'implement(clinic, { visits: { ...handlers, confirm: ctx => ({ sets: { confirmedAt: ctx.now } }) }, reports: jobs })',
    "Type '{ sets: { confirmedAt: string; }; }' is not assignable to type 'Maybe<void | { readonly set?: ",
  ],
  mayNotReturn(
    'set-typo-block',
    "confirm: ctx => { return { set: { confirmdAt: ctx.now, note: 'x' } } }",
    'set.confirmdAt',
  ),
  mayNotReturn(
    'set-typo-async',
    "confirm: async ctx => { return { set: { confirmdAt: ctx.now, note: 'x' } } }",
    'set.confirmdAt',
  ),
  mayNotReturn(
    'set-typo-async-expression',
    "confirm: async ctx => ({ set: { confirmdAt: ctx.now, note: 'x' } })",
    'set.confirmdAt',
  ),
  mayNotReturn(
    'set-typo-method',
    "async confirm(ctx) { return { set: { confirmdAt: ctx.now, note: 'x' } } }",
    'set.confirmdAt',
  ),
  mayNotReturn(
    'set-typo-one-of-two-returns',
    "confirm: ctx => { if (ctx.now > '2') return {}; return { set: { note: 'x', nots: 'y' } } }",
    'set.nots',
  ),
  mayNotReturn('set-state-block', "confirm: async () => { return { set: { note: 'x', state: 'held' } } }", 'set.state'),
  mayNotReturn(
    'effect-typo-block',
    'confirm: async ctx => { return { set: { confirmedAt: ctx.now }, sets: {} } }',
    'sets',
  ),
  mayNotReturn(
    'output-typo-block',
    "hold: async () => { return { output: { receipt: 'r', amount: '1.00', reciept: 'r' } } }",
    'output.reciept',
  ),
  mayNotReturn('look-extra', "track: () => ({ position: 'here', place: 'x' })", 'place'),
  mayNotReturn('derive-extra', "derive: () => ({ fee: '80.00', fees: '80.00' })", 'fees'),
  mayNotReturn('derive-state-block', "derive: () => { return { fee: '80.00', state: 'held' as const } }", 'state'),
  mayNotReturn('derive-id', "derive: () => ({ fee: '80.00', id: 'v-1' })", 'id'),
  [
    'run-extra-block',
    'implement(clinic, { visits: handlers, reports: { run: async () => { return { visits: 1, visit: 1 } } } })',
    "Type '() => Promise<{ visits: number; visit: number; }>' is not assignable to type '\"this handler may not return visit\"'.",
  ],
  [
    'output-missing',
    "implement(clinic, { visits: { ...handlers, hold: () => ({ set: { note: 'x' } }) }, reports: jobs })",
    "Type '{ set: { note: string; }; }' is not assignable to type 'Maybe<{ readonly output: { readonly am",
    1500,
  ],
  [
    'output-typo',
    "implement(clinic, { visits: { ...handlers, hold: () => ({ output: { reciept: 'r', amount: '1.00' } }) }, reports: jobs })",
    "Object literal may only specify known properties, but 'reciept' does not exist in type '{ readonly a",
  ],
  [
    'output-type',
    "implement(clinic, { visits: { ...handlers, hold: () => ({ output: { receipt: 'r', amount: 1 } }) }, reports: jobs })",
    "Type 'number' is not assignable to type 'string'.",
  ],
  [
    'action-missing',
    'const { merge: _, ...rest } = handlers\nimplement(clinic, { visits: rest, reports: jobs })',
    "Property 'merge' is missing in type '{ derive: () => { fee: string; }; confirm: () => undefined; hol",
  ],
  [
    'action-missing-inline',
    "implement(clinic, { visits: { derive: () => ({ fee: '1.00' }), confirm: () => {}, hold: handlers.hold, track: handlers.track }, reports: jobs })",
    "Property 'merge' is missing in type '{ derive: () => { fee: string; }; confirm: () => undefined; hol",
  ],
  [
    'resource-missing',
    'implement(clinic, { reports: jobs })',
    "Property 'visits' is missing in type '{ reports: { run: () => Promise<{ visits: number; }>; }; }' bu",
  ],
  [
    'action-unknown',
    'implement(clinic, { visits: { ...handlers, confrim: () => {} }, reports: jobs })',
    "Type '() => void' is not assignable to type '\"the contract has no confrim\"'.",
  ],
  [
    'resource-unknown',
    'implement(clinic, { visits: handlers, reports: jobs, doctor: {} })',
    "Type '{}' is not assignable to type '\"the contract has no doctor\"'.",
  ],
  [
    'derive-type',
    'implement(clinic, { visits: { ...handlers, derive: () => ({ fee: 80 }) }, reports: jobs })',
    "Type 'number' is not assignable to type 'string'.",
  ],
  [
    'derive-typo',
    "implement(clinic, { visits: { ...handlers, derive: () => ({ fees: '80.00' }) }, reports: jobs })",
    "Type '{ fees: string; }' is not assignable to type 'Maybe<Derived<{ readonly id: Field<string, false",
  ],
  [
    'derive-missing',
    'implement(clinic, { visits: { confirm: handlers.confirm, hold: handlers.hold, track: handlers.track, merge: handlers.merge }, reports: jobs })',
    "Property 'derive' is missing in type '{ confirm: () => undefined; hold: () => { output: { receipt: s",
  ],
  [
    'fault-undeclared',
    'implement(clinic, { visits: { ...handlers, confirm: ctx => ctx.fail(Other) }, reports: jobs })',
    'Expected 2 arguments, but got 1.',
  ],
  [
    'fault-undeclared-none',
    'implement(clinic, { visits: { ...handlers, removing: ctx => ctx.fail(Other) }, reports: jobs })',
    "Argument of type 'Fault<\"Other\", {}>' is not assignable to parameter of type 'NoFault'.",
  ],
  [
    'fault-detail',
    "implement(clinic, { visits: { ...handlers, confirm: ctx => ctx.fail(DoctorBusy, { docter: 'd' }) }, reports: jobs })",
    "Object literal may only specify known properties, but 'docter' does not exist in type '{ readonly do",
  ],
  [
    'fault-detail-missing',
    'implement(clinic, { visits: { ...handlers, confirm: ctx => ctx.fail(DoctorBusy) }, reports: jobs })',
    'Expected 2 arguments, but got 1.',
  ],
  [
    'get-unknown',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.get('doctor', 'd-1')) }, reports: jobs })",
    'Argument of type \'"doctor"\' is not assignable to parameter of type \'"doctors" | "visits"\'.',
  ],
  [
    'create-missing',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.create('doctors', { name: 'x' })) }, reports: jobs })",
    "Property 'kind' is missing in type '{ name: string; }' but required in type '{ readonly id?: string |",
  ],
  [
    'create-typo',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.create('doctors', { name: 'x', kind: 'eyes', rom: 1 })) }, reports: jobs })",
    "Object literal may only specify known properties, but 'rom' does not exist in type '{ readonly id?: ",
  ],
  [
    'create-enum',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.create('doctors', { name: 'x', kind: 'ears' })) }, reports: jobs })",
    'Type \'"ears"\' is not assignable to type \'"eyes" | "general"\'.',
  ],
  [
    'change-typo',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.change('doctors', 'd-1', { rom: 1 })) }, reports: jobs })",
    "Object literal may only specify known properties, but 'rom' does not exist in type '{ readonly kind?",
  ],
  [
    'filter-unknown',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.list('doctors', { room: 1 }).count()) }, reports: jobs })",
    "Object literal may only specify known properties, and 'room' does not exist in type '{ readonly kind",
  ],
  [
    'filter-comparison',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.list('doctors', { name: { like: 'x' } }).count()) }, reports: jobs })",
    "Object literal may only specify known properties, and 'like' does not exist in type 'Comparisons<str",
  ],
  [
    'order-unknown',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.list('doctors', {}, { order: ['-kind'] }).count()) }, reports: jobs })",
    'Type \'"-kind"\' is not assignable to type \'SortName<"name">\'.',
  ],
  [
    'act-unknown',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.act('visits', 'v-1', 'fly')) }, reports: jobs })",
    'Argument of type \'"fly"\' is not assignable to parameter of type \'"confirm" | "hold" | "merge"\'.',
  ],
  [
    'act-input',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.items.act('visits', 'v-1', 'hold')) }, reports: jobs })",
    'Expected 4 arguments, but got 3.',
  ],
  [
    'after-unknown',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.after('report', { year: 1 })) }, reports: jobs })",
    'Argument of type \'"report"\' is not assignable to parameter of type \'"reports"\'.',
  ],
  [
    'after-input',
    "implement(clinic, { visits: { ...handlers, confirm: async ctx => void (await ctx.after('reports', { yaer: 1 })) }, reports: jobs })",
    "Object literal may only specify known properties, and 'yaer' does not exist in type '{ readonly year",
  ],
  [
    'item-typo',
    'implement(clinic, { visits: { ...handlers, confirm: (_ctx, visit) => ({ set: { note: visit.nots } }) }, reports: jobs })',
    "Property 'nots' does not exist on type '{ readonly confirmedAt?: string; readonly day: string; reado",
  ],
  [
    'state-impossible',
    "implement(clinic, { visits: { ...handlers, confirm: (ctx, visit) => (visit.state === 'held' ? ctx.forbid() : {}) }, reports: jobs })",
    'This comparison appears to be unintentional because the types \'"asked"\' and \'"held"\' have no overlap',
  ],
  [
    'input-typo',
    "implement(clinic, { visits: { ...handlers, hold: (_ctx, _visit, input) => ({ output: { receipt: String(input.minuts), amount: '1.00' } }) }, reports: jobs })",
    "Property 'minuts' does not exist on type '{ readonly minutes: number; }'. Did you mean 'minutes'?",
  ],
  [
    'look-output',
    "implement(clinic, { visits: { ...handlers, track: () => ({ place: 'here' }) }, reports: jobs })",
    "Type '{ place: string; }' is not assignable to type 'Maybe<{ readonly position: string; }>'.",
  ],
  [
    'move-to',
    'implement(clinic, { visits: { ...handlers, merge: () => ({}) }, reports: jobs })',
    "Type '{}' is not assignable to type 'Maybe<{ readonly to: string; }>'.",
  ],
  [
    'run-missing',
    'implement(clinic, { visits: handlers, reports: {} })',
    "Property 'run' is missing in type '{}' but required in type '{ readonly starting?: (ctx: Context<Ser",
  ],
  [
    'run-output',
    'implement(clinic, { visits: handlers, reports: { run: async () => ({ visit: 1 }) } })',
    "Type 'Promise<{ visit: number; }>' is not assignable to type 'Promise<{ readonly visits: number; }>'",
  ],
  [
    'run-output-type',
    "implement(clinic, { visits: handlers, reports: { run: async () => ({ visits: '1' }) } })",
    "Type 'Promise<{ visits: string; }>' is not assignable to type 'Promise<{ readonly visits: number; }>",
  ],
  [
    'services-typo',
    'implement(clinic, { visits: { ...handlers, confirm: ctx => void ctx.services.maler }, reports: jobs }, { services: { mailer: 1 } })',
    "Property 'maler' does not exist on type '{ mailer: number; }'. Did you mean 'mailer'?",
  ],
  [
    'seed-enum',
    "implement(clinic, { visits: handlers, reports: jobs }, { seed: () => ({ items: { doctors: [{ id: 'd-1', name: 'x', kind: 'ears' }] } }) })",
    'Type \'() => { items: { doctors: { id: string; name: string; kind: "ears"; }[]; }; }\' is not assignab',
    1500,
  ],
  [
    'seed-unknown',
    'implement(clinic, { visits: handlers, reports: jobs }, { seed: () => ({ items: { docters: [] } }) })',
    "Type '() => { items: { docters: never[]; }; }' is not assignable to type '() => Seed<Service<readonl",
    1500,
  ],
  [
    'seed-missing',
    "implement(clinic, { visits: handlers, reports: jobs }, { seed: () => ({ items: { doctors: [{ id: 'd-1', name: 'x' }] } }) })",
    "Type '() => { items: { doctors: { id: string; name: string; }[]; }; }' is not assignable to type '()",
    1500,
  ],
  [
    'options-typo',
    'implement(clinic, { visits: handlers, reports: jobs }, { sead: () => ({}) })',
    "Object literal may only specify known properties, and 'sead' does not exist in type 'ImplementOption",
  ],
  [
    'handlers-name',
    "export const x: Handlers<typeof clinic, 'visit'> = {} as never",
    'Type \'"visit"\' does not satisfy the constraint \'"doctors" | "reports" | "visits"\'.',
  ],
  [
    'split-set',
    "export const x: Handlers<typeof clinic, 'visits'> = { ...handlers, confirm: ctx => ({ set: { confirmdAt: ctx.now } }) }",
    "Object literal may only specify known properties, but 'confirmdAt' does not exist in type '{ readonl",
  ],
  [
    'transition-to',
    "resource('x', { fields: { id: t.id('x') }, states: ['open', 'paid'], actions: on => ({ pay: on('open').to('payed', { rel: 'payment' }) }) })",
    'Argument of type \'"payed"\' is not assignable to parameter of type \'"open" | "paid"\'.',
  ],
  [
    'transition-from',
    "resource('x', { fields: { id: t.id('x') }, states: ['open', 'paid'], actions: on => ({ pay: on('opened').to('paid', { rel: 'payment' }) }) })",
    'Argument of type \'"opened"\' is not assignable to parameter of type \'"open" | "paid"\'.',
  ],
  [
    'action-rel',
    "resource('x', { fields: { id: t.id('x') }, states: ['open', 'paid'], actions: on => ({ pay: on('open').to('paid', {}) }) })",
    "Property 'rel' is missing in type '{}' but required in type 'ActionSpec<Readonly<Record<string, AnyF",
  ],
  [
    'action-option',
    "resource('x', { fields: { id: t.id('x') }, states: ['open', 'paid'], actions: on => ({ pay: on('open').to('paid', { rel: 'payment', inputs: {} }) }) })",
    "Object literal may only specify known properties, but 'inputs' does not exist in type 'ActionSpec<Re",
  ],
  [
    'rules-filter',
    "resource('x', { fields: { id: t.id('x'), name: t.string() } }).rules({ filter: ['nam'], allow: { read: [anyone] } })",
    'Type \'"nam"\' is not assignable to type \'FilterName<"id" | "name">\'. Did you mean \'"name"\'?',
  ],
  [
    'rules-sort',
    "resource('x', { fields: { id: t.id('x'), name: t.string() } }).rules({ sort: ['nam'], allow: { read: [anyone] } })",
    'Type \'"nam"\' is not assignable to type \'"id" | "name"\'. Did you mean \'"name"\'?',
  ],
  [
    'rules-order',
    "resource('x', { fields: { id: t.id('x'), name: t.string() } }).rules({ order: ['-nam'], allow: { read: [anyone] } })",
    'Type \'"-nam"\' is not assignable to type \'SortName<"id" | "name">\'. Did you mean \'"-name"\'?',
  ],
  [
    'rules-allow',
    "resource('x', { fields: { id: t.id('x') } }).rules({ allow: { raed: [anyone] } })",
    "Type '[Grant]' is not assignable to type 'readonly [Grant] & \"raed is not an operation to allow: nam",
  ],
  [
    'rules-allow-missing',
    "resource('x', { fields: { id: t.id('x') } }).rules({ filter: ['id'] })",
    "Property 'allow' is missing in type '{ filter: \"id\"[]; }' but required in type '{ readonly order?: r",
  ],
  [
    'rules-grant',
    "resource('x', { fields: { id: t.id('x') } }).rules({ allow: { read: anyone } })",
    "Type 'Grant' is not assignable to type 'GrantList'.",
  ],
  [
    'rules-grant-text',
    "resource('x', { fields: { id: t.id('x') } }).rules({ allow: { read: ['desk'] } })",
    "Type 'string' is not assignable to type 'Grant'.",
  ],
  [
    'rules-edit',
    "resource('x', { fields: { id: t.id('x') }, states: ['a'] }).rules({ edit: ['b'], allow: { read: [anyone] } })",
    'Type \'"b"\' is not assignable to type \'"a"\'.',
  ],
  [
    'rules-option',
    "resource('x', { fields: { id: t.id('x') } }).rules({ filters: ['id'], allow: { read: [anyone] } })",
    "Object literal may only specify known properties, but 'filters' does not exist in type '{ readonly o",
  ],
  [
    'rules-faults',
    "resource('x', { fields: { id: t.id('x') } }).rules({ faults: { read: [Other] }, allow: { read: [anyone] } })",
    'Type \'[Fault<"Other", {}>]\' is not assignable to type \'readonly [Fault<"Other", {}>] & "read has no ',
  ],
  [
    'rules-relation',
    "resource('x', { fields: { id: t.id('x') } }).rules({ relations: { doctor: { by: 'doctor' } }, allow: { read: [anyone] } })",
    "Type '{ by: string; }' is not assignable to type 'Relation<\"id\">'.",
  ],
  [
    'field-value',
    "resource('x', { fields: { id: t.id('x'), name: 'string' } })",
    "Type 'string' is not assignable to type 'AnyField'.",
  ],
  [
    'field-facet',
    't.string({ maxLength: 5 })',
    "Object literal may only specify known properties, and 'maxLength' does not exist in type '{ min?: nu",
  ],
  [
    'field-list',
    "t.list('string')",
    "Argument of type 'string' is not assignable to parameter of type 'Field<unknown, false, ValueOrigin, ",
  ],
  ['field-enum', 't.enum()', 'Expected at least 1 arguments, but got 0.'],
  [
    'resource-option',
    "resource('x', { fields: { id: t.id('x') }, state: ['open'] })",
    "Object literal may only specify known properties, but 'state' does not exist in type '{ readonly fie",
  ],
  [
    'fault-status',
    "fault('X', { title: 'X' })",
    "Property 'status' is missing in type '{ title: string; }' but required in type '{ readonly status: n",
  ],
  [
    'fault-detail-field',
    "fault('X', { status: 409, title: 'X', detail: { why: 'string' } })",
    "Type 'string' is not assignable to type 'AnyField'.",
  ],
  [
    'job-output',
    "job('xs', { input: {}, allow: [anyone] })",
    "Property 'output' is missing in type '{ input: {}; allow: [Grant]; }' but required in type '{ readon",
  ],
  [
    'service-resources',
    "service('x', { namespace: 'urn:x', resources: doctors })",
    'Type \'Resource<"doctors", { id: Field<string, false, true, string>; name: Field<string, false, false',
  ],
  [
    'service-namespace',
    "service('x', { resources: [doctors] })",
    "Property 'namespace' is missing in type '{ resources: [Resource<\"doctors\", { id: Field<string, false",
    1500,
  ],
  [
    'version-option',
    "service('x', { namespace: 'urn:x', resources: [doctors], versions: { v1: { with: {} } } })",
    "Type '{ with: {}; }' is not assignable to type 'never'.",
  ],
  [
    'header-option',
    'header(t.string(), { mandatry: true })',
    "Object literal may only specify known properties, but 'mandatry' does not exist in type 'HeaderOptio",
  ],
  [
    'owning',
    "desk.owning('doctor')",
    "Argument of type 'string' is not assignable to parameter of type 'Readonly<Record<string, string>>'.",
  ],
]
/** What must compile: the neighbours of mistakes. */
/** Each has five fields and an action: the compiler gives up where its work grows with their square. */
function writeLargeContract(resources: number): string {
  const names = Array.from({ length: resources }, (_, at) => `r${at}`)
  const fields = "{ id: t.id('r'), a: t.string(), b: t.decimal(9, 2), c: t.string().optional(), d: t.dateTime() }"
  const states = "states: ['held', 'gone'], actions: on => ({ go: on('held').to('gone', { rel: 'go' }) })"
  const declare = (name: string) => `resource('${name}', { fields: ${fields}, ${states} })`
  const handle = (name: string) => `${name}: { go: (ctx, item) => ({ set: { a: ctx.now + item.b } }) }`
  return `const large = service('large', { namespace: 'urn:l', resources: [${names.map(declare).join()}] })
    implement(large, { ${names.map(handle).join()} })`
}
const good: readonly string[] = [
  writeLargeContract(300),
  "implement(clinic, { visits: handlers, reports: jobs }, { seed: () => ({ people: [{ subject: 'a', password: 'b', roles: ['x'], claims: { a: '1' } }, { subject: 'c', password: 'b', roles: ['x'], claims: { b: '1' } }], items: { doctors: [{ id: 'd-1', name: 'x', kind: 'eyes' }] } }) })",
  "implement(clinic, { visits: { ...handlers, confirm: async ctx => { if (ctx.now < '2') return; return { set: { note: 'x' } } } }, reports: jobs })",
  'implement(clinic, { visits: { ...handlers, confirm: () => ({ set: JSON.parse(String()) }), track: () => JSON.parse(String()) }, reports: jobs })',
  "implement(clinic, { visits: { ...handlers, derive: (_ctx, draft) => { return { ...draft, fee: '1.00' } } }, reports: jobs })",
]

const folder = mkdtempSync(join(tmpdir(), 'diglot-messages-'))
after(() => rmSync(folder, { recursive: true }))

const head = `import { anyone, fault, type Handlers, header, implement, job, resource, service, t } from 'diglot'
import { clinic, desk, DoctorBusy, doctors, handlers, jobs, Other } from 'clinic'
`
function check(snippets: readonly string[]): Map<number, string[]> {
  for (const [i, code] of snippets.entries()) writeFileSync(join(folder, `s${i}.ts`), `${head}${code}\n`)
  const paths = { diglot: [join(root, 'src/index.ts')], clinic: [join(root, 'test/contract/mistaken-clinic.ts')] }
  const compilerOptions = { noUnusedLocals: false, typeRoots: [join(root, 'node_modules/@types')], paths }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['.'] }),
  )
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const found = new Map<number, string[]>()
  let at: string[] | undefined
  for (const line of run(process.execPath, [compiler, '-p', folder, '--noEmit', '--pretty', 'false']).split('\n')) {
    const error = /s(\d+)\.ts\(\d+,\d+\): error TS\d+: (.*)/.exec(line)
    if (error) {
      at = found.get(Number(error[1])) ?? []
      found.set(Number(error[1]), at)
      at.push(error[2] ?? '')
    } else if (/^ /.test(line) && at) at.push(`${at.pop()}\n${line}`)
    else if (line.trim() !== '') assert.fail(line)
  }
  return found
}
function run(program: string, given: readonly string[]): string {
  try {
    return execFileSync(program, given, { encoding: 'utf8', cwd: root })
  } catch (thrown) {
    return String((thrown as { stdout?: string }).stdout)
  }
}

const found = check([...rows.map(([, code]) => code), ...good])
for (const [i, [name, , says, longest = charactersMax, ends = '']] of rows.entries())
  test(`the compiler reports a mistake in few words: ${name}`, () => {
    const [text = 'it compiles'] = found.get(i) ?? []
    assert.ok(text.startsWith(says) && text.endsWith(ends), text)
    assert.ok(text.length <= longest, `${text.length} characters: ${text}`)
  })
test('correct code compiles: 300 resources, a seed with its enumerations, results in parts, values of any type', () => {
  for (const i of good.keys()) assert.deepEqual(found.get(rows.length + i), undefined)
})
test('few messages of the compiler are long', () => {
  assert.ok(rows.filter(([, , , longest]) => longest).length <= 5)
})
