export type StartFailureKind = 'taken' | 'forbidden' | 'no-address' | 'key' | 'other'

/** Why a listener could not start, in a line, and what to do about it, in another. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  readonly kind: StartFailureKind
  readonly cure: string

  constructor(kind: StartFailureKind, message: string, about: { readonly cure: string; readonly cause?: unknown }) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause })
    this.kind = kind
    this.cure = about.cure
  }
}

/** What `listen(2)` and the name service say, in words. `where` is a port, an address or a path. */
export function explainStartFailure(error: NodeJS.ErrnoException, where: string, unix: boolean): StartFailure {
  const cause = error
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartFailure('taken', `${where} is in use`, {
        cause,
        cure: unix
          ? 'stop who uses it, or remove the file that a stopped one left'
          : 'stop who uses it, or choose another --port (0 picks a free one)',
      })
    case 'EACCES':
    case 'EPERM':
      return new StartFailure('forbidden', `this user may not listen on ${where}`, {
        cause,
        cure: unix ? 'choose a path in a directory that this user may write to' : 'choose a --port from 1024 up',
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAFNOSUPPORT':
      return new StartFailure('no-address', `${where} is no address of this machine`, {
        cause,
        cure: 'choose another --host: 127.0.0.1 for this machine alone, 0.0.0.0 for everybody',
      })
    default:
      return new StartFailure('other', `cannot listen on ${where}: ${error.message}`, { cause, cure: 'see the cause' })
  }
}
