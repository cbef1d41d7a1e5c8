/** What the parts of an OpenAPI document need to know of the version that they describe. */
import { omitUndefined } from '../../base/objects.ts'
import type { Fault } from '../../contract/fault.ts'
import type { AnyField } from '../../contract/field.ts'
import { isPaged, listTakesWords, type Operation } from '../../contract/operation.ts'
import { describeField } from '../../contract/operation-texts.ts'
import type { Resource } from '../../contract/resource.ts'
import type { Service } from '../../contract/service.ts'
import type { JsonSchema } from '../json-schema.ts'
import type { PortJsonSchemas } from '../port-json-schema.ts'
import { type PreferenceName, preferenceNames } from './openapi-components.ts'
import type { OpenApiRelease, OpenApiVersion } from './openapi-releases.ts'
import type { VersionSchemas } from './openapi-schemas.ts'

/** One address and its operations. */
export interface Address {
  /** The path below the version, with `{id}` for an identifier. */
  readonly template: string
  readonly methods: ReadonlyMap<string, Operation>
  /** For a list of the items that refer to one item. */
  readonly within?: { readonly of: Resource; readonly by: string }
}
/** Facts that an OpenAPI description needs besides the contract. */
export interface OpenApiOptions {
  /** The base of `/api`: `https://api.example.org`; by default the document's own. */
  readonly address?: string
  readonly addresses: (view: Service) => readonly Address[]
  /** The media types of an operation's responses, most preferred first. */
  readonly answers: (operation: Operation, version: string) => readonly string[]
  /** Faults of a backend, by which any operation may end. Default: none. */
  readonly faultsBehind?: readonly Fault[]
  /** The OpenAPI version; default 3.1, which more tools read. */
  readonly release?: OpenApiVersion
}

export interface VersionFacts {
  readonly service: Service
  readonly version: string
  readonly options: OpenApiOptions
  readonly addresses: readonly Address[]
  readonly release: OpenApiRelease
  readonly schemas: VersionSchemas
  /** The types of ports. */
  readonly elements: PortJsonSchemas
}

/** Nothing is stored for a read or an exchange, except for a call that is answered later. */
export const keepsAnswer = (operation: Operation): boolean =>
  !operation.safe && (operation.kind !== 'exchange' || operation.exchange.later !== undefined)

/** The preferences that it honours (RFC 7240), by name. */
export function preferencesOf(operation: Operation, method: string): readonly PreferenceName[] {
  const { kind, safe } = operation
  const isStarted = kind === 'startJob' || (kind === 'exchange' && operation.exchange.later !== undefined)
  const honours: Readonly<Record<PreferenceName, boolean>> = {
    handling: method !== 'DELETE', // an unknown filter of a removal is never ignored
    count: isPaged(operation),
    return: !safe && kind !== 'remove' && kind !== 'putFile',
    'respond-async': isStarted,
    wait: isStarted || kind === 'getJob' || kind === 'cancelJob',
  }
  return preferenceNames.filter(name => honours[name])
}

/** The description of a parameter, next to its schema. */
export const describedParameter = (field: AnyField): JsonSchema => omitUndefined({ description: describeField(field) })

export const takesWords = (operation: Operation, service: Service): boolean =>
  operation.kind === 'list' && listTakesWords(service, operation.resource)
