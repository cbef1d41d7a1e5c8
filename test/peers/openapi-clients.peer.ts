/** Clients that generators of others make of `/openapi.json` alone: they compile strictly, and call the service. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { installed } from './installed.ts'
import { folder, missing, orders, type Running, root, run, service } from './peer.ts'

// For virtual machines that live for seconds: 203 s of CPU, now 181.
process.env['JAVA_TOOL_OPTIONS'] ??= '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

const here = join(import.meta.dirname, 'openapi-clients')
const bin = (name: string): string => join(here, 'node_modules', '.bin', name)
const generator = join(here, 'lib', 'openapi-generator-cli-7.15.0.jar')
const python = join(import.meta.dirname, 'others', 'venv', 'bin', 'python')
const contracts = { club: join(here, 'club.ts'), orders, clinic: join(root, 'examples', 'clinic', 'service.ts') }
type ContractName = keyof typeof contracts
const names = Object.keys(contracts) as ContractName[]

const strict = ['--strict', '--noEmit', '--skipLibCheck', 'false', '--target', 'es2024', '--module', 'nodenext']

/** A folder with the packages of the generators, the description of each service, and the service of the club. */
const place = folder()
let club: Running
before(async () => {
  symlinkSync(join(here, 'node_modules'), join(place, 'node_modules'))
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  for (const name of names) {
    const served = await service([], join(folder(), `${name}.sqlite`), contracts[name])
    for (const release of ['3.1', '3.2']) {
      const answer = await fetch(`${served.url}/openapi.json?openapi=${release}`)
      writeFileSync(join(place, `${name}-${release}.json`), await answer.text())
    }
    if (name === 'club') club = served
    else await served.stop()
  }
})
const compile = (...files: readonly string[]): void => {
  run(process.execPath, [bin('tsc'), ...strict, ...files.map(each => join(place, each))])
}

describe('openapi-typescript and openapi-fetch', { skip: installed('openapi-clients') }, () => {
  for (const name of names)
    for (const release of ['3.1', '3.2'])
      it(`the types of ${name} by ${release} compile in strict mode`, () => {
        const made = `${name}-${release}.d.ts`
        run(process.execPath, [
          bin('openapi-typescript'),
          join(place, `${name}-${release}.json`),
          '--default-non-nullable=false',
          '-o',
          join(place, made),
        ])
        compile(made)
      })
  it('each response of the club has its type without help, and is what the service sends', () => {
    copyFileSync(join(place, 'club-3.1.d.ts'), join(place, 'schema.d.ts'))
    copyFileSync(join(here, 'call-fetch.ts'), join(place, 'call-fetch.ts'))
    compile('call-fetch.ts')
    const told = run(process.execPath, [join(place, 'call-fetch.ts'), club.url, club.token('kim', 'member')])
    assert.deepEqual(JSON.parse(told), [30, true, 'Anna', 'leaks', '9.50', 409, '/problems/Grounded', '2027-01-01'])
  })
})

describe('@hey-api/openapi-ts', { skip: installed('openapi-clients') }, () => {
  for (const name of names)
    it(`the client of ${name} compiles in strict mode`, () => {
      const made = join(place, `hey-${name}`)
      run(process.execPath, [bin('openapi-ts'), '-i', join(place, `${name}-3.1.json`), '-o', made, '--no-log-file'])
      compile(join(`hey-${name}`, 'sdk.gen.ts'))
    })
})

describe('openapi-generator', { skip: missing('java', 'java') || missingJar() }, () => {
  for (const name of names)
    it(`accepts the description of ${name}, and its fetch client compiles in strict mode`, () => {
      const description = join(place, `${name}-3.1.json`)
      const found = run('java', ['-jar', generator, 'validate', '-i', description])
      assert.match(found, /No validation issues detected/)
      const made = join(place, `generator-${name}`)
      run('java', ['-jar', generator, 'generate', '-g', 'typescript-fetch', '-i', description, '-o', made])
      run(process.execPath, [
        bin('tsc'),
        ...['--strict', '--noEmit', '--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler'],
        join(made, 'index.ts'),
      ])
    })
})
function missingJar(): string | false {
  try {
    readFileSync(generator)
    return false
  } catch {
    if (process.env['CI'] === 'true') throw new Error('openapi-generator is not installed')
    return 'skipped: openapi-generator is not installed (.ci/run says how)'
  }
}

const noPython = missing('openapi-python-client (test/peers/others/requirements.txt)', python, [
  '-c',
  'import openapi_python_client',
])
describe('openapi-python-client', { skip: noPython }, () => {
  for (const name of names)
    it(`makes a client of ${name}, and leaves out only files, which it does not support`, () => {
      const made = join(place, `python-${name}`)
      mkdirSync(made)
      const said = run(python, [
        ...['-m', 'openapi_python_client', 'generate', '--meta', 'none', '--overwrite'],
        ...['--path', join(place, `${name}-3.1.json`), '--output-path', join(made, 'generated')],
      ])
      run(python, ['-m', 'compileall', '-q', join(made, 'generated')])
      const unsupported = [...said.matchAll(/[Uu]nsupported content.type ([^)\n]*)/g)].map(([, type = '']) => type)
      assert.deepEqual(
        unsupported.filter(type => !/^(?:image|application\/pdf)/.test(type)),
        [],
      )
      assert.equal(
        (said.match(/WARNING/g) ?? []).length,
        new Set(said.match(/WARNING parsing \S+ \S+(?:photo|picture|scan)/g)).size,
      )
    })
  it('the client of the club calls it', () => {
    copyFileSync(join(here, 'call_python.py'), join(place, 'python-club', 'call_python.py'))
    const said = run(python, [join(place, 'python-club', 'call_python.py'), club.url, club.token('kim', 'member')])
    assert.deepEqual(JSON.parse(said), [30, 'ashore', 'Berta', '11.00', 6, false, 409, '/problems/Grounded'])
  })
})
