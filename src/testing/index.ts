/** A service in memory for the tests of an application: callers, a clock, clients, jobs. */
export { createFetchTransport, createMemoryFetch, type MemoryFetchOptions } from './memory-fetch.ts'
export { TestClock, type TimeSpan } from './test-clock.ts'
export { startTestService, type TestCaller, type TestService, type TestServiceOptions } from './test-service.ts'
