/** What h2spec says of HTTP/2 here: `h2spec.peer.ts` holds it, docs/check-others.md shows it. */

export interface H2specFailure {
  /** Section of RFC 7540, by which h2spec numbers its tests, and the number of the test. */
  readonly test: string
  readonly sends: string
  readonly why: string
}

/** A bare server of `node:http2` fails these, too: they are of nghttp2, which Node has in itself. */
export const failuresOfNode: readonly H2specFailure[] = [
  { test: '5.1/8', sends: 'DATA after RST_STREAM', why: 'discarded, as RFC 9113 §5.1 lets a closed stream do' },
  { test: '5.1/9', sends: 'HEADERS after RST_STREAM', why: 'discarded, or answered where the reset was too late' },
  { test: '5.1/11', sends: 'DATA on a closed stream', why: 'discarded (RFC 9113 §5.1)' },
  { test: '5.1/12', sends: 'HEADERS on a closed stream', why: 'discarded (RFC 9113 §5.1)' },
  {
    test: '5.1.1/2',
    sends: 'a stream identifier that is smaller than the last',
    why: 'that stream is closed (RFC 9113 §5.1.1): discarded, the other is answered',
  },
  { test: '5.3.1/2', sends: 'PRIORITY that depends on itself', why: 'priorities are not read (RFC 9113 §5.3.2)' },
  { test: '6.3/1', sends: 'PRIORITY on stream 0', why: 'priorities are not read; RFC 9113 §6.3 asks for an error' },
  { test: '6.7/2', sends: 'PING with ACK that answers nothing', why: 'not answered; the connection is closed' },
  {
    test: '6.9.1/3',
    sends: 'WINDOW_UPDATE beyond 2^31-1 on a stream',
    why: 'the connection is closed, where RFC 9113 §6.9.1 asks for the stream alone',
  },
]

export const ownFailures: readonly H2specFailure[] = [
  {
    test: '3.5/2',
    sends: 'an invalid preface',
    why: 'one port speaks both versions: it is answered 400 by HTTP/1.1, and closed',
  },
]

/** A response that is quicker than the next frame has closed the stream: then as 5.1/11 and 5.1/12. */
export const failuresOfTiming: readonly H2specFailure[] = [
  { test: '5.1/5', sends: 'DATA on a half-closed stream', why: 'at times: the response has closed it before' },
  { test: '5.1/6', sends: 'HEADERS on a half-closed stream', why: 'at times: the response has closed it before' },
  { test: '6.1/2', sends: 'DATA on a stream that is not open', why: 'at times: the response has closed it before' },
]
