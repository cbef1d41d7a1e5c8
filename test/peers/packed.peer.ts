/**
 * The package as npm packs it, in an empty folder: the clinic is written with what it exports, its
 * types hold there, its tests run there, and its command line serves it.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { findMissingTool, followPage } from '../docs/page-reader.ts'
import { type Ran, serveBy } from '../support/linked-project.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'diglot-packed-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string, args: readonly string[], cwd = folder): string {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env // its tests are a run of their own
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 120_000 })
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`)
  return stdout
}

/** What is installed here stands in for a registry. */
function install(name: string): void {
  const to = join(folder, 'node_modules', name)
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), to)
}

/** What `npm create diglot` would run. */
function packCreator(): string {
  const home = join(folder, 'node_modules', 'create-diglot')
  mkdirSync(home, { recursive: true })
  const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], join(root, 'create')).trim()
  run('tar', ['-xzf', join(folder, packed), '-C', home, '--strip-components=1'])
  return join(home, 'index.js')
}

/** More rows than are read in the event loop, and no index for two filters and an order. */
const manyItems = `import { anyone, implement, resource, service, t } from 'diglot'
const parts = resource('parts', {
  fields: { id: t.id('p'), name: t.string(), shelf: t.int(), weight: t.int() },
}).rules({ filter: ['shelf', 'weight'], sort: ['name'], allow: { read: [anyone] } })
const contract = service('many', { namespace: 'urn:example:many', resources: [parts] })
const items = Array.from({ length: 1000 }, (_, i) => ({ id: \`p-\${i}\`, name: \`part \${i}\`, shelf: 1, weight: 1 }))
export default implement(contract, {}, { seed: () => ({ items: { parts: items } }) })
`

/** What a package for others may export: contracts of every kind, clients, and what these return. */
const exported = `import { exchange, handler, port, x } from 'diglot'
import { createRestClient, createSoapClient } from 'diglot/client'
import { startTestService } from 'diglot/testing'
import { createWebhook } from 'diglot/webhook'
import { clinic } from './contract.ts'
import app from './service.ts'

const call = x.namespace('urn:example:call').element('call', x.string)
const exchanges = { call: exchange({ action: 'urn:example:call', input: call }) }
export const calls = port('Calls', { namespace: 'urn:example:call', service: 'Calls', allow: [], exchanges })
export const rest = createRestClient(clinic, { address: 'http://127.0.0.1/api' })
export const soap = createSoapClient(clinic, { address: 'http://127.0.0.1/soap/v1' })
export const readPatient = (id: string) => rest.patients.get(id)
export const sendPatient = (id: string) => soap.GetPatient({ id })
export const openMounted = () => handler(app)
export const openTest = () => startTestService(clinic, app)
export const openHook = (secret: string) => createWebhook({ name: 'a', url: 'https://a.example', secret, allow: [] })
`

