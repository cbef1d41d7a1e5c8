/** The package as npm packs it: publint and attw find nothing, by the exports that consumers see. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { readBill } from '../sbom.ts'
import { checkout, linkPackages } from '../support/linked-project.ts'

describe('the packed tarball', () => {
  let tarball: Uint8Array<ArrayBuffer>
  before(() => {
    const folder = mkdtempSync(join(tmpdir(), 'diglot-pack-'))
    const packed = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: checkout,
      encoding: 'utf8',
    })
    const [{ filename }] = Object.values(JSON.parse(packed.stdout)) as [{ readonly filename: string }]
    tarball = new Uint8Array(readFileSync(join(folder, filename)))
    rmSync(folder, { recursive: true, force: true })
  })

  test('publint finds no error and no warning', async () => {
    const { messages } = await publint({ pack: { tarball: tarball.buffer }, level: 'warning' })
    assert.deepEqual(messages, [])
  })

  // The package is of ES modules: require() and resolution without exports are not offered.
  test('attw finds no wrong types for modules and bundlers', async () => {
    const found = await checkPackage(createPackageFromTarballData(tarball))
    assert.ok(found.types)
    const wrong = found.problems.filter(
      problem => !('resolutionKind' in problem) || !/^node10$|^node16-cjs$/.test(problem.resolutionKind),
    )
    assert.deepEqual(wrong, [])
  })
})

const page = `
import { anyone, resource, service, t } from 'diglot'
import { createRestClient, FaultError, NotFound } from 'diglot/client'
const notes = resource('notes', { fields: { id: t.id('n'), text: t.string(), state: t.state() }, states: ['open'] })
  .rules({ allow: { read: [anyone] } })
const api = createRestClient(service('pad', { namespace: 'urn:x', resources: [notes] }), { address: location.origin })
try {
  const { text } = await api.notes.get('n-1')
  document.body.textContent = text satisfies string
} catch (thrown) {
  if (!(thrown instanceof FaultError && thrown.is(NotFound))) throw thrown
}
`
test('a page compiles by the condition browser, without the types of Node and with skipLibCheck off', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-page-'))
  linkPackages(folder)
  writeFileSync(join(folder, 'page.ts'), page)
  const compilerOptions = {
    target: 'es2024',
    lib: ['esnext', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    customConditions: ['browser'],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }))
  const tsc = join(checkout, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  rmSync(folder, { recursive: true, force: true })
  assert.equal(stdout, '')
})

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, unknown>>>>
  readonly repository: { readonly url: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
}
test('the manifest is exported, has the address of the project, and exports the sources under a condition of its own', () => {
  const manifest: Manifest = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  assert.equal(manifest.exports['./package.json'], './package.json')
  for (const address of [manifest.repository.url, manifest.homepage, manifest.bugs.url])
    assert.match(address, /^(?:git\+)?https:\/\//)
  // Sources are not packed: a condition that bundlers know (`source`) would lead to nothing.
  const conditions = Object.values(manifest.exports).flatMap(each =>
    typeof each === 'string' ? [] : Object.keys(each),
  )
  assert.deepEqual([...new Set(conditions)].sort(), ['browser', 'default', 'diglot-source', 'types'])
})

test('the container has the packages of the lock file', () => {
  const text = readFileSync(join(checkout, 'Containerfile'), 'utf8')
  assert.match(text, /^RUN npm ci\b/m)
  assert.doesNotMatch(text, /npm (?:i|install|add)\b/)
})

test('the bill of materials has every dependency, and no development dependency', () => {
  const manifest: { dependencies: object; devDependencies: object } = JSON.parse(
    readFileSync(join(checkout, 'package.json'), 'utf8'),
  )
  const names = readBill().components.map(({ name }) => name)
  assert.deepEqual(
    Object.keys(manifest.dependencies).filter(name => !names.includes(name)),
    [],
  )
  assert.ok(!names.includes('typescript') && !names.includes('publint'))
})
