/**
 * Writes an imported service as TypeScript, as a person would: roles, faults and types first, then
 * the resources, jobs and exchanges, and the service at the end.
 */
import type { Fault } from '../../contract/fault.ts'
import { declaredFaults } from '../../contract/fault.ts'
import { type AnyField, Field, type Fields, type Scalar, type Shape, t } from '../../contract/field.ts'
import type { Job } from '../../contract/job.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { listGrants } from '../../contract/operation.ts'
import type { Grant } from '../../contract/policy.ts'
import type { AnyAction, File, Resource } from '../../contract/resource.ts'
import type { Service } from '../../contract/service.ts'
import {
  asObject,
  entryFields,
  foldScalar,
  foldShape,
  innerFields,
  type ScalarCases,
  type ScalarOf,
  type ShapeCases,
} from '../../contract/shape.ts'
import { listPortElements } from '../../contract/xml-derivation.ts'
import { listReachedTypes } from '../../contract/xml-reach.ts'
import { ConstantNames } from '../constant-names.ts'
import {
  quoteLiteral,
  writeDocComment,
  writeHeadComment,
  writeMemberKey,
  writeScalarLiteral,
} from '../typescript-text.ts'
import { type PrintedPorts, writePorts } from '../write-typescript.ts'
import type { ImportedService } from './imported-service.ts'

/** @param source the name of the document, for the head comment */
export function writeServiceTypescript(imported: ImportedService, source: string): string {
  return new ServicePrinter(imported).print(source)
}

/** Columns up to which a list of arguments stays on one line. */
const widthMax = 110

class ServicePrinter {
  readonly #imported: ImportedService
  readonly #names = new ConstantNames()
  readonly #roles = new Map<Grant, string>()
  readonly #faults = new Map<Fault, string>()
  readonly #shapes = new Map<Shape, string>()
  readonly #resources = new Map<Resource | Job, string>()

  constructor(imported: ImportedService) {
    this.#imported = imported
    const { service } = imported
    for (const grant of listGrants(service))
      if (grant.role !== '*') this.#roles.set(grant, this.#names.claim(toCamel(grant.role), 'Role'))
    for (const each of declaredFaults(service)) this.#faults.set(each, this.#names.claim(each.fault, 'Fault'))
    for (const each of service.resources) this.#resources.set(each, this.#names.claim(toCamel(each.name), 'Resource'))
    for (const each of service.jobs) this.#resources.set(each, this.#names.claim(toCamel(each.job), 'Job'))
    for (const { shape, isShared } of listStructures(service)) {
      const name = asObject(shape)?.name
      if (name !== undefined || isShared) this.#shapes.set(shape, this.#names.claim(name ?? 'Shared', 'Type'))
    }
  }

