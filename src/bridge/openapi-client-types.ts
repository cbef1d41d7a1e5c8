/** The types of the client for an OpenAPI document: the input and output of each operation. */
import type { BodyValue, Exchanges, PortExchange } from '../contract/exchange.ts'
import type { OpenApiError } from './openapi-error.ts'

/** A contract with one port, as `diglot import --operations` writes it. */
export interface OpenApiPorts {
  readonly ports: readonly { readonly exchanges: Exchanges }[]
}

/** The options of one call. */
export interface OpenApiCallOptions {
  /** Ends the call with its reason; the service may have carried out the call by then. */
  readonly signal?: AbortSignal
}

/** A declared error of an operation, as it was caught. */
export type CaughtProblem<N extends string, D> = OpenApiError & { readonly fault: N; readonly detail: D }

type OperationInput<E extends PortExchange> = BodyValue<E['input']>

/** One operation of a document. */
export interface OpenApiCall<E extends PortExchange> {
  /** Calls the operation, and resolves with the content of the response. */
  (
    ...given: {} extends OperationInput<E>
      ? [input?: OperationInput<E>, options?: OpenApiCallOptions]
      : [input: OperationInput<E>, options?: OpenApiCallOptions]
  ): Promise<BodyValue<E['output']>>
  /** Whether a call ended with this declared error, whose detail then has its type. */
  isFault<N extends keyof E['faults'] & string>(
    thrown: unknown,
    name: N,
  ): thrown is CaughtProblem<N, BodyValue<E['faults'][N]>>
}

/** Each operation of a document by its name. */
export type OpenApiClient<E extends Exchanges> = { readonly [N in keyof E]: OpenApiCall<E[N]> }
