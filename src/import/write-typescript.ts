/**
 * An imported contract as TypeScript that a person would write: a constant and a type for each type
 * and element, in the order of their dependencies, with the comments of the document.
 */

import type { SecurityRule } from '../contract/endpoint-rule.ts'
import type { NamespaceForm } from '../contract/xml-type.ts'
import { ConstantNames } from './constant-names.ts'
import { type ImportedContract, namespaceOfContract } from './imported-contract.ts'
import { type GrantsWriter, PortPrinter } from './printer/port-printer.ts'
import { PrintedNames } from './printer/printed-names.ts'
import { SchemaPrinter } from './printer/schema-printer.ts'
import { quoteLiteral, writeHeadComment } from './typescript-text.ts'

export function writeTypescript(contract: PrintedContract, source: string): string {
  return new Printer(contract).print(source)
}

/** Ports with their types, to be placed in a file next to other declarations. */
export interface PrintedPorts {
  readonly text: string
  /** The constants of the ports. */
  readonly names: readonly string[]
}
export function writePorts(contract: PrintedContract, names: ConstantNames, writeGrants: GrantsWriter): PrintedPorts {
  return new Printer(contract, names, writeGrants).parts()
}

interface PrintedContract extends Omit<ImportedContract, 'addresses' | 'kind' | 'missing' | 'policies'> {
  /** The rules by which messages of ports prove themselves, by port name. */
  readonly rules?: ReadonlyMap<string, SecurityRule>
}

class Printer {
  readonly #contract: PrintedContract
  readonly #names: PrintedNames
  readonly #schemas: SchemaPrinter
  readonly #ports: PortPrinter

  constructor(contract: PrintedContract, names = new ConstantNames(), writeGrants: GrantsWriter = () => undefined) {
    this.#contract = contract
    this.#names = new PrintedNames(contract, names)
    this.#schemas = new SchemaPrinter(this.#names, contract.comments)
    this.#ports = new PortPrinter(this.#names, this.#schemas, contract.comments, { rules: contract.rules, writeGrants })
  }

  print(source: string): string {
    const { text: ports } = this.parts()
    const text = this.#contract.ports.length > 0 ? [ports, this.#service()].join('\n') : ports
    return [writeHeadComment(source, this.#contract.losses), this.#imports(text), '', text, ''].join('\n')
  }

  /** The declarations before the ports, and the names of the ports. */
  parts(): PrintedPorts {
    const body = [...this.#schemas.declarations(), ...this.#ports.declarations(this.#contract.ports)]
    const namespaces = this.#names.namespaces.map(({ name, form }) => writeNamespace(name, form))
    return { text: [...namespaces, ...body].join('\n'), names: this.#ports.portNames }
  }

  #imports(text: string): string {
    const code = text.replace(/\/\*\*[\s\S]*?\*\//g, '')
    const values = ['exchange', 'port', 'service', 'x'].filter(name => new RegExp(`[ (]${name}[.(]`).test(code))
    const types = ['AbstractType', 'NamedType', 'RootElement', 'ValueOf', 'XmlType'].filter(name =>
      code.includes(`${name}<`),
    )
    const names = [
      ...(this.#ports.hasCallers ? ['type Grant'] : []),
      ...(this.#contract.rules?.size ? ['type SecurityRule'] : []),
      ...types.map(name => `type ${name}`),
      ...values,
    ]
    return `import { ${names.join(', ')} } from 'diglot'`
  }

  #service(): string {
    const { ports, description } = this.#contract
    const name = (ports[0]?.names.service ?? 'imported').replace(/Service$/, '') || 'imported'
    const kebab =
      name
        .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
        .replace(/[^A-Za-z0-9]+/g, '-')
        .toLowerCase()
        .replace(/^[^a-z]+|-+$/g, '') || 'imported'
    return [
      `\nexport const ${this.#names.claim('contract', '')} = service(${quoteLiteral(kebab)}, {`,
      `  namespace: ${quoteLiteral(namespaceOfContract(this.#contract, kebab))},`,
      ...(description === undefined ? [] : [`  description: ${quoteLiteral(description)},`]),
      '  resources: [],',
      `  ports: [${this.#ports.portNames.join(', ')}],`,
      '})',
    ].join('\n')
  }
}

function writeNamespace(name: string, { uri, elements, attributes }: NamespaceForm): string {
  const options = [
    ...(elements === 'unqualified' ? ["elements: 'unqualified'"] : []),
    ...(attributes === 'qualified' ? ["attributes: 'qualified'"] : []),
  ]
  return `const ${name} = x.namespace(${quoteLiteral(uri)}${options.length > 0 ? `, { ${options.join(', ')} }` : ''})`
}