  print(source: string): string {
    const { service, losses } = this.#imported
    const ports = this.#ports()
    const text = [
      [...this.#roles].map(([grant, name]) => `const ${name} = role(${quoteLiteral(grant.role)})`).join('\n'),
      ...[...this.#shapes].map(([shape, name]) => `const ${name} = ${this.#structure(shape, '')}`),
      ...[...this.#faults].map(([fault, name]) => this.#fault(fault, name)),
      ...service.resources.map(each => this.#resource(each)),
      ...service.jobs.map(each => this.#job(each)),
      ports.text,
      this.#service(ports.names),
    ].filter(each => each !== '')
    const body = text.map(each => each.replace(/^\n+/, '')).join('\n\n')
    return [writeHeadComment(source, losses), writeImports(body), '', body, ''].join('\n')
  }

  #ports(): PrintedPorts {
    const { service, comments, losses } = this.#imported
    const { types, elements } = listReachedTypes(service.ports.flatMap(listPortElements))
    const { ports, namespace } = service
    if (ports.length === 0) return { text: '', names: [] }
    return writePorts({ namespace, ports, types, elements, comments, losses }, this.#names, grants =>
      this.#grants(grants),
    )
  }
  #comment(of: object, indent: string): string {
    return writeDocComment(this.#imported.comments.get(of), indent)
  }
  #grants(grants: readonly Grant[]): string {
    return `[${grants.map(each => this.#roles.get(each) ?? 'anyone').join(', ')}]`
  }

  // Declarations

  #fault(fault: Fault, name: string): string {
    const detail = Object.keys(fault.detail).length > 0 ? [`  detail: ${this.#fields(fault.detail, '  ')},`] : []
    const head = [`  status: ${fault.status},`, `  title: ${quoteLiteral(fault.title)},`]
    return [`export const ${name} = fault(${quoteLiteral(fault.fault)}, {`, ...head, ...detail, '})'].join('\n')
  }

  #resource(resource: Resource): string {
    const { name, fields, states, actions, files, within } = resource
    const parent = within === undefined ? undefined : fields[within]
    const own = {
      ...fields,
      ...(within !== undefined && parent && { [within]: new Field(parent.shape) }), // read-only by its place
      ...(states.length > 0 && { state: undefined }),
    }
    const lines = [
      ...(within === undefined ? [] : [`  within: ${quoteLiteral(within)},`]),
      ...(resource.isSingle ? ['  single: true,'] : []),
      `  fields: ${this.#fields(own, '  ')},`,
      ...(states.length > 0 ? [`  states: ${writeTexts(states)},`] : []),
      ...(Object.keys(actions).length > 0 ? [`  actions: on => (${this.#actions(actions)}),`] : []),
      ...(Object.keys(files).length > 0 ? [`  files: ${writeFiles(files)},`] : []),
    ]
    const head = `export const ${this.#resources.get(resource)} = resource(${quoteLiteral(name)}, {`
    return `${this.#comment(resource, '')}${[head, ...lines, `}).rules(${this.#rules(resource)})`].join('\n')}`
  }

  #actions(actions: Readonly<Record<string, AnyAction>>): string {
    const lines = Object.entries(actions).map(([verb, action]) => {
      const { from, to, effect, rel, link, input, output, faults, kept } = action
      const members = [
        `rel: ${quoteLiteral(rel)}`,
        ...(link === rel ? [] : [`link: ${quoteLiteral(link)}`]),
        ...(Object.keys(input).length > 0 ? [`input: ${this.#fields(input, '      ')}`] : []),
        ...(output ? [`output: ${this.#fields(output, '      ')}`] : []),
        ...(faults.length > 0 ? [`faults: [${faults.map(each => this.#faults.get(each)).join(', ')}]`] : []),
        ...(kept ? ['kept: true'] : []),
      ]
      const how = effect === 'read' ? 'read(' : to === undefined ? 'stay(' : `to(${quoteLiteral(to)}, `
      const origins = from.map(quoteLiteral).join(', ')
      return `${this.#comment(input, '    ')}    ${writeMemberKey(verb)}: on(${origins}).${how}${wrapMembers(members, '    ')}),`
    })
    return `{\n${lines.join('\n')}\n  }`
  }

