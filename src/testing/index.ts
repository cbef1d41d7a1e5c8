/** A service in memory for the tests of an application: callers, a clock, clients, jobs. */
export { createMock, type MockOptions } from '../mock/create-mock.ts'
export {
  type MockServer,
  type MockServerOptions,
  type OpenApiMockServer,
  type OpenApiMockServerOptions,
  startMock,
  startOpenApiMock,
} from '../mock/start-mock.ts'
export { type CheckServiceOptions, type CheckServiceReport, checkService } from './check-service.ts'
export { createFetchTransport, createMemoryFetch, type MemoryFetchOptions } from './memory-fetch.ts'
export { TestClock, type TimeSpan } from './test-clock.ts'
export { startTestService, type TestCaller, type TestService, type TestServiceOptions } from './test-service.ts'
