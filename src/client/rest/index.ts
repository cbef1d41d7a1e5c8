/** The REST client alone, as browsers load it: nothing here needs Node. */
export { Busy, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../../contract/fault.ts'
export type { Flat } from '../contract-types.ts'
export type { ClientCredentials } from '../credentials.ts'
export {
  AnswerError,
  CallError,
  ConnectionError,
  type FailureReason,
  FaultError,
  type Faulted,
  InputError,
  JobError,
  NotOfferedError,
  ProblemError,
} from '../errors.ts'
export type { DownloadedFile, ResultPage, Results } from '../results.ts'
export type {
  AwaitOptions,
  BulkRemoval,
  ChangeOptions,
  JobStatus,
  RequestOptions,
  SentOctets,
  StartedJob,
  StoppableJob,
} from '../surface-types.ts'
export { createRestClient, type RestClient } from './rest-client.ts'
export type { RestClientOptions } from './rest-options.ts'
