/** Servers of SOAP by stacks of others, each with a small stock of parts, as their users write one. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installed } from '../installed.ts'
import {
  compileJava,
  cxfJars,
  hasJava,
  jaxwsJars,
  type Place,
  type Program,
  quickJava,
  systemPython,
} from '../others/stacks.ts'
import { missing, run } from '../peer.ts'

const here = import.meta.dirname
const stockWsdl = join(here, '..', 'parts', 'stock.wsdl')
const jxc = '/usr/share/java/jaxb-jxc.jar'

/** An operation by REST: its input, the status, and what the answer has at least. */
export type Action = readonly [operation: string, input: object, status: number, answer: object]

export interface PartsStack {
  readonly name: string
  /** Why it cannot run here; false when it can. */
  readonly skip: string | false
  readonly program: Program
  /** Where its messages go, after its origin; its WSDL is there with `?wsdl`. */
  readonly path: string
  readonly port: string
  /** What the bridge says of its resource. */
  readonly says: RegExp
  /** A new part, and what the service makes of it where that differs. */
  readonly part: Readonly<Record<string, unknown>>
  readonly kept?: Readonly<Record<string, unknown>>
  /** The member of a part that is its name. */
  readonly named: string
  /** The operation that gets a part: its member, and where the name is in the answer, in TypeScript. */
  readonly get: readonly [operation: string, member: string, name: string]
  /** What a fault about part 9 tells of it, in TypeScript, where it is declared. */
  readonly fault?: string
  /** All operations, in this order; part 1 is there, and nothing else. */
  readonly actions: readonly Action[]
}

/** A problem whose `type` ends with this name. */
const problem = (name: string, more: object = {}): object => ({ type: `/problems/${name}`, ...more })
const failed = problem('BadGateway', { detail: 'The backend failed' })

const stockSays =
  /parts: read by GetPart and ListParts, made by CreatePart, changed by UpdatePart, removed by DeletePart, compared by rowVersion/

/** By a WSDL that was there first. */
const contractFirst = (name: string, skip: string | false, program: Program, more: Partial<PartsStack> = {}) => ({
  ...{ name, skip, program, path: '/', port: 'Stock', says: stockSays, named: 'name' },
  part: { name: 'bolt', weight: '1.50' },
  get: ['GetPart', 'partNo', 'part?.name'] as const,
  fault: 'fault?.partNo',
  actions: [
    ['GetPart', { partNo: 1 }, 200, { part: { partNo: 1, name: 'gear' } }],
    ['GetPart', { partNo: 9 }, 404, problem('NoSuchPart', { detail: 'no such part', fault: { partNo: 9 } })],
    ['CreatePart', { name: 'nut' }, 200, { partNo: 2 }],
    ['UpdatePart', { part: { partNo: 2, name: 'cog', rowVersion: 1 } }, 200, {}],
    ['UpdatePart', { part: { partNo: 2, name: 'meanwhile', rowVersion: 2 } }, 409, problem('PartConflict')],
    ['DeletePart', { partNo: 2 }, 200, {}],
    ['DeletePart', { partNo: 2 }, 404, problem('NoSuchPart', { fault: { partNo: 2 } })],
    ['ListParts', {}, 200, { part: [{ partNo: 1, name: 'gear' }] }],
  ] as const,
  ...more,
})

const spyne = (version: '1.1' | '1.2'): PartsStack => ({
  name: `Spyne ${version}`,
  skip: missing('Spyne', systemPython, ['-c', 'import spyne']),
  program: { command: ({ port }) => [systemPython, join(here, 'spyne_parts.py'), String(port), version] },
  path: '/',
  port: 'Application',
  says: /parts: read by get_part and list_parts, made by create_part, changed by update_part, removed by delete_part/,
  part: { name: 'bolt', weight: '1.50', shelf: 'north', kind: 'x', picture: 'aGk=', tags: { string: ['a', 'b'] } },
  named: 'name',
  get: ['get_part', 'part_id', 'get_partResult?.name'],
  actions: [
    ['get_part', { part_id: 1 }, 200, { get_partResult: { part_id: 1, name: 'gear', shelf: 'north' } }],
    ['get_part', { part_id: 9 }, 404, problem('Refused', { detail: 'Part not found' })],
    ['create_part', { part: { name: 'nut' } }, 200, { create_partResult: 3 }],
    ['update_part', { part: { part_id: 3, name: 'cog' } }, 200, {}],
    ['take_part', { part_id: 1, count: 2 }, 200, { take_partResult: 3 }],
    // Its WSDL describes the detail of the fault as empty.
    ['take_part', { part_id: 1, count: 9 }, 422, problem('Refused', { detail: 'too few' })],
    ['recount', { reason: 'x' }, 502, failed],
    ['delete_part', { part_id: 3 }, 200, {}],
    ['list_parts', {}, 200, { list_partsResult: { Part: [{ part_id: 1, name: 'gear' }] } }],
  ],
})

