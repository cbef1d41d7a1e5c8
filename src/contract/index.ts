/** Only the vocabulary of contracts: what browsers load of `diglot`. */
export type { BridgeResources, ResourceDescription } from './bridge-resources.ts'
export type { Context, HandlerLog, ItemList, JobHandlerContext } from './context.ts'
export type { EndpointRule, SecurityRule } from './endpoint-rule.ts'
export { type ExchangeBody, exchange, type Port, type PortExchange, port } from './exchange.ts'
export { type DetailOf, type Fault, fault } from './fault.ts'
export { type AnyField, type Draft, type Field, type Fields, t, type Value } from './field.ts'
export { type Header, header } from './header.ts'
export {
  type Handlers,
  type Implementation,
  implement,
  type Progress,
  type Provided,
  type Provider,
  type ProviderContext,
  type ProviderFilter,
  type ProviderPage,
  type ProviderPlace,
  type ProviderQuery,
} from './implement.ts'
export { type Job, job } from './job.ts'
export { anyone, type Caller, type Circumstance, type Grant, type GrantOf, role } from './policy.ts'
export type { ChangeRefusal, ExchangeContext, PortHandlers, TransactionContext } from './port-handlers.ts'
export { type Reshape, reshape } from './reshape.ts'
export { type Action, type DraftItem, type Item, type Representation, type Resource, resource } from './resource.ts'
export { type Retype, retype } from './retype.ts'
export { type Service, service } from './service.ts'
export {
  type ContentOf,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
  toStandardSchema,
} from './standard-schema.ts'
export {
  type AbstractType,
  type AnyRootElement,
  type BodyContent,
  type NamedType,
  type RootElement,
  type ValueOf,
  type XmlType,
  x,
} from './xml-type.ts'
