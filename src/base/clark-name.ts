/**
 * Names in James Clark's notation: `{namespace}local`, or the local part alone. A namespace may
 * have braces of its own, as the templates of addresses do; a local part has none.
 */
export interface ClarkName {
  /** Empty for a name in no namespace. */
  readonly uri: string
  readonly local: string
}

/** Undefined where the text is no name in this notation. */
export function parseClarkName(text: string): ClarkName | undefined {
  const end = text.startsWith('{') ? text.lastIndexOf('}') : -1
  const local = text.slice(end + 1)
  return local === '' || /[{}]/.test(local) ? undefined : { uri: text.slice(1, Math.max(end, 1)), local }
}
