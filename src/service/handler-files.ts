/**
 * Files of items, as handlers read and store them. What always holds, by number:
 *  (1) A file that a handler stores passes the same checks as a client's, except the policy: part,
 *      media type, length, `receiving` and the audit. It changes nothing in its item.
 *  (2) Its octets are part of the transaction: they are stored with the call, or not at all.
 */
import type { GivenFile, ItemFile } from '../contract/context.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { File, Resource } from '../contract/resource.ts'
import { collectOctets, inMemoryFile, pieceOctets } from './file-content.ts'
import type { ContextFacts } from './handler-facts.ts'
import { endByProblems, type ItemChange } from './item-changes.ts'
import type { FileOctets, Snapshot, StoredFile, StoreWriter } from './store.ts'

/** A name that the contract does not have is a mistake, not an absent file. */
export function requireFilePart({ operation }: ContextFacts, { name, files }: Resource, part: unknown): File {
  const file = typeof part === 'string' && Object.hasOwn(files, part) ? files[part] : undefined
  if (file) return file
  const names = Object.keys(files).join(', ')
  throw new Error(
    `${operation}: ${String(part)} is not a file of ${name}: ${names === '' ? 'declare it in the contract' : `name one of ${names}`}`,
  )
}

export const describeFile = ({ mediaType, modified, octets }: StoredFile): ItemFile => ({
  mediaType,
  length: octets.length,
  modified: new Date(modified).toISOString(),
  octets: () => collectOctets(octets),
  read: () => octets.read(0, octets.length),
})

/** (1) */
export async function putOwnFile(
  change: ItemChange,
  resource: Resource,
  item: Snapshot,
  part: string,
  file: GivenFile,
): Promise<Snapshot> {
  const { about, writer, handlers } = change
  requireFittingFile(change, resource, part, file)
  const { mediaType, octets } = file
  const { length, start } = inMemoryFile(octets)
  await handlers.receiving?.(change.context(), item.value, { part, mediaType, length, start })
  await writer.putFile(
    resource.name,
    item.id,
    part,
    { mediaType, octets: await stageOwn(about, writer, octets) },
    about.now,
  )
  return item
}

/**
 * Breaking the contract is a bug in the handler; if the content comes from a message, the caller is
 * told.
 */
function requireFittingFile(change: ItemChange, resource: Resource, part: string, file: GivenFile): void {
  const { mediaTypes, max } = requireFilePart(change.about, resource, part)
  const { mediaType, octets } = file
  if (!(octets instanceof Uint8Array))
    throw new Error(`${change.about.operation}: ${resource.name}.${part} is given no octets: give a Uint8Array`)
  const problems: FieldProblem[] = []
  if (octets.length > max)
    problems.push({
      path: ['octets'],
      code: 'maxLength',
      detail: `must have at most ${max} octets: it has ${octets.length}`,
    })
  if (!mediaTypes.includes(mediaType))
    problems.push({
      path: ['mediaType'],
      code: 'enum',
      detail: `must be ${mediaTypes.join(' or ')}: it is ${mediaType}`,
    })
  endByProblems(change, `${resource.name}.${part}`, problems)
}

/** (2) */
async function stageOwn(about: ContextFacts, writer: StoreWriter, octets: Uint8Array): Promise<FileOctets> {
  if (octets.length <= pieceOctets) return inMemoryFile(octets)
  const name = about.id('file')
  for (let at = 0; at < octets.length; at += pieceOctets)
    await writer.stage(name, at / pieceOctets, [octets.subarray(at, at + pieceOctets)], about.now)
  return { length: octets.length, inMemory: undefined, name }
}
