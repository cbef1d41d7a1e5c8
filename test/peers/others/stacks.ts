/** Servers that others wrote, each with a small service of notes, on a free port of this machine. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type CheckOptions, parseCaller } from '../../../src/check/index.ts'
import { installed } from '../installed.ts'
import { atEnd, folder, missing, root, run } from '../peer.ts'
import type { StackName } from './verdicts.ts'

const here = import.meta.dirname
const python = join(here, 'venv', 'bin', 'python')
export const systemPython = '/usr/bin/python3'
const javaJars = '/usr/share/java'
export const cxfJars = join(here, '..', 'cxf', 'lib')
const springJars = join(here, 'spring', 'lib')
export const quickJava = ['java', '-XX:TieredStopAtLevel=1', '-cp']
const node = [process.execPath, '--conditions=diglot-source']

export interface Place {
  readonly port: number
  /** A folder of its own. */
  readonly folder: string
}

export interface Stack {
  readonly name: StackName
  /** Why it cannot run here; false when it can. */
  readonly skip: string | false
  readonly program: Program
  /** The path at which a check begins. */
  readonly path: string
  /** The path of its endpoint, where it speaks SOAP. */
  readonly soap?: string
  readonly options?: CheckOptions
}

/** What serves; two stacks may share it. It may build something first. */
export interface Program {
  readonly command: (place: Place) => readonly string[]
  readonly environment?: (place: Place) => Readonly<Record<string, string>>
}

type Version = '1.1' | '1.2'
const notesDescription = JSON.parse(readFileSync(join(here, 'notes.openapi.json'), 'utf8'))

const spring: Program = {
  command: place => {
    compileJava([join(here, 'spring', 'NotesApplication.java')], `${springJars}/*`, place.folder)
    const address = [`--server.port=${place.port}`, '--server.address=127.0.0.1', '--logging.level.root=error']
    const words = ['example.notes.NotesApplication', '1.1', writeWsdl(place, '1.1', '/soap')]
    return [...quickJava, `${place.folder}:${springJars}/*`, ...words, ...address]
  },
}
const hasSpring = missing('Spring (mvn -f test/peers/others/spring dependency:copy-dependencies)', 'sh', [
  '-c',
  `command -v javac && ls ${springJars}/spring-data-rest-core-*.jar ${springJars}/spring-ws-core-*.jar`,
])

const restStacks: readonly Stack[] = [
  {
    name: 'Express',
    skip: false,
    program: { command: ({ port }) => [...node, join(here, 'express-notes.ts'), String(port)] },
    path: '/notes',
  },
  {
    name: 'Fastify',
    skip: false,
    program: { command: ({ port }) => [...node, join(here, 'fastify-notes.ts'), String(port)] },
    path: '/',
    options: { openapi: notesDescription },
  },
  {
    name: 'FastAPI',
    skip: missing('FastAPI (pip install -r test/peers/others/requirements.txt)', python, ['-c', 'import fastapi']),
    program: { command: ({ port }) => [python, join(here, 'fastapi_notes.py'), String(port)] },
    path: '/',
  },
  {
    name: 'Django REST framework',
    skip: missing('Django REST framework', python, ['-c', 'import rest_framework, drf_spectacular, waitress']),
    program: { command: ({ port }) => [python, join(here, 'django_notes.py'), String(port)] },
    path: '/',
    options: { callers: ['alice:alice-secret', 'bob:bob-secret'].map(parseCaller) },
  },
  { name: 'Spring Data REST', skip: hasSpring, program: spring, path: '/' },
  {
    name: 'json-server',
    skip: installed('json-server'),
    program: { command: ({ port }) => [process.execPath, join(here, 'json-server-notes.js'), String(port)] },
    path: '/',
    options: { openapi: notesDescription },
  },
]

interface SoapPeer {
  readonly name: 'npm soap' | 'Spyne' | 'PHP SoapServer' | 'JAX-WS RI' | 'Apache CXF' | 'gSOAP'
  readonly skip: string | false
  readonly program: (version: Version) => Program
  readonly soap: (version: Version) => string
}

/** One process for both versions. */
function javaPeer(name: SoapPeer['name'], skip: string | false, jars: string, jakarta: boolean): SoapPeer {
  const program: Program = {
    command: ({ port, folder }) => {
      const source = readFileSync(join(here, 'NotesServer.java'), 'utf8')
      const file = join(folder, 'NotesServer.java')
      writeFileSync(file, jakarta ? source.replace(/\bjavax\.(?=jws|xml\.bind|xml\.ws)/g, 'jakarta.') : source)
      compileJava([file], jars, folder)
      return [...quickJava, `${folder}:${jars}`, 'NotesServer', String(port)]
    },
  }
  return { name, skip, program: () => program, soap: version => (version === '1.2' ? '/notes12' : '/notes11') }
}

export const hasJava = (name: string, jar: string): string | false =>
  missing(name, 'sh', ['-c', `command -v javac && ls ${jar}`])

/** Debian keeps other versions next to these; a wildcard would mix them. */
export const jaxwsJars = [
  ...['jaxws-rt', 'jaxws-tools', 'jaxws-api', 'jaxb-api', 'jaxb-runtime', 'jaxb-core', 'jaxb-xjc', 'codemodel', 'xsom'],
  ...['rngom', 'dtd-parser', 'relaxngDatatype', 'istack-commons-runtime', 'istack-commons-tools', 'txw2', 'saaj-impl'],
  ...['javax.xml.soap-api', 'stax-ex', 'streambuffer', 'mimepull', 'metro-policy', 'gmbal', 'glassfish-management-api'],
  ...['jws-api', 'javax.activation', 'woodstox-core', 'stax2-api', 'FastInfoset', 'geronimo-annotation-1.3-spec'],
  'xml-resolver',
]
  .map(name => join(javaJars, `${name}.jar`))
  .join(':')

