/** The rules of the conventions, tried against a live service or a face in memory. */
export type { EarlierRelease, LostPromises, PublishedOpenApi, PublishedWsdl } from '../describe/index.ts'
export type { BenchOptions } from './bench.ts'
export { attackRules, checkRules, explainRule, findRule } from './catalogue.ts'
export { parseCaller } from './command.ts'
export type { CheckCaller } from './discovered-service.ts'
export { learnProfile } from './learn-profile.ts'
export { openLoopbackListener, type ProbeListener } from './loopback-listener.ts'
export { createMemoryTransport, type MemoryOptions } from './memory-transport.ts'
export {
  type Conversation,
  type ConversationLimits,
  type OctetPiece,
  type ProbeExchange,
  type ProbeReply,
  type ProbeRequest,
  type ProbeTransport,
  Unreachable,
} from './probe-message.ts'
export { type CheckProfile, type ProfileCaller, type ProfileMachine, readProfile } from './profile.ts'
export { writeBadge } from './reports/report-badge.ts'
export { writeHtmlReport } from './reports/report-html.ts'
export { findNewFailures, readBaseline, writeJsonReport } from './reports/report-json.ts'
export { writeJunitReport } from './reports/report-junit.ts'
export { writeSarifReport } from './reports/report-sarif.ts'
export { writeTerminalReport } from './reports/report-terminal.ts'
export type { CheckReport, CheckRule, RuleVerdict } from './rule.ts'
export { type CheckOptions, runCheck } from './run-check.ts'
export { type EarlierRun, JournalMismatch, type MadeThing, type RunIdentity, RunJournal } from './run-journal.ts'
export { openSocketTransport, type SocketOptions } from './socket-transport.ts'
export type { Finding, RuleStatus } from './verdict.ts'