const javaPart = { partId: 0, version: 0, name: 'bolt', weight: '1.50', shelf: 'NORTH', seen: '2024-01-02T03:04:05Z' }
function jaxws(name: string, skip: string | false, command: Program['command']): PartsStack {
  return {
    name,
    skip,
    program: { command },
    path: '/parts',
    port: 'PartsPort',
    says: /parts: read by getPart and listParts, made by createPart, .* removed by deletePart, compared by version/,
    part: { ...javaPart, kind: 'x', count: null, picture: 'aGk=', tags: ['a', 'b'] },
    kept: { partId: 1, version: 1 },
    named: 'name',
    get: ['getPart', 'partId', 'return?.name'],
    fault: 'fault?.partId',
    actions: [
      ['getPart', { partId: 1 }, 200, { return: { partId: 1, name: 'gear', seen: '2024-01-02T03:04:05Z' } }],
      ['getPart', { partId: 9 }, 404, problem('PartNotFound', { detail: 'no part 9', fault: { partId: 9 } })],
      ['createPart', { part: { partId: 0, version: 0, name: 'nut' } }, 200, { return: { partId: 2, version: 1 } }],
      ['updatePart', { part: { partId: 2, version: 1, name: 'cog' } }, 200, {}],
      ['updatePart', { part: { partId: 2, version: 1, name: 'late' } }, 409, problem('PartConflict')],
      ['takePart', { partId: 1, count: 2 }, 200, { return: 3 }],
      ['takePart', { partId: 1, count: 9 }, 409, problem('PartConflict', { detail: 'too few' })],
      ['recount', { reason: 'x' }, 502, failed],
      ['note', { text: 'x' }, 204, {}],
      ['deletePart', { partId: 2 }, 200, {}],
      ['listParts', {}, 200, { return: [{ partId: 1, name: 'gear', tags: ['a', 'b'] }] }],
    ],
  }
}

/** What its tools write beside the class: a bean for each message. */
function buildMetro({ port, folder }: Place): readonly string[] {
  const jars = `${jaxwsJars}:${jxc}`
  compileJava([join(here, 'PartsServer.java')], jars, folder)
  const [java, ...words] = quickJava as [string, ...string[]]
  run(java, [...words, jars, 'com.sun.tools.ws.WsGen', '-cp', `${folder}:${jars}`, '-d', folder, javaClass])
  return [...quickJava, `${folder}:${jars}`, javaClass, String(port)]
}
const javaClass = 'example.parts.PartsServer'

function buildCxf({ port, folder }: Place): readonly string[] {
  const source = readFileSync(join(here, 'PartsServer.java'), 'utf8')
  const file = join(folder, 'PartsServer.java')
  writeFileSync(file, source.replace(/\bjavax\.(?=jws|xml\.bind|xml\.ws)/g, 'jakarta.'))
  compileJava([file], `${cxfJars}/*`, folder)
  return [...quickJava, `${folder}:${cxfJars}/*`, javaClass, String(port)]
}

const compileCsharp = (out: string, source: string, references: readonly string[], more: readonly string[] = []) =>
  run('mcs', [`-out:${out}`, ...more, ...references.map(each => `-r:${each}`), join(here, source)])

function buildWcf({ port, folder }: Place): readonly string[] {
  const program = join(folder, 'parts.exe')
  compileCsharp(program, 'WcfParts.cs', ['System.ServiceModel', 'System.Runtime.Serialization'])
  return ['mono', program, String(port)]
}

function buildAsmx({ port, folder }: Place): readonly string[] {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  compileCsharp(join(bin, 'AsmxParts.dll'), 'AsmxParts.cs', ['System.Web.Services'], ['-target:library'])
  const host = join(bin, 'AsmxHost.exe')
  compileCsharp(host, 'AsmxHost.cs', ['System.Web'])
  writeFileSync(join(folder, 'stock.asmx'), '<%@ WebService Language="C#" Class="Example.Stock" %>\n')
  return ['mono', host, String(port), folder]
}

const netPart = { Name: 'bolt', Weight: '1.50', Shelf: 'North', Seen: '2024-01-02T03:04:05Z', Picture: 'aGk=' }
const netMore = { Tags: { string: ['a', 'b'] }, Mark: '6f9619ff-8b86-d011-b42d-00c04fc964ff' }
const counts = { KeyValueOfstringint: [{ Key: 'x', Value: 3 }] }
const hasMono = (name: string, library: string) =>
  missing(`${name} of Mono`, 'sh', ['-c', `command -v mono mcs && ls /usr/lib/mono/4.5/${library}.dll`])