  #rules({ given }: Resource): string {
    const allow = Object.entries(given.allow).map(
      ([doing, grants]) => `${writeMemberKey(doing)}: ${this.#grants(grants ?? [])}`,
    )
    const faults = Object.entries(given.faults ?? {}).map(
      ([place, all]) => `${place}: [${(all ?? []).map(each => this.#faults.get(each)).join(', ')}]`,
    )
    const relations = Object.entries(given.relations ?? {}).map(
      ([rel, relation]) =>
        `${writeMemberKey(rel)}: { ${'of' in relation ? `of: ${quoteLiteral(relation.of)}, ` : ''}by: ${quoteLiteral(relation.by)} }`,
    )
    const lists = (['filter', 'sort', 'search', 'searchBy'] as const).flatMap(name => {
      const names = given[name]
      return names ? [`${name}: ${wrapTexts(names, '  ')}`] : []
    })
    const members = [
      ...(relations.length > 0 ? [`relations: ${wrapMembers(relations, '  ')}`] : []),
      ...lists,
      ...(given.putCreates ? ['putCreates: true'] : []),
      ...(given.bulk ? ['bulk: true'] : []),
      ...(given.precondition === false ? ['precondition: false'] : []),
      ...(faults.length > 0 ? [`faults: ${wrapMembers(faults, '  ')}`] : []),
      `allow: ${wrapMembers(allow, '  ')}`,
    ]
    return wrapMembers(members, '')
  }

  #job(job: Job): string {
    const faults =
      job.faults.length > 0 ? [`  faults: [${job.faults.map(each => this.#faults.get(each)).join(', ')}],`] : []
    return `${this.#comment(job, '')}${[
      `export const ${this.#resources.get(job)} = job(${quoteLiteral(job.job)}, {`,
      `  input: ${this.#fields(job.input, '  ')},`,
      `  output: ${this.#fields(job.output, '  ')},`,
      ...faults,
      `  allow: ${this.#grants(job.allow)},`,
      '})',
    ].join('\n')}`
  }

  #service(ports: readonly string[]): string {
    const { service } = this.#imported
    const versions = Object.entries(service.versions).map(([name, rule]) => {
      const without = Object.entries(rule.without ?? {}).map(
        ([of, names]) => `${writeMemberKey(of)}: ${writeTexts(names)}`,
      )
      return `${name}: ${without.length > 0 ? `{ without: { ${without.join(', ')} } }` : '{}'}`
    })
    const { searches } = service
    const headers = Object.entries(service.headers).flatMap(([name, { content, field }]) =>
      content === 'xml'
        ? []
        : [`${name}: header(${this.#field(content, '  ')}, { field: ${quoteLiteral(field ?? name)} })`],
    )
    const named = (all: readonly (Resource | Job)[]): string =>
      `[${all.map(each => this.#resources.get(each)).join(', ')}]`
    const members = [
      `namespace: ${quoteLiteral(service.namespace)}`,
      `title: ${quoteLiteral(service.title)}`,
      ...(service.description === undefined ? [] : [`description: ${quoteLiteral(service.description)}`]),
      ...writeTextGroup('contact', service.contact),
      ...writeTextGroup('license', service.license),
      `resources: ${named(service.resources)}`,
      ...(service.jobs.length > 0 ? [`jobs: ${named(service.jobs)}`] : []),
      ...(searches ? [`searches: { of: ${quoteLiteral(searches.of)}, allow: ${this.#grants(searches.allow)} }`] : []),
      ...(headers.length > 0 ? [`headers: ${wrapMembers(headers, '  ')}`] : []),
      `versions: { ${versions.join(', ')} }`,
      ...(ports.length > 0 ? [`ports: [${ports.join(', ')}]`] : []),
    ]
    const name = this.#names.claim('contract', '')
    return `export const ${name} = service(${quoteLiteral(service.service)}, ${breakMembers(members, '')})`
  }

  // Fields

  #fields(fields: Readonly<Record<string, AnyField | undefined>>, indent: string): string {
    const declared = Object.entries(fields).filter(([, field]) => !field?.isInternal) // the id of what is single
    const members = declared.map(([name, field]) => {
      const comment = field ? this.#comment(field, `${indent}  `) : ''
      const text = field ? this.#field(field, `${indent}  `) : 't.state()'
      return { comment, text: `${writeMemberKey(name)}: ${text}` }
    })
    if (members.length === 0) return '{}'
    if (members.every(each => each.comment === ''))
      return wrapMembers(
        members.map(each => each.text),
        indent,
      )
    return `{\n${members.map(each => `${each.comment}${indent}  ${each.text},`).join('\n')}\n${indent}}`
  }

  #field(field: AnyField, indent: string): string {
    const { shape } = field
    const isIdentifier = shape.kind === 'id'
    const marks = [
      ...(field.isReadOnly && !isIdentifier ? ['.readOnly()'] : []),
      ...(field.isOptional ? ['.optional()'] : []),
      ...(field.isNullable ? ['.nullable()'] : []),
      ...(field.defaultValue === undefined ? [] : [`.default(${writeScalarLiteral(field.defaultValue)})`]),
    ]
    return `${this.#shapes.get(shape) ?? this.#structure(shape, indent)}${marks.join('')}`
  }

  #structure(shape: Shape, indent: string): string {
    const cases: ShapeCases<string> = {
      scalar: each => foldScalar(each, scalarTexts),
      list: ({ item, min, max }) =>
        `t.list(${[this.#field(item, indent), ...writeOptions({ min, max: max ?? Number.POSITIVE_INFINITY })].join(', ')})`,
      map: shape => {
        const { key, value } = entryFields(shape)
        const { min, max } = shape.entries
        const isAnyKey = key.shape.kind === 'string' && Object.keys(key.shape).length === 1
        const options = [
          ...(isAnyKey ? [] : [`key: ${this.#field(key, indent)}`]),
          ...listOptions({ min, max: max ?? Number.POSITIVE_INFINITY }),
        ]
        return `t.map(${this.#field(value, indent)}, { ${options.join(', ')} })`
      },
      object: ({ name, fields }) =>
        `t.object(${[this.#fields(fields, indent), ...(name === undefined ? [] : [quoteLiteral(name)])].join(', ')})`,
      union: ({ on, of }) => {
        const all = Object.entries(of).map(
          ([which, fields]) => `${writeMemberKey(which)}: ${this.#fields(fields, `${indent}  `)}`,
        )
        return `t.union(${quoteLiteral(on)}, ${breakMembers(all, indent)})`
      },
    }
    return foldShape(shape, cases)
  }
}

