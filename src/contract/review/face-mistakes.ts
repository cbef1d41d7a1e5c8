/** Mistakes in endpoints, header blocks and faults. */

import { type EndpointRule, endpointsOf, findRuleMistakes, type SecurityRule } from '../endpoint-rule.ts'
import { builtInFaults, declaredFaults, type Fault } from '../fault.ts'
import { mayBeLeftOut } from '../field.ts'
import { isScalarField } from '../field-json.ts'
import type { NamedHeader } from '../header.ts'
import { capitalize, matchesNcName } from '../lexical/text.ts'
import { findUnknownMembers, isMadeWith, type MembersOf } from '../member-kinds.ts'
import { listOperations } from '../operation.ts'
import type { Service } from '../service.ts'
import { asObject } from '../shape.ts'
import { fieldNameText } from './declared-names.ts'
import { findAllFieldMistakes, findFieldMistakes } from './field-mistakes.ts'

const endpointMembers: MembersOf<EndpointRule> = { version: true, style: true, soap: true, security: true }

export const securityMembers: MembersOf<SecurityRule> = {
  callers: true,
  encrypted: true,
  answers: true,
  confirmed: true,
  symmetric: true,
  attachments: true,
  suite: true,
  reference: true,
  unsent: true,
  protectTokens: true,
  timestamp: true,
  operations: true,
}

/** Paths that other pages use: no endpoint may be below them. */
const pageSegments = ['api', 'problems', 'decisions', 'health', 'metrics', 'changes', 'openapi.json', 'login', 'logout']

export function findFaceMistakes(contract: Service): string[] {
  const isServed = contract.hasRest || contract.ports.length > 0 || endpointsOf(contract).length > 0
  return isServed ? [] : ['the service has rest: false and no SOAP endpoint: remove rest, or declare endpoints']
}

export function findEndpointMistakes(contract: Service): string[] {
  const operations = listOperations(contract).map(operation => operation.name)
  const versions = Object.keys(contract.versions)
  const rules = endpointsOf(contract).map(({ path, security }) => [`endpoint ${path}`, security] as const)
  const checked = new Set<unknown>()
  return [
    ...Object.entries(contract.endpoints ?? {}).flatMap(([path, rule]) => [
      ...(/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path)
        ? []
        : [`"${path}" is not a path of an endpoint: use segments of letters, digits and "-", such as /soap/v1`]),
      ...(pageSegments.includes(path.split('/')[1] ?? '')
        ? [`the endpoint ${path} is below a path of other pages: use one such as /soap${path}`]
        : []),
      ...(rule.version === undefined || versions.includes(rule.version)
        ? []
        : [`the endpoint ${path} has the unknown version ${rule.version}: use ${versions.join(', ')}`]),
      ...findUnknownMembers(`the endpoint ${path}`, rule, endpointMembers),
      ...choiceMistakes(`the endpoint ${path}: style`, rule.style, ['document', 'rpc', 'encoded']),
      ...choiceMistakes(`the endpoint ${path}: soap`, rule.soap, ['both', '1.1', '1.2']),
    ]),
    ...rules.flatMap(([place, rule]) => {
      if (rule === undefined || rule === 'settings' || checked.has(rule)) return []
      checked.add(rule)
      const at = `${place}: security`
      const hasAttachments = () => false // only ports have
      return [
        ...findUnknownMembers(at, rule, securityMembers),
        ...findRuleMistakes(rule, at, operations, hasAttachments),
      ]
    }),
  ]
}

const choiceMistakes = <T extends string>(place: string, choice: T | undefined, choices: readonly T[]): string[] =>
  choice === undefined || choices.includes(choice) ? [] : [`${place} "${choice}" is unknown: use ${choices.join(', ')}`]

const reservedNamespaces = /^http:\/\/(?:schemas\.xmlsoap\.org|www\.w3\.org|docs\.oasis-open\.org)\//

