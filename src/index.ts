/** What an application imports: the contract vocabulary, `implement` and `serve`. */
export {
  type DetailOf,
  type Fault,
  fault,
} from './contract/fault.ts'
export { type Draft, type Fields, t, type Value } from './contract/field.ts'
export { type Context, type Implementation, implement, type Progress, type Provider } from './contract/implement.ts'
export { type Job, job } from './contract/job.ts'
export { anyone, type Caller, type Grant, role } from './contract/policy.ts'
export { type DraftItem, type Item, type Representation, resource } from './contract/resource.ts'
export { type Service, service } from './contract/service.ts'
