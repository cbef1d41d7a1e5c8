/**
 * Name constraints along a path (RFC 5280 §4.2.1.10, §6.1.3 b, c, §6.1.4 g), critical or not. What
 * always holds, by number:
 *  (1) For every issuer above that permits subtrees of a name's form, the name is within one of
 *      them; and it is within no excluded subtree.
 *  (2) A constraint on a form that this code does not compare refuses every name of that form.
 *  (3) The work along one path is bounded by `comparisonsMax`.
 */

import type { Certificate } from './certificate.ts'
import type { NameConstraints } from './certificate-extensions.ts'
import { isNameWithin } from './distinguished-name.ts'
import type { GeneralName } from './general-name.ts'

const comparisonsMax = 250_000
/** otherName of RFC 8398: a mailbox that constraints on e-mail addresses would miss. */
const smtpUtf8Mailbox = Buffer.of(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x08, 0x09)

export class NameConstraintState {
  readonly #above: NameConstraints[] = []
  #comparisons = 0

  /** §6.1.4 g. */
  add(constraints: NameConstraints | undefined): void {
    if (constraints) this.#above.push(constraints)
  }

  /** §6.1.3 b, c. @returns why a name of this certificate is refused */
  check(certificate: Certificate): string | undefined {
    if (this.#above.length === 0) return undefined
    for (const name of listNames(certificate)) {
      const problem = this.#checkName(name)
      if (problem) return problem
    }
    return undefined
  }

  #checkName(name: GeneralName): string | undefined {
    for (const { permitted, excluded } of this.#above) {
      const permittedOfForm = permitted.filter(each => isSameForm(each, name))
      const excludedOfForm = excluded.filter(each => isSameForm(each, name))
      this.#comparisons += permitted.length + excluded.length
      if (this.#comparisons > comparisonsMax) return 'too many names and constraints'
      if (permittedOfForm.length + excludedOfForm.length > 0 && !isComparable(name))
        return `${describeName(name)} cannot be compared with the name constraints`
      if (excludedOfForm.some(base => isExcluded(name, base)))
        return `${describeName(name)} is excluded by name constraints`
      if (permittedOfForm.length > 0 && !permittedOfForm.some(base => isWithin(name, base)))
        return `${describeName(name)} is outside of the permitted names`
    }
    return undefined
  }
}

/** The names that constraints apply to (§4.2.1.10). */
function listNames({ subject, emailAddresses, extensions }: Certificate): GeneralName[] {
  const names: GeneralName[] = subject.length > 0 ? [{ kind: 'directory', value: subject }] : []
  const { alternativeNames } = extensions
  if (!alternativeNames) names.push(...emailAddresses.map(value => ({ kind: 'email' as const, value })))
  return [...names, ...(alternativeNames ?? [])]
}

const isMailbox = (name: GeneralName): boolean => name.kind === 'other' && name.value.includes(smtpUtf8Mailbox)

function isSameForm(base: GeneralName, name: GeneralName): boolean {
  if (base.kind === 'email' && isMailbox(name)) return true
  return base.kind === 'other' ? name.kind === 'other' && name.tag === base.tag : base.kind === name.kind
}

function isComparable(name: GeneralName): boolean {
  if (name.kind === 'uri') return findUriHost(name.value) !== undefined
  if (name.kind === 'email') return /^[^@]+@[^@]+$/.test(name.value)
  return name.kind !== 'other'
}

function isWithin(name: GeneralName, base: GeneralName): boolean {
  if (name.kind === 'directory' && base.kind === 'directory') return isNameWithin(name.value, base.value)
  if (name.kind === 'ip' && base.kind === 'ip') return isAddressWithin(name.value, base.value)
  if (name.kind === 'dns' && base.kind === 'dns') return isDomainWithin(foldHost(name.value), foldHost(base.value))
  if (name.kind === 'email' && base.kind === 'email') return isMailWithin(name.value, base.value)
  if (name.kind === 'uri' && base.kind === 'uri')
    return isHostWithin(findUriHost(name.value) ?? '', foldHost(base.value))
  return false
}

/** A wildcard is excluded if any name that it matches is. */
function isExcluded(name: GeneralName, base: GeneralName): boolean {
  if (name.kind === 'dns' && base.kind === 'dns' && name.value.startsWith('*.'))
    return isWithin(name, base) || foldHost(base.value).endsWith(foldHost(name.value.slice(1)))
  return isWithin(name, base)
}

const foldHost = (host: string): string => host.toLowerCase().replace(/\.$/, '')

/** dNSName: the domain and its subdomains; with a leading dot, only the subdomains. */
const isDomainWithin = (name: string, base: string): boolean =>
  base === '' || name === base || name.endsWith(base.startsWith('.') ? base : `.${base}`)

/** rfc822Name and URI: only that host; with a leading dot, every host below it. */
const isHostWithin = (host: string, base: string): boolean =>
  base.startsWith('.') ? host.length > base.length && host.endsWith(base) : host === base

/** rfc822Name: one mailbox, all mailboxes of a host, or those of all hosts of a domain. */
function isMailWithin(name: string, base: string): boolean {
  const at = name.indexOf('@')
  const host = foldHost(name.slice(at + 1))
  const baseAt = base.indexOf('@')
  if (baseAt < 0) return isHostWithin(host, foldHost(base))
  return name.slice(0, at) === base.slice(0, baseAt) && host === foldHost(base.slice(baseAt + 1))
}

/** The host of a URI if it is a name: no IP address (§4.2.1.10), and no encoded characters. */
function findUriHost(uri: string): string | undefined {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]*)/i.exec(uri)?.[1]
  const host = authority?.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
  return host && /^[a-z0-9._-]+$/i.test(host) && !/^[0-9.]+$/.test(host) ? foldHost(host) : undefined
}

/** iPAddress: an address, then a mask of the same length. */
function isAddressWithin(address: Buffer, base: Buffer): boolean {
  if (base.length !== 2 * address.length) return false
  return address.every((octet, at) => {
    const mask = base[address.length + at]!
    return (octet & mask) === (base[at]! & mask)
  })
}

function describeName(name: GeneralName): string {
  if (name.kind === 'directory') return 'its subject or directory name'
  return name.kind === 'ip' || name.kind === 'other'
    ? `a name of the kind ${name.kind}`
    : `${name.kind}:${JSON.stringify(name.value)}`
}
