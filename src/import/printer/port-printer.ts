/** Ports with their exchanges, and the constants that say who may call them and how. */
import type { SecurityRule } from '../../contract/endpoint-rule.ts'
import type { ExchangeBody, Port, PortExchange } from '../../contract/exchange.ts'
import type { Grant } from '../../contract/policy.ts'
import { type AnyRootElement, BodyContent, type TypeMembers } from '../../contract/xml-type.ts'
import { quoteLiteral, writeConstant, writeDocComment, writeMemberKey } from '../typescript-text.ts'
import type { PrintedNames } from './printed-names.ts'
import type { SchemaPrinter } from './schema-printer.ts'

/** Grants as an array of constants; undefined: nothing is known about them. */
export type GrantsWriter = (grants: readonly Grant[]) => string | undefined

export interface PrintedRules {
  /** The rules by which messages of ports prove themselves, by port name. */
  readonly rules?: ReadonlyMap<string, SecurityRule> | undefined
  readonly writeGrants: GrantsWriter
}

export class PortPrinter {
  readonly #names: PrintedNames
  readonly #schemas: SchemaPrinter
  readonly #comments: ReadonlyMap<object, string>
  readonly #rules: ReadonlyMap<string, SecurityRule> | undefined
  readonly #writeGrants: GrantsWriter
  /** The constants of the ports that were printed. */
  readonly portNames: string[] = []
  /** The constant with the callers of ports whose document does not name them. */
  #callers: string | undefined

  constructor(names: PrintedNames, schemas: SchemaPrinter, comments: ReadonlyMap<object, string>, rules: PrintedRules) {
    this.#names = names
    this.#schemas = schemas
    this.#comments = comments
    this.#rules = rules.rules
    this.#writeGrants = rules.writeGrants
  }

  /** Whether a port has the callers of a constant. */
  get hasCallers(): boolean {
    return this.#callers !== undefined
  }

  declarations(ports: readonly Port[]): readonly string[] {
    const callers = ports.every(hasGrants) ? [] : [this.#declareCallers()]
    return [...callers, ...ports.map(port => this.#printPort(port))]
  }

  /** A separate declaration, so that an import keeps edits to it and writes the ports anew. */
  #declareCallers(): string {
    this.#callers = this.#names.claim('callers', '')
    return `\n/** The callers of the ports: none, until this names roles, such as role('clerk'), or anyone. */\nconst ${this.#callers}: readonly Grant[] = []`
  }

  /** A separate declaration, for the same reason. */
  #declareSecurity(port: string, name: string): { readonly text: string; readonly constant: string } | undefined {
    const rule = this.#rules?.get(port)
    if (!rule) return undefined
    const constant = this.#names.claim(`${name}Security`, '')
    const comment = `/** How messages to ${port} prove themselves, as the policies of its WSDL demand it. */`
    return {
      text: `\n${comment}\nconst ${constant}: SecurityRule | undefined = ${writeConstant(rule)}\n`,
      constant,
    }
  }

  #printPort(port: Port): string {
    const name = this.#names.claim(port.port, 'Port')
    this.portNames.push(name)
    const security = this.#declareSecurity(port.port, name)
    const exchanges = Object.entries(port.exchanges).map(
      ([key, exchange]) => `    ${writeMemberKey(key)}: ${this.#exchange(exchange)},`,
    )
    return [
      `${security?.text ?? ''}\n/** The operations of the port ${port.port}. */`,
      `export const ${name} = port(${quoteLiteral(port.port)}, {`,
      `  namespace: ${quoteLiteral(port.namespace)},`,
      `  service: ${quoteLiteral(port.names.service)},`,
      `  portType: ${quoteLiteral(port.names.portType)},`,
      ...(port.soap === 'both' ? [] : [`  soap: ${quoteLiteral(port.soap)},`]),
      ...(port.description === undefined ? [] : [`  description: ${quoteLiteral(port.description)},`]),
      ...(security ? [`  security: ${security.constant},`] : []),
      ...(hasGrants(port) ? [] : [`  allow: ${this.#callers ?? '[]'},`]),
      ...(port.types.length === 0
        ? []
        : [`  types: [${port.types.map(each => this.#schemas.eager(each, '', '')).join(', ')}],`]),
      `  exchanges: {${exchanges.length > 0 ? `\n${exchanges.join('\n')}\n  ` : ''}},`,
      '})',
    ].join('\n')
  }

  #exchange({
    style,
    action,
    addressedAs,
    input,
    output,
    faults,
    requestHeaders,
    replyHeaders,
    mandatoryHeaders,
    headerFaults,
    allow,
    isSafe,
    location,
    description,
  }: PortExchange): string {
    const roots = (all: Readonly<Record<string, AnyRootElement>>) =>
      Object.entries(all)
        .map(([key, root]) =>
          key === this.#names.of(root) ? key : `${writeMemberKey(key)}: ${this.#names.of(root) ?? 'undefined'}`,
        )
        .join(', ')
    const grants = allow.length > 0 ? this.#writeGrants(allow) : undefined
    const comment = (body: ExchangeBody) =>
      typeof body === 'string' || this.#names.has(body)
        ? ''
        : writeDocComment(this.#comments.get(body), '      ').trimStart().replace(/\n$/, '\n      ')
    const parts = [
      ...(style === 'document' ? [] : [`style: ${quoteLiteral(style)}`]),
      `action: ${quoteLiteral(action)}`,
      ...(Object.keys(addressedAs).length > 0 ? [`addressedAs: ${writeConstant(addressedAs)}`] : []),
      `${comment(input)}input: ${this.#body(input)}`,
      ...(output === undefined ? [] : [`${comment(output)}output: ${this.#body(output)}`]),
      ...(Object.keys(faults).length > 0 ? [`faults: { ${roots(faults)} }`] : []),
      ...(Object.keys(requestHeaders).length > 0 ? [`requestHeaders: { ${roots(requestHeaders)} }`] : []),
      ...(Object.keys(replyHeaders).length > 0 ? [`replyHeaders: { ${roots(replyHeaders)} }`] : []),
      ...(Object.keys(mandatoryHeaders).length > 0 ? [`mandatoryHeaders: ${writeConstant(mandatoryHeaders)}`] : []),
      ...(Object.keys(headerFaults).length > 0 ? [`headerFaults: ${writeConstant(headerFaults)}`] : []),
      ...(grants === undefined ? [] : [`allow: ${grants}`]),
      ...(location === undefined ? (isSafe ? ['safe: true'] : []) : [`location: ${quoteLiteral(location)}`]),
      ...(description === undefined ? [] : [`description: ${quoteLiteral(description)}`]),
    ]
    return `exchange({\n${parts.map(part => `      ${part},`).join('\n')}\n    })`
  }

  #body(body: ExchangeBody): string {
    if (body === 'empty') return "'empty'"
    const known = this.#names.of(body)
    if (known !== undefined) return known
    const { definition } = body.type()
    if (body instanceof BodyContent) {
      const type = this.#names.of(body.type())
      return `x.body(${type ?? (definition.kind === 'complex' ? this.#callMembers(definition.members) : '{}')})`
    }
    const members = definition.kind === 'complex' ? this.#callMembers(definition.members) : '{}'
    return `x.call(${quoteLiteral(body.name.uri)}, ${quoteLiteral(body.name.local)}, ${members})`
  }

  /** Accessors have no namespace, whatever the form of other types' elements. */
  #callMembers(members: TypeMembers): string {
    return this.#schemas.members(members, '      ', '')
  }
}

const hasGrants = ({ exchanges }: Port): boolean => Object.values(exchanges).some(({ allow }) => allow.length > 0)
