/** The requests of HTTP that ask for an operation. */
import type { Operation } from '../contract/operation.ts'
import type { Routes } from '../rest/route.ts'

export interface RequestLine {
  readonly method: string
  /** The path after the version. */
  readonly template: string
  /** It lists the items that refer to one. */
  readonly isWithin: boolean
}

/** A single resource is made by the PUT that replaces it. */
export function findRequestLines({ all }: Routes, operation: Operation): readonly RequestLine[] {
  const linesOf = (isMeant: (each: Operation) => boolean): readonly RequestLine[] =>
    all.flatMap(({ template, methods, within }) =>
      [...methods]
        .filter(([, each]) => isMeant(each))
        .map(([method]) => ({ method, template, isWithin: within !== undefined })),
    )
  const found = linesOf(each => each.name === operation.name)
  if (found.length > 0 || operation.kind !== 'create' || !operation.resource.isSingle) return found
  const { name } = operation.resource
  return linesOf(each => each.kind === 'replace' && each.resource.name === name)
}