const soapPeers: readonly SoapPeer[] = [
  {
    name: 'npm soap',
    skip: installed('npm-soap'),
    program: version => ({
      command: place => {
        const wsdl = writeWsdl(place, version, '/notes')
        return [process.execPath, join(here, 'npm-soap-notes.js'), String(place.port), version, wsdl]
      },
    }),
    soap: () => '/notes',
  },
  {
    name: 'Spyne',
    skip: missing('Spyne', systemPython, ['-c', 'import spyne']),
    program: version => ({
      command: ({ port }) => [systemPython, join(here, 'spyne_notes.py'), String(port), version],
    }),
    soap: () => '/notes',
  },
  {
    name: 'PHP SoapServer',
    skip: missing('PHP with its soap extension', 'php', ['--ri', 'soap']),
    program: version => ({
      command: ({ port }) => ['php', '-S', `127.0.0.1:${port}`, '-t', join(here, 'php')],
      environment: place => ({ SOAP: version, WSDL: writeWsdl(place, version, '/notes.php') }),
    }),
    soap: () => '/notes.php',
  },
  javaPeer('JAX-WS RI', hasJava('JAX-WS RI', `${javaJars}/jaxws-rt.jar`), jaxwsJars, false),
  javaPeer(
    'Apache CXF',
    hasJava('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', `${cxfJars}/cxf-core-*.jar`),
    `${cxfJars}/*`,
    true,
  ),
  {
    name: 'gSOAP',
    skip: missing('gSOAP', 'sh', ['-c', 'command -v wsdl2h && command -v soapcpp2 && command -v g++']),
    program: version => ({
      command: place => {
        const wsdl = writeWsdl(place, version, '/notes')
        run(join(here, 'build-gsoap'), [place.folder, version])
        return [join(place.folder, 'notes'), String(place.port), wsdl]
      },
    }),
    soap: () => '/notes',
  },
]

const soapOptions = (wsdl: string): CheckOptions => ({ profile: { wsdl: [wsdl], messages: { GetNote: { id: '1' } } } })

/** Its messages of 20,000 levels take seconds: too near to the limit of B5.5 for a verdict. */
const slowParser = { 'B5.5': 'deep nesting takes it 3 to 8 s, which depends on the machine' }

const soapStacks: readonly Stack[] = [
  ...soapPeers.flatMap(({ name, skip, program, soap }) =>
    (['1.1', '1.2'] as const).map(
      (version): Stack => ({
        name: `${name} ${version}`,
        skip,
        program: program(version),
        path: '/',
        soap: soap(version),
        options: soapOptions(`${soap(version)}?wsdl`),
      }),
    ),
  ),
  {
    name: 'Spring-WS 1.1',
    skip: hasSpring,
    program: spring,
    path: '/',
    soap: '/soap',
    options: { profile: { ...soapOptions('/soap/notes.wsdl').profile, exceptions: slowParser } },
  },
]

export const stacks: readonly Stack[] = [...restStacks, ...soapStacks]

export const compileJava = (files: readonly string[], path: string, into: string): void =>
  void run('javac', ['-nowarn', '-proc:none', '-parameters', '-encoding', 'UTF-8', '-cp', path, '-d', into, ...files])

function writeWsdl({ port, folder }: Place, version: Version, path: string): string {
  const namespace = `http://schemas.xmlsoap.org/wsdl/${version === '1.2' ? 'soap12' : 'soap'}/`
  const file = join(folder, 'notes.wsdl')
  const text = readFileSync(join(here, 'notes.wsdl'), 'utf8')
  const address = `http://127.0.0.1:${port}${path}`
  writeFileSync(file, text.replace('"VERSION"', `"${namespace}"`).replace('"ADDRESS"', `"${address}"`))
  return file
}

const running = new Map<Program, Promise<string>>()

/** Its address, once it answers. */
export async function startStack({ name, program, options }: Stack): Promise<string> {
  const started = running.get(program) ?? startProgram(name, program)
  running.set(program, started)
  const origin = await started
  // A program with two endpoints accepts connections before it has both; one of a single thread may
  // end a connection meanwhile.
  const isThere = (address: string) =>
    fetch(address).then(
      ({ ok }) => ok,
      () => false,
    )
  for (const wsdl of options?.profile?.wsdl ?? [])
    for (let tries = 0; tries < 100 && !(await isThere(origin + wsdl)); tries++) await pause(100)
  return origin
}

/** Its origin, once it accepts connections. */
export async function startProgram(name: string, { command, environment }: Program): Promise<string> {
  const place = { port: await findFreePort(), folder: folder() }
  const env = { ...process.env, ...environment?.(place) }
  const [program = '', ...words] = command(place)
  const child = spawn(program, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  atEnd(() => void child.kill('SIGKILL'))
  let said = ''
  const keep = (part: Buffer): void => {
    said = (said + part).slice(-4000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  for (let tries = 0; !(await accepts(place.port)); tries++) {
    if (tries > 900 || child.exitCode !== null) throw new Error(`${name} does not serve: ${said}`)
    await pause(100)
  }
  return `http://127.0.0.1:${place.port}`
}

const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy().destroyed))
    socket.on('error', () => resolve(false))
  })

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