describe('the package as it is packed', () => {
  run('npm', ['run', '--silent', 'prepare'], root)
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], root)
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  const home = join(folder, 'node_modules', 'diglot')
  mkdirSync(home, { recursive: true })
  run('tar', ['-xzf', join(folder, `diglot-${version}.tgz`), '-C', home, '--strip-components=1'])
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types', 'typescript']) install(name)
  cpSync(join(root, 'examples', 'clinic'), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2025', 'esnext'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      },
      include: ['*.ts'],
    }),
  )

  /** Its command, until the test has ended. Gives the address. */
  async function serve(t: TestContext, file: string, data: string): Promise<string> {
    const words = [join(home, 'dist', 'cli.js'), 'serve', file, '--port', '0', '--data', data]
    const serving = spawn(process.execPath, words, { cwd: folder })
    t.after(() => serving.kill())
    const [said] = (await once(serving.stdout, 'data')) as [Buffer]
    return /listening on (\S+)/.exec(String(said))?.[1] ?? ''
  }

  test('the clinic compiles against its types', () => {
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'])
  })

  test('the compiler names the types of contracts and clients that a package exports', () => {
    writeFileSync(join(folder, 'exported.ts'), exported)
    const declare = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', 'declared']
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.', ...declare])
    assert.match(readFileSync(join(folder, 'declared', 'contract.d.ts'), 'utf8'), /import\("diglot"\)\.Resource</)
  })

  test('the tests of the clinic pass, through both clients', () => {
    const said = run(process.execPath, ['--test', '--test-reporter=tap', 'clinic.test.ts'])
    assert.match(said, /^# pass [1-9]\d+\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0$/m)
  })

  test('its command makes a project of each example, whose tests pass', () => {
    for (const from of ['hello', 'tickets', 'empty', 'clinic']) {
      run(process.execPath, [join(home, 'dist', 'cli.js'), 'new', `new-${from}`, '--from', from])
      const project = join(folder, `new-${from}`)
      run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], project)
      assert.match(run(process.execPath, ['--test', '--test-reporter=tap'], project), /^# fail 0$/m)
    }
  })

  test('its command makes a project of another party’s WSDL, whose tests pass or wait for their handlers', () => {
    const wsdl = join(root, 'examples', 'freight', 'carrier.wsdl')
    run(process.execPath, [join(home, 'dist', 'cli.js'), 'new', 'new-freight', '--from', wsdl])
    const project = join(folder, 'new-freight')
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], project)
    assert.match(run(process.execPath, ['--test', '--test-reporter=tap'], project), /^# fail 0$[\s\S]*^# todo 4$/m)
  })

  test('the tutorial, line by line, from the packages', { skip: findMissingTool() ?? false }, async () => {
    const cli = join(home, 'dist', 'cli.js')
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const runNode = (args: readonly string[], cwd: string): Ran =>
      spawnSync(process.execPath, args, { cwd, env: environment, encoding: 'utf8', timeout: 120_000 })
    const create = packCreator()
    const count = await followPage('docs/tutorial.md', {
      install: cwd => symlinkSync(join(folder, 'node_modules'), join(cwd, 'node_modules')),
      create: (args, cwd) => runNode([create, ...args], cwd),
      diglot: (args, cwd) => runNode([cli, ...args], cwd),
      runTests: cwd => runNode(['--test', '--test-reporter=tap'], cwd),
      runTypes: cwd => runNode([tsc, '-p', '.'], cwd),
      serve: cwd => serveBy(cli, environment, cwd),
      environment,
    })
    assert.ok(count > 20)
  })

  test('its compiled code is cached among the packages, for the next start', () => {
    rmSync(join(folder, 'node_modules', '.cache'), { recursive: true, force: true })
    const { NODE_COMPILE_CACHE: _, ...env } = process.env
    const { status } = spawnSync(process.execPath, [join(home, 'dist', 'cli.js'), '--version'], { env })
    assert.equal(status, 0)
    assert.ok(existsSync(join(folder, 'node_modules', '.cache', 'diglot')))
  })

  test('a stack trace names the sources, which the package has', () => {
    writeFileSync(join(folder, 'wrong.js'), `import { service } from 'diglot'\nservice('x', { namespace: 1 })\n`)
    const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', 'wrong.js'], { cwd: folder })
    const [, source = ''] = /\((\/\S+\/src\/contract\/\S+\.ts):\d+/.exec(String(stderr)) ?? []
    assert.ok(existsSync(source), String(stderr))
  })

  test('long reads have threads of their own', async t => {
    writeFileSync(join(folder, 'many.ts'), manyItems)
    const url = await serve(t, 'many.ts', 'many.sqlite')
    const answer = await fetch(`${url}/api/parts?shelf=1&weight=1&sort=-name`)
    assert.equal(answer.status, 200)
    assert.equal(((await answer.json()) as { total: number }).total, 1000)
  })

  test('a bundle that contains it does not start: long reads would be refused', () => {
    writeFileSync(join(folder, 'many.ts'), manyItems)
    const program =
      "import { serve } from 'diglot'\nimport app from './many.ts'\nawait serve(app, { port: 0, data: 'b.sqlite' })\n"
    writeFileSync(join(folder, 'bundled.ts'), program)
    const rolldown = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
    run(process.execPath, [rolldown, 'bundled.ts', '--platform', 'node', '--external', 'pg', '--dir', 'bundle'])
    const { status, stderr } = spawnSync(process.execPath, [join('bundle', 'bundled.js')], {
      cwd: folder,
      timeout: 20_000,
    })
    assert.equal(status, 1)
    assert.match(String(stderr), /read-thread-main\.js, which runs long reads, is missing: .*external/)
  })

  test('its command serves the clinic', async t => {
    const url = await serve(t, 'service.ts', ':memory:')
    const answer = await fetch(`${url}/api/patients/p-1`, {
      headers: { authorization: `Basic ${Buffer.from('dana:dana-secret').toString('base64')}` },
    })
    assert.equal(((await answer.json()) as { name: string }).name, 'Pat Hill')
  })
})