// Lists of what is declared

interface Structure {
  readonly shape: Shape
  /** It occurs more than once. */
  isShared: boolean
}
/** Objects and unions, each after those from which it is made. */
function listStructures(service: Service): readonly Structure[] {
  const found = new Map<Shape, Structure>()
  const visit = (field: AnyField): void => {
    const { shape } = field
    const known = found.get(shape)
    if (known) known.isShared = true
    else {
      foldShape(shape, visitCases)
      if (asObject(shape) || innerFields(shape).length > 1) found.set(shape, { shape, isShared: false })
    }
  }
  const visitAll = (fields: Fields): void => Object.values(fields).forEach(visit)
  const visitCases: ShapeCases<void> = {
    scalar: () => undefined,
    list: ({ item }) => visit(item),
    map: shape => visit(entryFields(shape).value),
    object: ({ fields }) => visitAll(fields),
    union: ({ of }) => Object.values(of).forEach(visitAll),
  }
  for (const { fields, actions } of service.resources) {
    visitAll(fields)
    for (const { input, output } of Object.values(actions)) {
      visitAll(input)
      visitAll(output ?? {})
    }
  }
  for (const { input, output } of service.jobs) {
    visitAll(input)
    visitAll(output)
  }
  for (const { detail } of declaredFaults(service)) visitAll(detail)
  return [...found.values()]
}

// Text

const writeTexts = (all: readonly string[]): string => `[${all.map(quoteLiteral).join(', ')}]`
/** A list broken into lines that are not too long. */
function wrapTexts(all: readonly string[], indent: string): string {
  const line = writeTexts(all)
  if (line.length <= widthMax - 20) return line
  const lines: string[] = []
  for (const each of all.map(quoteLiteral)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + each.length < widthMax - 10) lines[lines.length - 1] = `${last} ${each},`
    else lines.push(`${each},`)
  }
  return `[\n${lines.map(each => `${indent}  ${each}`).join('\n')}\n${indent}]`
}
const breakMembers = (members: readonly string[], indent: string): string =>
  members.length === 0 ? '{}' : `{\n${members.map(each => `${indent}  ${each},`).join('\n')}\n${indent}}`
