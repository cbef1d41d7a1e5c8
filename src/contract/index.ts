/** The vocabulary of contracts alone: what browsers load of `diglot`. */
export { type DetailOf, type Fault, fault } from './fault.ts'
export { type Draft, type Fields, t, type Value } from './field.ts'
export { type Header, header } from './header.ts'
export {
  type Context,
  type Implementation,
  type ItemList,
  implement,
  type JobHandlerContext,
  type Progress,
  type Provider,
} from './implement.ts'
export { type Job, job } from './job.ts'
export { anyone, type Caller, type Grant, role } from './policy.ts'
export { type DraftItem, type Item, type Representation, resource } from './resource.ts'
export { type Service, service } from './service.ts'
