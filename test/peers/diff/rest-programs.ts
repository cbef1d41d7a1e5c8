/** What programs with the client of the old release do at an operation, by the title of the change. */
export interface OperationProgram {
  readonly q?: string
  /** The media type of what is sent, and of what is asked for. */
  readonly type?: string
  readonly accept?: string
  readonly isSigned?: boolean
  /** What the service answers with, and by which release alone. */
  readonly status?: number
}

const call: OperationProgram = {}
export const operationPrograms: Readonly<Record<string, readonly OperationProgram[]>> = {
  'a parameter comes': [call],
  'a required parameter comes': [call],
  'a parameter goes': [call, { q: 'x' }],
  'a parameter becomes required': [call, { q: 'x' }],
  'a parameter becomes optional': [{ q: 'x' }, { q: '' }],
  'a parameter must be shorter': [call, { q: 'xxx' }, { q: 'xxxx' }],
  'credentials are demanded': [call, { isSigned: true }],
  'another way to sign in comes': [{ isSigned: true }],
  'an error comes': [call, { status: 409 }],
  'an error goes': [call],
  'another success comes': [call, { status: 202 }],
  'a media type of the answer goes': [call, { accept: 'text/csv' }],
  'a media type of the answer comes': [call],
  'a media type of the content goes': [call, { type: 'application/xml' }],
  'a media type of the content comes': [call],
  'a field of the answer goes': [call],
}