export function findHeaderMistakes(
  contract: Service,
  { name, uri, content, operations, versions, field }: NamedHeader,
): string[] {
  const place = `header ${name}`
  const names = listOperations(contract).map(operation => operation.name)
  const isScalarContent = content !== 'xml' && isScalarField(content)
  const isBlock = content === 'xml' || asObject(content.shape) !== undefined || isScalarContent
  const marks = content === 'xml' ? [] : [content.isNullable, mayBeLeftOut(content), content.isAttribute]
  return [
    ...(fieldNameText.test(name)
      ? []
      : [`${place} is not a valid name: start with a letter, and use letters, digits and "_"`]),
    ...(/^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(uri) && !reservedNamespaces.test(uri)
      ? []
      : [`${place} has the namespace "${uri}", which is not one of the service's own: use urn:… or https://…`]),
    ...(isBlock ? [] : [`${place} is a list or a union, which no element around it holds: put it into a t.object()`]),
    ...(marks.includes(true) ? [`${place} has a mark that only fields have: leave it out, and use required`] : []),
    ...(field === undefined || (isScalarContent && isFreeHeaderField(field))
      ? []
      : [`${place} cannot be the HTTP field "${field}": give it scalar content, and the field a name of its own`]),
    ...(content === 'xml' ? [] : findFieldMistakes(contract, place, content)),
    ...(operations ?? [])
      .filter(each => !names.includes(each))
      .map(each => `${place} names the unknown operation "${each}": use ${names.join(', ')}`),
    ...(versions ?? [])
      .filter(each => !Object.hasOwn(contract.versions, each))
      .map(each => `${place} names the unknown version "${each}": use ${Object.keys(contract.versions).join(', ')}`),
  ]
}
/** Whether a header can have this HTTP field, in lower case. */
export const isFreeHeaderField = (field: string): boolean => /^[a-z][a-z0-9-]*$/.test(field) && !knownFields.has(field)
/** HTTP fields that a contract cannot give another meaning. */
const knownFields = new Set(
  'accept accept-encoding accept-language authorization cache-control connection content-encoding content-length content-location content-type cookie date etag expect expires forwarded host idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location origin prefer range retry-after set-cookie soapaction te trailer transfer-encoding upgrade vary'.split(
    ' ',
  ),
)

export function findFaultMistakes(contract: Service): string[] {
  const byName = new Map<string, Fault>()
  return declaredFaults(contract).flatMap(fault => {
    if (!isMadeWith('fault', fault))
      return [`faults names ${JSON.stringify(fault)}, which is not a fault: declare it by fault('…', { … })`]
    const declared = byName.get(fault.fault)
    byName.set(fault.fault, fault)
    return [
      ...(builtInFaults.some(each => each.fault === fault.fault)
        ? [`fault ${fault.fault} is built into Diglot: use another name`]
        : []),
      ...(matchesNcName(fault.fault)
        ? []
        : [`fault "${fault.fault}" is not a valid name in XML and in an address: write it as PaymentDeclined`]),
      ...(declared && declared !== fault ? [`fault ${fault.fault} is declared twice: share one declaration`] : []),
      ...(Number.isInteger(fault.status) && fault.status >= 400 && fault.status <= 599
        ? []
        : [
            `fault ${fault.fault} has the invalid status ${fault.status}: use 4xx for errors of the client, 5xx for errors of the service`,
          ]),
      ...(typeof fault.title === 'string' && fault.title.trim() !== ''
        ? []
        : [
            `fault ${fault.fault} has no title: give it some words for people, which both faces show when it ends a call`,
          ]),
      ...(declared ? [] : findAllFieldMistakes(contract, `fault ${fault.fault}`, fault.detail)),
      ...(declared || !contract.hasRest ? [] : findClashingMembers(fault)),
    ]
  })
}

/**
 * RFC 9457 §3.1: the members of every problem. A detail is added next to them, as extensions
 * (§3.2).
 */
const problemMembers = ['type', 'title', 'status', 'detail', 'instance']

const findClashingMembers = ({ fault, detail }: Fault): string[] =>
  problemMembers
    .filter(name => Object.hasOwn(detail, name))
    .map(
      name =>
        `fault ${fault}.${name} has the name of a member that every problem has (RFC 9457 §3.1), which would hide it by REST: give it another name, such as "fault${capitalize(name)}"`,
    )