const net: readonly PartsStack[] = [
  {
    name: 'ASMX of Mono',
    skip: hasMono('ASMX', 'System.Web.Services'),
    program: { command: buildAsmx },
    path: '/stock.asmx',
    port: 'StockSoap',
    says: /port StockHttpGet: is a binding of HTTP.*parts: read by GetPart and ListParts, made by CreatePart/s,
    part: { ...netPart, ...netMore, PartId: 0, Count: null, Kind: 'x' },
    kept: { PartId: 1 },
    named: 'Name',
    get: ['GetPart', 'partId', 'GetPartResult?.Name'],
    actions: [
      ['GetPart', { partId: 1 }, 200, { GetPartResult: { PartId: 1, Name: 'gear', ...netMore } }],
      ['GetPart', { partId: 9 }, 200, {}],
      ['CreatePart', { part: { ...netPart, ...netMore, PartId: 0, Count: 7 } }, 200, { CreatePartResult: 3 }],
      ['UpdatePart', { part: { ...netPart, ...netMore, PartId: 3, Count: null } }, 200, {}],
      ['TakePart', { partId: 1, count: 2 }, 200, { TakePartResult: 3 }],
      [
        ...(['TakePart', { partId: 1, count: 9 }, 422] as const),
        problem('Refused', { detail: 'System.Web.Services.Protocols.SoapException: too few' }),
      ],
      ['Recount', { reason: 'x' }, 502, failed],
      ['DeletePart', { partId: 3 }, 200, { DeletePartResult: true }],
      ['ListParts', {}, 200, { ListPartsResult: { Part: [{ PartId: 1, Name: 'gear' }] } }],
    ],
  },
  {
    name: 'WCF of Mono',
    skip: hasMono('WCF', 'System.ServiceModel'),
    program: { command: buildWcf },
    path: '/stock',
    port: 'BasicHttpBinding_IStock',
    says: /parts: read by GetPart and GetParts, made by CreatePart, changed by UpdatePart, removed by DeletePart/,
    part: { ...netPart, ...netMore, Lasts: 'PT1H', Ends: null, Counts: counts },
    kept: { PartId: 1 },
    named: 'Name',
    get: ['GetPart', 'partId', 'GetPartResult?.Name'],
    actions: [
      ['GetPart', { partId: 1 }, 200, { GetPartResult: { PartId: 1, Name: 'gear', Counts: counts, Lasts: 'PT1H' } }],
      ['GetPart', { partId: 9 }, 404, problem('Refused', { detail: 'Part not found' })],
      ['CreatePart', { part: { Name: 'nut', Tags: null } }, 200, { CreatePartResult: 3 }],
      ['UpdatePart', { part: { PartId: 3, Name: 'cog' } }, 200, {}],
      ['TakePart', { partId: 1, count: 2 }, 200, { TakePartResult: 3 }],
      // Mono's WSDL has no word of declared faults.
      ['TakePart', { partId: 1, count: 9 }, 422, problem('Refused', { detail: 'too few' })],
      ['Recount', { reason: 'x' }, 502, failed],
      ['Note', { text: 'x' }, 204, {}],
      ['DeletePart', { partId: 3 }, 200, {}],
      ['GetParts', {}, 200, { GetPartsResult: { Part: [{ PartId: 1, Name: 'gear' }] } }],
    ],
  },
]

export const partsStacks: readonly PartsStack[] = [
  contractFirst('PHP SoapServer', missing('php-soap', 'php', ['--ri', 'soap']), {
    command: ({ port, folder }) => {
      copyFileSync(join(here, '..', 'php', 'stock.php'), join(folder, 'index.php'))
      return ['php', '-S', `127.0.0.1:${port}`, '-t', folder]
    },
    environment: ({ folder }) => ({ WSDL: stockWsdl, ROWS: join(folder, 'rows') }),
  }),
  contractFirst(
    'npm soap',
    installed('npm-soap'),
    { command: ({ port }) => [process.execPath, join(here, 'npm-parts.js'), String(port), stockWsdl] },
    { kept: { weight: '1.5' } }, // it has decimals as numbers of JavaScript
  ),
  contractFirst('gSOAP', missing('gSOAP', 'sh', ['-c', 'command -v wsdl2h && command -v soapcpp2 && command -v g++']), {
    command: ({ port, folder }) => {
      run(join(here, 'build-gsoap'), [folder, stockWsdl])
      return [join(folder, 'parts'), String(port), stockWsdl]
    },
  }),
  spyne('1.1'),
  spyne('1.2'),
  jaxws('JAX-WS RI', hasJava('JAX-WS RI', jxc), buildMetro),
  jaxws(
    'Apache CXF',
    hasJava('Apache CXF (mvn -f test/peers/cxf dependency:copy-dependencies)', `${cxfJars}/cxf-core-*.jar`),
    buildCxf,
  ),
  ...net,
]
