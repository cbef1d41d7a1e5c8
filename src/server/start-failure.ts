/** Explains why a listener cannot start, and what to do. */
export type StartFailureKind = 'taken' | 'forbidden' | 'no-address' | 'key' | 'other'

/** The message is one line, the cure another. */
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

/**
 * Explains the errors of `listen(2)` and of the name service.
 * @param where a port, an address or a path
 */
export function explainStartFailure(error: NodeJS.ErrnoException, where: string, unix: boolean): StartFailure {
  const cause = error
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartFailure('taken', `${where} is in use`, {
        cause,
        cure: unix
          ? 'stop the process that uses it, or remove the file if that process has ended'
          : 'stop the process that uses it, or choose another --port (0 picks a free one)',
      })
    case 'EACCES':
    case 'EPERM':
      return new StartFailure('forbidden', `this user has no permission to listen on ${where}`, {
        cause,
        cure: unix ? 'choose a path in a directory that this user may write to' : 'choose a --port from 1024 up',
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAFNOSUPPORT':
      return new StartFailure('no-address', `${where} is not an address of this machine`, {
        cause,
        cure: 'choose another --host: 127.0.0.1 for this machine only, 0.0.0.0 for all',
      })
    default:
      return new StartFailure('other', `cannot listen on ${where}: ${error.message}`, { cause, cure: 'see the cause' })
  }
}
