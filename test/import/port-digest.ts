import type { Port } from '../../src/contract/exchange.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  BodyContent,
  type NamespaceForm,
  type TypeMembers,
} from '../../src/contract/xml-type.ts'
/** All that the messages of a port depend on, as text: names, namespaces, order, types. Keys of groups are not on the wire. */
export function digestPort(port: Port): string {
  const seen = new Map<unknown, string>()
  const out: string[] = []
  const typeRef = (t: AnyXmlType, form: NamespaceForm): string => {
    const d = t.definition
    if (d.kind === 'builtIn') return d.name
    if (d.kind === 'derivable') {
      const ref = typeRef(d.type, form)
      const ds = d
        .derived()
        .map(x => typeRef(x, form))
        .sort()
      return `${ref}+(${ds.join()})`
    }
    const name = d.name ? `{${d.name.uri}}${d.name.local}` : undefined
    if (name) {
      if (!seen.has(name)) {
        seen.set(name, '')
        out.push(`${name} = ${body(t, form)}`)
      }
      return name
    }
    return body(t, form)
  }
  const body = (t: AnyXmlType, form: NamespaceForm): string => {
    const d = t.definition
    switch (d.kind) {
      case 'complex': {
        const f = d.form ?? form
        return `{${d.isAbstract ? 'abstract ' : ''}${d.isUnordered ? 'all ' : ''}${d.base ? `${d.base.by} ${typeRef(d.base.type, f)} ` : ''}${members(d.members, f, !d.isUnordered)}}`
      }
      case 'array':
        return `[${d.dimensions} ${typeRef(d.item(), form)}]`
      case 'restriction':
        return `(${typeRef(d.of, form)} ${JSON.stringify(d.facets, Object.keys(d.facets).sort())})`
      case 'list':
        return `list ${typeRef(d.item, form)}`
      case 'union':
        return `union ${d.of.map(x => typeRef(x, form)).join('|')}`
      default:
        return '?'
    }
  }
  const members = (m: TypeMembers, f: NamespaceForm, isInSequence = false): string => {
    const e = Object.entries(m)
    return [
      ...e.filter(([, x]) => x.particle.kind !== 'attribute').map(([k, x]) => member(k, x, f, isInSequence)),
      ...e
        .filter(([, x]) => x.particle.kind === 'attribute')
        .map(([k, x]) => member(k, x, f))
        .sort(),
    ].join('; ')
  }
  const member = (k: string, { particle: p, marks: k2 }: AnyMember, f: NamespaceForm, isInSequence = false): string => {
    const occ = `${k2.min}..${k2.max}${k2.isNillable ? ' nil' : ''}${k2.initial === undefined ? '' : ` =${k2.initial}${k2.isFixed}`}`
    if (k2.attached) return `${k}: attached ${k2.name ?? k} ${JSON.stringify(k2.attached)} ${occ}`
    switch (p.kind) {
      case 'element': {
        const uri = k2.uri ?? (f.elements === 'qualified' ? f.uri : '')
        const name = `<{${uri}}${k2.name ?? k}>`
        if (uri === '' || uri === f.uri) return `${k}: ${name} ${typeRef(p.type(), f)} ${occ}`
        // A schema can say it by a reference alone.
        const foreign = { name: { uri, local: k2.name ?? k }, type: p.type, form: f, isNillable: k2.isNillable }
        return `${k}: ${name} ${root(foreign)} ${occ.replace(' nil', '')}`
      }
      case 'reference': {
        const r = p.to()
        return `${k}: <{${r.name.uri}}${r.name.local}> ${root(r)} ${occ}`
      }
      case 'attribute':
        return `${k}: @{${k2.uri ?? (f.attributes === 'qualified' ? f.uri : '')}}${k2.name ?? k} ${typeRef(p.type, f)} ${occ}`
      case 'text':
        return `${k}: text ${typeRef(p.type, f)}`
      case 'sequence':
        if (isInSequence && k2.min === 1 && k2.max === 1) return members(p.members, f, true)
        return `sequence(${members(p.members, f, true)}) ${occ}`
      case 'choice':
        return `${p.kind}(${members(p.members, f)}) ${occ}`
      case 'any':
        return `any ${JSON.stringify(p)} ${occ}`
      default:
        return `anyAttr ${JSON.stringify(p)}`
    }
  }
  const root = (r: Pick<AnyRootElement, 'name' | 'type' | 'form' | 'isNillable'> & { isPart?: boolean }): string => {
    const name = `${r.isPart ? 'part' : 'element'} {${r.name.uri}}${r.name.local}`
    if (!seen.has(name)) {
      seen.set(name, '')
      out.push(`${name} = ${typeRef(r.type(), r.form)}${r.isNillable ? ' nil' : ''}`)
    }
    return name
  }
  /** A type that a part alone names may have any name. */
  const content = (b: BodyContent<unknown>): string => {
    const { definition } = b.type()
    const isOwn = definition.kind === 'complex' && (!definition.name || /Body$/.test(definition.name.local))
    return isOwn ? body(b.type(), b.form) : typeRef(b.type(), b.form)
  }
  const bodyOf = (b: unknown, style: string) =>
    b === undefined || b === 'empty'
      ? String(b)
      : b instanceof BodyContent
        ? `content ${content(b)}`
        : style === 'document'
          ? root(b as AnyRootElement)
          : `${(b as AnyRootElement).name.uri} ${(b as AnyRootElement).name.local} ${typeRef((b as AnyRootElement).type(), { uri: '', elements: 'unqualified', attributes: 'unqualified' })}`
  const heads = Object.entries(port.exchanges).map(
    ([n, e]) =>
      `${n} ${e.style} ${e.action} in ${bodyOf(e.input, e.style)} out ${bodyOf(e.output, e.style)} faults ${Object.entries(e.faults).map(([k, v]) => k + root(v))} heads ${Object.entries(e.requestHeaders).map(([k, v]) => k + root(v))} ${Object.entries(e.replyHeaders).map(([k, v]) => k + root(v))} about ${JSON.stringify(e.headerFaults)}`,
  )
  return [port.namespace, port.soap, JSON.stringify(port.names), ...heads, ...out.sort()].join('\n')
}
