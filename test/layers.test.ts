/**
 * ARCHITECTURE.md, "Who may import whom": the import lines of src/ hold to one table, for folders and rooms, static and
 * dynamic; pure folders stay pure; what is remembered, and what an idea is spelled like, has one home.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { declarations } from './support/sources.ts'

const root = join(import.meta.dirname, '..', 'src')
const everything = [
  ...['base', 'contract', 'html', 'http', 'xml', 'service', 'front', 'rest', 'soap', 'security', 'describe'],
  ...['store', 'server', 'identity', 'pages', 'host'],
]
/** A folder, a room of it, or a file → the folders that it may import. The longest name that fits counts. */
const layers: Record<string, readonly string[]> = {
  base: [],
  contract: ['base'],
  http: ['base'],
  xml: ['base'],
  service: ['contract', 'base'],
  html: ['contract', 'base'],
  front: ['http', 'service', 'contract', 'base'],
  rest: ['front', 'html', 'http', 'xml', 'service', 'contract', 'base'],
  soap: ['xml', 'service', 'contract', 'base'],
  'soap/http': ['front', 'http', 'xml', 'service', 'contract', 'base'],
  security: [
    ...['xml', 'service', 'contract', 'base'],
    ...['soap/version.ts', 'soap/refusal.ts', 'soap/security-port.ts'],
  ],
  describe: ['xml', 'contract', 'base'],
  store: ['service', 'contract', 'base'],
  server: ['http', 'base'],
  identity: ['service', 'contract', 'base'],
  pages: ['front', 'rest', 'html', 'http', 'service', 'identity', 'contract', 'base', 'describe'],
  client: ['http', 'xml', 'contract', 'base', 'soap', 'security'],
  'client/rest': ['http', 'contract', 'base'],
  // A judge of services, ours or others': nothing of it is part of one.
  check: ['http', 'xml', 'base', 'describe'],
  // A judge of releases, likewise.
  diff: ['http', 'xml', 'contract', 'base', 'describe', 'import'],
  // Reads descriptions of others; it writes contracts, and is part of none.
  import: ['describe', 'http', 'xml', 'contract', 'base'],
  // Contracts by examples, with servers that misbehave: no service is made of it.
  mock: [...everything, 'import', 'check'],
  // Writes pages about a service, with examples that it runs; nothing that serves imports it.
  docs: [...everything, 'diff', 'testing'],
  // A service of others behind our faces; `cli/` serves what it makes.
  bridge: ['client', 'import', 'soap', 'service', 'http', 'xml', 'contract', 'base'],
  host: everything,
  testing: [...everything, 'client', 'check', 'mock'],
  // Texts of a new project; they name the package. Of it they know how a contract names things, and
  // for the descriptions of others how they are imported, and what examples of messages are.
  starter: ['contract', 'base'],
  'starter/descriptions': ['starter', 'import', 'describe', 'docs', 'soap', 'http', 'contract', 'base'],
  // What an application starts from may name anything.
  'index.ts': [...everything, 'cli/config.ts'],
  cli: [...everything, 'client', 'check', 'diff', 'docs', 'import', 'mock', 'bridge', 'starter'],
  'cli.ts': ['cli', 'host'],
}
const pure = ['base', 'contract', 'html', 'http', 'xml', 'service', 'front', 'rest', 'soap', 'security', 'describe']

const files = globSync('**/*.ts', { cwd: root }).map(file => file.replaceAll('\\', '/'))
const sources = new Map(files.map(file => [file, readFileSync(join(root, file), 'utf8')]))
const sourceOf = (file: string): string => sources.get(file) ?? ''
/** Comments and texts say what they like. */
const codeOf = (file: string): string => sourceOf(file).replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '')

const statically = /^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm
const dynamically = /\bimport\(\s*'([^']+)'/g
const importsOf = (file: string): string[] =>
  [...sourceOf(file).matchAll(statically), ...codeOf(file).matchAll(dynamically)].map(
    found => found[1] ?? found[2] ?? '',
  )
