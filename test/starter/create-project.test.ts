/** `diglot new`: what is made runs, and what exists stays. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type StarterExample, starterExamples } from '../../src/starter/create-project.ts'
import {
  checkout,
  childEnvironment,
  linkPackages,
  runDiglot,
  runTests,
  runTypes,
  serveProject,
} from '../support/linked-project.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-new-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Example → a request of REST and what its response says; the target namespace of its WSDL, which
 * is 404 as long as there is nothing to send.
 */
const expected: Readonly<Record<StarterExample, readonly [path: string, status: number, namespace?: string]>> = {
  tickets: ['/api/tickets', 200, 'urn:example:from-tickets:v1'],
  hello: ['/api/greetings', 200, 'urn:example:from-hello:v1'],
  empty: ['/api', 200],
  clinic: ['/api/patients', 401, 'urn:example:clinic:v2'],
}

for (const [from, [path, status, namespace]] of Object.entries(expected))
  describe(`diglot new --from ${from}`, () => {
    const project = join(folder, `from-${from}`)

    test('the files are created, and the next command is printed', () => {
      const made = runDiglot(['new', project, '--from', from], folder)
      assert.equal(made.status, 0, made.stderr)
      for (const file of ['service.ts', 'package.json', 'tsconfig.json', 'Containerfile', 'README.md', '.gitignore'])
        assert.ok(existsSync(join(project, file)), file)
      assert.match(made.stdout, /\.github\/workflows\/ci\.yml\n[\s\S]*\nnext: cd .*from-\w+ && npm install/)
      linkPackages(project)
    })

    test('its scripts are commands of diglot, and check types during development', () => {
      const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
      assert.deepEqual([scripts.start, scripts.dev], ['diglot serve service.ts', 'diglot dev service.ts'])
    })

    test('its types hold, and its tests pass', () => {
      const types = runTypes(project)
      assert.equal(types.status, 0, types.stdout)
      const tests = runTests(project)
      assert.equal(tests.status, 0, tests.stdout)
      assert.match(tests.stdout, /^# pass [1-9]/m)
    })

    test('both faces are served, under the name of the folder', async t => {
      const { url, stop } = await serveProject(project)
      t.after(stop)
      assert.equal((await fetch(url + path)).status, status)
      const version = namespace?.split(':').at(-1) ?? 'v1'
      const answer = await fetch(`${url}/soap/${version}?wsdl`)
      const wsdl = await answer.text()
      if (namespace === undefined) assert.equal(answer.status, 404)
      else assert.ok(wsdl.includes(`targetNamespace="${namespace}"`), wsdl.slice(0, 500))
    })
  })

test('every example of the command is tested here', () => {
  assert.deepEqual(Object.keys(expected), Object.keys(starterExamples))
  const help = runDiglot(['new', '--help'], folder).stdout.replaceAll(/\s+/g, ' ')
  assert.ok(help.includes(Object.keys(starterExamples).join(', ')), help)
})

test('the container commands of its README are commands of diglot, and their output is used there', async t => {
  const project = join(folder, 'from-tickets')
  const at = mkdtempSync(join(tmpdir(), 'diglot-data-'))
  t.after(() => rmSync(at, { recursive: true }))
  const [container, readme] = ['Containerfile', 'README.md'].map(file =>
    readFileSync(join(project, file), 'utf8').replaceAll('/data/', `${at}/`),
  )
  const key = /DIGLOT_KEY=(\S+)/.exec(container ?? '')?.[1] ?? ''
  const wordsOf = (command: string): readonly string[] =>
    new RegExp(`docker run .* from-tickets (${command} .*)`)
      .exec(readme ?? '')?.[1]
      ?.replace('ROLE', 'agent')
      .split(' ') ?? []
  const [, ...served] = JSON.parse(/^CMD (.*)$/m.exec(container ?? '')?.[1] ?? '[]')
  const { url, stop } = await serveProject(project, [...served, '--key', key])
  t.after(stop)
  const run = (command: string) => {
    const env = { ...childEnvironment(), DIGLOT_KEY: key }
    const cli = join(checkout, 'src', 'cli.ts')
    return spawnSync(process.execPath, [cli, ...wordsOf(command)], {
      cwd: project,
      env,
      input: 'a-secret',
      encoding: 'utf8',
    })
  }
  const [added, token] = [run('people add'), run('token')]
  assert.deepEqual([added.status, token.status], [0, 0], added.stderr + token.stderr)
  for (const authorization of [`Basic ${btoa('NAME:a-secret')}`, `Bearer ${token.stdout.trim()}`]) {
    const entry = await fetch(`${url}/api/tickets`, { headers: { authorization } })
    assert.equal(entry.status, 200, authorization)
  }
})

test('the package of the project requires this version, its Node and its compiler', () => {
  const made = JSON.parse(readFileSync(join(folder, 'from-hello', 'package.json'), 'utf8'))
  const own = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  assert.equal(made.dependencies.diglot, `^${own.version}`)
  assert.equal(made.engines.node, own.engines.node)
  assert.equal(made.devDependencies.typescript, own.devDependencies.typescript)
})

test('a file that exists is never overwritten, and nothing else is written', () => {
  const project = join(folder, 'mine')
  mkdirSync(project)
  writeFileSync(join(project, 'README.md'), 'mine')
  const { status, stderr } = runDiglot(['new', 'mine'], folder)
  assert.equal(status, 1)
  assert.match(stderr, /^diglot: mine already has README\.md: give another folder, or move .* nothing was written\n$/)
  assert.equal(readFileSync(join(project, 'README.md'), 'utf8'), 'mine')
  assert.ok(!existsSync(join(project, 'service.ts')))
})

test('a folder with other files is accepted', () => {
  mkdirSync(join(folder, 'other', '.git'), { recursive: true })
  assert.equal(runDiglot(['new', '.'], join(folder, 'other')).status, 0)
  assert.match(
    readFileSync(join(folder, 'other', 'service.ts'), 'utf8'),
    /service\('other', \{ namespace: 'urn:example:other'/,
  )
})

const refusals: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ['no folder', [], 2, /missing required argument 'folder'/],
  [
    'an unknown example',
    ['x', '--from', 'bank'],
    2,
    /bank is not an example, and no file has this name: use tickets, hello, empty, clinic/,
  ],
  [
    'a folder whose name no service can have',
    ['My_Shop'],
    1,
    /"My_Shop" cannot name a service: give a folder whose name/,
  ],
  ['the name of the package', ['diglot'], 1, /give a folder that is not named diglot/],
  ['a place below a file', ['mine/README.md/shop'], 1, /cannot be written \(ENOTDIR\): give a folder/],
]
for (const [title, args, status, text] of refusals)
  test(`${title}: exit status ${status}, and what to do`, () => {
    const ran = runDiglot(['new', ...args], folder)
    assert.equal(ran.status, status)
    assert.match(ran.stderr, text)
    assert.doesNotMatch(ran.stderr, /\n\s+at /)
  })

test('npm create diglot is the same command, in the same version', () => {
  const create = join(folder, 'node_modules', 'create-diglot')
  mkdirSync(create, { recursive: true })
  cpSync(join(checkout, 'create'), create, { recursive: true })
  const { version, dependencies, engines } = JSON.parse(readFileSync(join(create, 'package.json'), 'utf8'))
  const own = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  assert.deepEqual([version, dependencies, engines], [own.version, { diglot: own.version }, own.engines])
  // The command of the package, without what `npm run prepare` compiles.
  const home = join(folder, 'node_modules', 'diglot')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'diglot', bin: { diglot: './cli.js' } }))
  writeFileSync(join(home, 'cli.js'), 'console.log(JSON.stringify(process.argv.slice(2)))')
  const { stdout, stderr } = spawnSync(process.execPath, [join(create, 'index.js'), 'shop', '--from', 'clinic'], {
    encoding: 'utf8',
    cwd: folder,
  })
  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout), ['new', 'shop', '--from', 'clinic'])
})
