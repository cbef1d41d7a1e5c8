/** Paths as frameworks write them: some end with a slash. */

/** `/notes/7` of `/notes`; of `/notes/`, as some frameworks write addresses, `/notes/7/`. */
export const pathBelow = (path: string, segment: string): string =>
  path.endsWith('/') ? `${path}${segment}/` : `${path}/${segment}`

export const lastSegmentOf = (path: string): string => path.replace(/\/$/, '').split('/').at(-1) ?? ''

export const isBelowPath = (path: string, above: string): boolean =>
  path !== above && path.startsWith(above.endsWith('/') ? above : `${above}/`)