const neighboursOf = (file: string): string[] =>
  importsOf(file)
    .filter(name => name.startsWith('.'))
    .map(name => posix.join(dirname(file), name))
const staticNeighboursOf = (file: string): string[] =>
  [...codeOf(file).matchAll(statically)]
    .map(([, from, alone]) => from ?? alone ?? '')
    .filter(name => name.startsWith('.'))
    .map(name => posix.join(dirname(file), name))
const folderOf = (file: string): string => file.split('/')[0] ?? ''
const layerOf = (file: string): readonly string[] => {
  const names = Object.keys(layers).filter(name => file === name || file.startsWith(`${name}/`))
  return layers[names.sort((a, b) => b.length - a.length)[0] ?? ''] ?? []
}
const mayImport = (file: string, other: string): boolean =>
  folderOf(file) === folderOf(other) || layerOf(file).some(may => other === may || other.startsWith(`${may}/`))

test('imports follow the table of ARCHITECTURE.md, those at run time too', () => {
  const wrong = files.flatMap(file =>
    neighboursOf(file)
      .filter(other => !mayImport(file, other))
      .map(other => `${file} → ${other}`),
  )
  assert.deepEqual(wrong, [])
})

test('in soap/, the HTTP binding alone knows http and front', () => {
  const wrong = files
    .filter(file => file.startsWith('soap/') && !file.startsWith('soap/http/') && file !== 'soap/index.ts')
    .flatMap(file =>
      neighboursOf(file)
        .filter(other => other.startsWith('soap/http/'))
        .map(other => `${file} → ${other}`),
    )
  assert.deepEqual(wrong, [])
})