/** On one line where it fits. */
function wrapMembers(members: readonly string[], indent: string): string {
  const line = members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  return line.length + indent.length <= widthMax - 30 && !line.includes('\n') ? line : breakMembers(members, indent)
}
const writeFiles = (files: Readonly<Record<string, File>>): string =>
  `{ ${Object.entries(files)
    .map(
      ([part, { mediaTypes, max }]) =>
        `${writeMemberKey(part)}: { mediaTypes: ${writeTexts(mediaTypes)}, max: ${max / 1024 / 1024} * 1024 * 1024 }`,
    )
    .join(', ')} }`

/** `{ min: 1 }`; nothing without options. */
type OptionValues = Readonly<Record<string, string | number | bigint | undefined>>
const listOptions = (options: OptionValues): readonly string[] =>
  Object.entries(options).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          `${name}: ${typeof value === 'string' ? quoteLiteral(value) : typeof value === 'bigint' ? `${value}n` : value}`,
        ],
  )
function writeOptions(options: OptionValues): readonly string[] {
  const members = listOptions(options)
  return members.length === 0 ? [] : [`{ ${members.join(', ')} }`]
}
const writeBareCall = (kind: Scalar['kind']) => (): string => `t.${kind}()`
/** A zone rule that the type has by default is omitted. */
function writeTemporalCall({ kind, zone }: ScalarOf<'date' | 'time' | 'dateTime'>): string {
  const { shape } = t[kind]()
  const isDefault = shape.kind === kind && shape.zone === zone
  return `t.${kind}(${isDefault ? '' : writeOptions({ zone }).join('')})`
}
const scalarTexts: ScalarCases<string> = {
  string: ({ kind: _, ...facets }) => `t.string(${writeOptions(facets).join('')})`,
  boolean: writeBareCall('boolean'),
  int: ({ kind: _, ...facets }) => `t.int(${writeOptions(facets).join('')})`,
  long: ({ kind: _, ...facets }) => `t.long(${writeOptions(facets).join('')})`,
  decimal: ({ kind: _, digits, places, ...facets }) =>
    `t.decimal(${[digits, places, ...writeOptions(facets)].join(', ')})`,
  double: ({ kind: _, ...facets }) => `t.double(${writeOptions(facets).join('')})`,
  date: writeTemporalCall,
  time: writeTemporalCall,
  dateTime: writeTemporalCall,
  duration: writeBareCall('duration'),
  bytes: ({ kind: _, ...facets }) => `t.bytes(${writeOptions(facets).join('')})`,
  enum: ({ values }) => `t.enum(${values.map(quoteLiteral).join(', ')})`,
  id: ({ prefix }) => `t.id(${quoteLiteral(prefix)})`,
  ref: ({ resource }) => `t.ref(${quoteLiteral(resource)})`,
}

/** `read:pets` → `readPets`. */
function toCamel(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .split(' ')
    .map((word, i) => (i === 0 ? word : capitalize(word)))
    .join('')
  return name.charAt(0).toLowerCase() + name.slice(1)
}
function writeImports(body: string): string {
  const code = body.replace(/\/\*\*[\s\S]*?\*\//g, '')
  const calls = ['exchange', 'fault', 'header', 'job', 'port', 'resource', 'role', 'service'].filter(name =>
    code.includes(` ${name}(`),
  )
  const types = ['NamedType', 'RootElement', 'ValueOf', 'XmlType']
    .filter(name => code.includes(`${name}<`))
    .map(name => `type ${name}`)
  const others = [
    ...(code.includes(': readonly Grant[] =') ? ['type Grant'] : []),
    ...(/\banyone\b/.test(code) ? ['anyone'] : []),
    ...(/\bt\.[a-z]/.test(code) ? ['t'] : []),
    ...(/\bx\.[a-z]/.test(code) ? ['x'] : []),
  ]
  return `import { ${[...types, ...calls, ...others].sort((a, b) => a.replace('type ', '').localeCompare(b.replace('type ', ''))).join(', ')} } from 'diglot'`
}

function writeTextGroup(name: string, group: object | undefined): readonly string[] {
  const members = Object.entries(group ?? {}).map(([key, text]) => `${key}: ${quoteLiteral(String(text))}`)
  return members.length > 0 ? [`${name}: { ${members.join(', ')} }`] : []
}
