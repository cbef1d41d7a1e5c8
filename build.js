/**
 * `npm run prepare` makes dist/, what the package has: declarations by tsc, and here the programs.
 * Modules that entries share are bundled, since a process loads a few files much sooner than the
 * four hundred of src/. The maps beside them lead to src/, which the package has, too.
 */
import { globSync, readFileSync, rmSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { build } from 'rolldown'

const { exports, engines } = JSON.parse(readFileSync('package.json', 'utf8'))

/** What package.json exports to Node, by the name of its file in dist/. */
const exported = Object.fromEntries(
  Object.values(exports)
    .filter(entry => typeof entry === 'object')
    .map(entry => [basename(entry.default, '.js'), entry['diglot-source']]),
)
/** The program of a read thread stands beside the bundle that starts it: dist/ is one folder. */
const programs = { cli: 'src/cli.ts', 'read-thread-main': 'src/store/read-thread-main.ts' }
/** Pages load what is free of Node; copies of their own keep their bundler from seeing the rest. */
const browser = { contract: 'src/contract/index.ts', 'rest-client': 'src/client/rest/index.ts' }

/**
 * What is loaded together: at the start of a service, with its first message, by a program that
 * imports one of these entries. A file of dist/ has the modules that the same loads need: so each
 * load has few files, with nothing that it does not need. If every dynamic import divided them as
 * well, a service would load 190 files at its start instead of 62.
 */
const loads = {
  start: ['src/cli/run-command.ts', 'src/host/serve.ts', 'src/store/sqlite.ts'],
  messages: ['src/host/soap/soap-endpoints.ts', 'src/host/trust/message-security.ts'],
  thread: [programs['read-thread-main']],
  clients: [exported.client, exported.openapi],
  ...Object.fromEntries(
    ['index', 'check', 'describe', 'import', 'http', 'xml', 'security', 'soap', 'webhook'].map(name => [
      name,
      [exported[name]],
    ]),
  ),
}

/** All modules that these import when they are loaded, themselves included. */
function collectImports(files, context) {
  const found = new Set()
  const open = files.map(file => resolve(file))
  for (const id of open) {
    if (found.has(id)) continue
    found.add(id)
    open.push(...(context.getModuleInfo(id)?.importedIds ?? []))
  }
  return found
}

/** The name of a module's file: all loads that need it. The bundler divides the others. */
function createFileNames() {
  let needs
  return (id, context) => {
    needs ??= Object.entries(loads).map(([name, files]) => [name, collectImports(files, context)])
    const names = needs.filter(([, modules]) => modules.has(id)).map(([name]) => name)
    return names.length === 0 ? null : names.join(' ')
  }
}

const write = (input, dir, options, output) =>
  build({
    input,
    external: /^[^./]/,
    checks: { ineffectiveDynamicImport: false },
    ...options,
    output: {
      dir,
      format: 'esm',
      sourcemap: true,
      sourcemapExcludeSources: true,
      minifyInternalExports: false,
      chunkFileNames: ({ name }) => `${name.includes(' ') ? 'shared' : '[name]'}-[hash].js`,
      ...output,
    },
  })

const forNode = await write(
  { ...exported, ...programs },
  'dist',
  {
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    transform: { target: `node${engines.node.replace('>=', '')}` },
  },
  {
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: createFileNames(), debugName: 'loads' }],
    },
  },
)
const forBrowsers = await write(browser, 'dist/browser', { platform: 'browser', transform: { target: 'es2024' } })

/** What is still made stays all the time: a process that runs from dist/ meanwhile goes on. */
const made = new Set(
  Object.entries({ dist: forNode, 'dist/browser': forBrowsers }).flatMap(([dir, { output }]) =>
    output.map(({ fileName }) => `${dir}/${fileName}`),
  ),
)
for (const file of globSync('dist/**/*.{js,js.map}')) if (!made.has(file.replaceAll('\\', '/'))) rmSync(file)