test('the bundle of the command line loads in any Node that can tell its version', () => {
  const known = ['writeSync', 'createRequire', 'basename', 'dirname', 'join'] // each is older than Node 13
  const closure = new Set(['cli.ts'])
  for (const file of closure) for (const other of staticNeighboursOf(file)) closure.add(other)
  const named = [...closure].flatMap(file =>
    [...codeOf(file).matchAll(/^import \{([^}]*)\} from 'node:/gm)].flatMap(([, names = '']) => names.split(',')),
  )
  assert.ok(named.length > 0)
  assert.deepEqual(
    named.map(name => name.trim()).filter(name => !known.includes(name)),
    [],
  )
})

/** Both clients have it; types alone may come from elsewhere. */
const sharedByClients = ['credentials', 'errors', 'field-views', 'results', 'timer', 'watched-job']
const loadedByBrowsers = (): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (file: string): void => {
    if (found.has(file)) return
    found.add(file)
    const code = stripTypeScriptTypes(sourceOf(file))
    for (const [, name = ''] of code.matchAll(/^(?:import|export)\b[^'"]*?from\s+'(\.[^']+)'/gm))
      visit(posix.join(dirname(file), name))
  }
  for (const entry of ['client/rest/index.ts', 'contract/index.ts']) visit(entry)
  return found
}

test('the REST client and a contract load what browsers have, and nothing of SOAP or of the server', () => {
  const loaded = [...loadedByBrowsers()]
  const may = (file: string): boolean =>
    /^(?:client\/rest|contract|http|base)\//.test(file) || sharedByClients.some(name => file === `client/${name}.ts`)
  assert.deepEqual(
    loaded.filter(file => !may(file)),
    [],
  )
  const nodeOnly = /from 'node:|\bprocess\.|\bglobal\.|\b__dirname\b|\bsetImmediate\b|\bBuffer\b/
  assert.deepEqual(
    loaded.filter(file => nodeOnly.test(stripTypeScriptTypes(codeOf(file)))),
    ['base/base64.ts'], // which has a way without
  )
})

test('pure folders import no node: module but node:crypto', () => {
  const wrong = files
    .filter(file => pure.includes(folderOf(file)))
    .flatMap(file =>
      importsOf(file)
        .filter(name => name.startsWith('node:') && name !== 'node:crypto')
        .map(name => `${file} → ${name}`),
    )
  assert.deepEqual(wrong, [])
})

test('no cycles among files', () => {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `a cycle: ${[...path, file].join(' → ')}`)
    if (done.has(file)) return
    for (const other of neighboursOf(file)) visit(other, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
})

/** An idea → how it is spelt in code, and the one file that may spell it so. */
const homes: readonly (readonly [idea: string, spelling: RegExp, home: string])[] = [
  [
    'base64 and hexadecimal are decoded and encoded',
    /\b(?:from|to)(?:Base64|Hex)\b|\b(?:atob|btoa)\b|\bBuffer\.from\([^()]*'(?:base64(?:url)?|hex)'\)/,
    'base/base64.ts',
  ],
  ['an address of this machine', /127\\\./, 'base/address.ts'],
  ['the bounds of XSD integers', /9223372036854775807|2147483647|4294967295/, 'contract/lexical/number.ts'],
]
for (const [idea, spelling, home] of homes)
  test(`${idea} in ${home} alone`, () => {
    assert.match(codeOf(home), spelling, 'the expression finds nothing in the home itself')
    const others = files.filter(file => file !== home && spelling.test(codeOf(file)))
    assert.deepEqual(others, [])
  })

test('every catch names what it expects', () => {
  assert.deepEqual(
    files.filter(file => /\bcatch \{/.test(codeOf(file))),
    [],
  )
})

/** State of a module, outside base/memo.ts, and why it is not of a running part. */
const moduleState: Readonly<Record<string, string>> = {
  'xml/name.ts namespacesByUri': 'a name is one object in the whole process, so that === compares it',
}

test('what is remembered after load stands in base/memo.ts', () => {
  const found = declarations.filter(each => each.isMemory).map(({ file, name }) => `${file} ${name}`)
  assert.deepEqual(found, Object.keys(moduleState).sort())
})

/** Files of 25 lines or fewer, each with what keeps it apart from the file whose idea it is. */
const smallFiles: Readonly<Record<string, string>> = {
  'base/clark-name.ts': 'contracts, imports, descriptions and comparisons read names in it',
  'base/markup.ts': 'three layers escape, which have nothing else in common',
  'bridge/passing-inputs.ts': 'what a bridge adds to any port, asked once when it starts',
  'cli.ts': 'the program of the package',
  'cli/compiled-code.ts': 'it is called before any other file of the commands is loaded',
  'cli/run-command.ts': 'it is loaded once compiled code may be kept',
  'check/verdict.ts': 'rules are tried on a bench that knows no rule',
  'client/kept-request.ts': 'clients keep it as text, a bridge within its proof',
  'client/rest/exact-json.ts': 'the small twin of http/json.ts',
  'contract/lexical/integer-format.ts': 'no browser loads its tables',
  'contract/review/declared-names.ts': 'six reviews share it, and none is above the others',
  'host/node-version.ts': 'it is loaded first, and loads nothing that an older Node lacks',
  'http/write-json.ts': 'no browser loads the readers of http/json.ts',
  'pages/look.ts': 'each mount of the front door is a file',
  'store/read-thread-port.ts': 'both sides of a thread load it, and neither loads the other',
  'starter/own-package.ts': 'the commands ask for it without the texts of a new project',
}

test('host/ has rooms, and on its ground floor what puts a service together', () => {
  assert.ok(files.filter(file => /^host\/[^/]+$/.test(file)).length <= 12)
})

test('a small file stands apart for a reason', () => {
  const small = files.filter(file => sourceOf(file).split('\n').length <= 26 && !/(?:^|\/)index\.ts$/.test(file))
  assert.deepEqual(small.sort(), Object.keys(smallFiles).sort())
})

// What client/ and check/ read are requests of their own; a recorder and a mock of OpenAPI have no front door.
test('only front/ and server/ read the target and the Host of a request', () => {
  const readers = files.filter(
    file =>
      !['front', 'server', 'client', 'check'].includes(folderOf(file)) &&
      !['mock/recording.ts', 'mock/openapi-mock.ts'].includes(file) &&
      /\brequest\.(?:target|host)\b|\bfields(?:\.host\b|\['host'\])/.test(codeOf(file)),
  )
  assert.deepEqual(readers, [])
})
