/**
 * Seeds an empty store with people and items, once, even if they are removed later. What it guards:
 *  (1) The seed has passed the checks for content from outside: fields, identifiers, states and
 *      references. Otherwise nothing is seeded, and the start ends.
 */
import { messageOf } from '../../base/attempt.ts'
import { ownMember } from '../../base/objects.ts'
import { storedFieldsOf } from '../../contract/computed-fields.ts'
import { fillDefaults } from '../../contract/default-values.ts'
import type { Implementation, Person, SeededFile, SeededParts, Values } from '../../contract/implement.ts'
import { type Resource, singleId } from '../../contract/resource.ts'
import { checkValue, findReferences } from '../../contract/typed-value.ts'
import type { LocalKey } from '../../identity/local-key.ts'
import { preparePeople } from '../../identity/person-record.ts'
import type { Store } from '../../service/store.ts'
import { packTyped } from '../../service/typed-json.ts'

/** Thrown at start: all mistakes, one per line. */
export class SeedMistakes extends Error {
  override readonly name = 'SeedMistakes'
}

export interface SeedOptions {
  /** Leaves out the seeded people, and the time to hash their passwords. */
  readonly withoutPeople?: boolean
}

/** Whether this service, or another instance of it, has used the store before. */
export const hasBeenSeeded = async ({ contract }: Implementation, store: Store): Promise<boolean> =>
  (await store.read(reader => reader.recall('seed', contract.service))) !== undefined

export async function seedStore(
  app: Implementation,
  store: Store,
  key: LocalKey,
  now: number,
  { withoutPeople = false }: SeedOptions = {},
): Promise<void> {
  if (await hasBeenSeeded(app, store)) return
  if (await hasItems(app, store)) {
    // The store belongs to a service that had another name, or was never seeded: it is not empty.
    await store.write(writer => writer.remember('seed', app.contract.service, seeded, now))
    return
  }
  const { people = [], items: given = {}, files = {} } = makeSeed(app)
  const items = fillItems(app, given)
  const mistakes = [
    ...findPeopleMistakes(people),
    ...findItemMistakes(app, items),
    ...findFileMistakes(app, items, files),
  ]
  if (mistakes.length > 0) throw new SeedMistakes(mistakes.join('\n'))
  const enrol = await preparePeople(key, withoutPeople ? [] : people)
  await store.write(async writer => {
    if (!(await writer.remember('seed', app.contract.service, seeded, now))) return
    await enrol(writer, now)
    for (const resource of storedResources(app))
      for (const value of ownMember(items, resource.name) ?? [])
        await writer.put(resource.name, String(value['id']), value, {}, undefined, now)
    for (const { resource, id, part, file } of listFiles(files)) {
      const inMemory = seededOctets(file)
      const octets = { inMemory, length: inMemory.length, name: undefined }
      await writer.putFile(resource, id, part, { mediaType: file.mediaType, octets }, now)
    }
  })
}

interface ListedFile {
  readonly resource: string
  readonly id: string
  readonly part: string
  readonly file: SeededFile
}
const listFiles = (files: SeededParts): readonly ListedFile[] =>
  Object.entries(files).flatMap(([resource, items]) =>
    Object.entries(items).flatMap(([id, parts]) =>
      Object.entries(parts).map(([part, file]) => ({ resource, id, part, file })),
    ),
  )
const seededOctets = ({ bytes }: SeededFile): Uint8Array => (typeof bytes === 'string' ? Buffer.from(bytes) : bytes)

const seeded = { value: 'done', expires: 8.64e15 }

const hasItems = (app: Implementation, store: Store): Promise<boolean> | boolean =>
  store.read(async reader => {
    for (const { name } of storedResources(app)) if (await reader.has(name, [])) return true
    return false
  })

const storedResources = ({ contract, handlers }: Implementation): Resource[] =>
  contract.resources.filter(resource => !handlers[resource.name]?.keep)

type SeedItems = Readonly<Record<string, readonly Values[]>>

const fillItems = ({ contract }: Implementation, items: SeedItems): SeedItems =>
  Object.fromEntries(
    Object.entries(items).map(([name, values]) => {
      const fields = contract.resources.find(each => each.name === name)?.fields ?? {}
      return [name, values.map(value => fillDefaults(fields, value))]
    }),
  )

/** Lines for one resource: a generated seed repeats its mistakes. */
const linesMax = 10

/** (1) */
function findItemMistakes(app: Implementation, items: SeedItems): string[] {
  const resources = storedResources(app)
  const known = new Map(
    resources.map(({ name }) => [name, new Set((ownMember(items, name) ?? []).map(each => each['id']))]),
  )
  return [
    ...Object.keys(items)
      .filter(name => !known.has(name))
      .map(
        name => `the seed has items of "${name}", which is not a stored resource: use ${[...known.keys()].join(', ')}`,
      ),
    ...resources.flatMap(resource => findResourceMistakes(app, resource, ownMember(items, resource.name) ?? [], known)),
  ]
}

function findResourceMistakes(
  app: Implementation,
  resource: Resource,
  values: readonly Values[],
  known: ReadonlyMap<string, ReadonlySet<unknown>>,
): string[] {
  const { name, fields } = resource
  const external = (resource: string): boolean => app.handlers[resource]?.keep !== undefined
  const seen = new Set<unknown>()
  const lines: string[] = []
  if (resource.isSingle && values.some(each => each['id'] !== singleId))
    return [`the seed of ${name} is a list, but ${name} is a single resource: write its one item without brackets`]
  for (const value of values) {
    const place = `the seed of ${name} ${String(value['id'] ?? '(without id)')}`
    const problems = checkValue(storedFieldsOf(resource), value)
    for (const { path, detail } of problems) lines.push(`${place}: ${path.join('.')} ${detail}: correct the seed`)
    if (seen.has(value['id'])) lines.push(`${place} occurs twice: give one of them another id`)
    seen.add(value['id'])
    // Only a value without problems has the shape in which references can be found.
    for (const { resource, id, path } of problems.length > 0 ? [] : findReferences(fields, value))
      if (!external(resource) && !known.get(resource)?.has(id))
        lines.push(`${place}: ${path.join('.')} refers to ${id}, which does not exist in ${resource}: seed it, too`)
  }
  lines.push(...findTakenKeys(resource, values))
  return lines.length > linesMax
    ? [...lines.slice(0, linesMax), `${lines.length - linesMax} more mistakes in the seed of ${name}`]
    : lines
}

/** (1) */
function findFileMistakes(app: Implementation, items: SeedItems, files: SeededParts): string[] {
  const resources = new Map(storedResources(app).map(each => [each.name, each]))
  return listFiles(files).flatMap(({ resource: name, id, part, file }) => {
    const place = `the seed of ${name} ${id}: ${part}`
    const declared = ownMember(resources.get(name)?.files ?? {}, part)
    if (!declared) return [`${place} is not a file of a stored resource: declare it in the contract`]
    const isThere = ownMember(items, name)?.some(each => each['id'] === id)
    const length =
      file.bytes instanceof Uint8Array || typeof file.bytes === 'string' ? seededOctets(file).length : undefined
    return [
      ...(isThere ? [] : [`${place} belongs to no seeded item: seed the item, too`]),
      ...(declared.mediaTypes.includes(file.mediaType)
        ? []
        : [`${place} has the media type ${file.mediaType}: use ${declared.mediaTypes.join(' or ')}`]),
      ...(length === undefined ? [`${place} has no bytes: give a text or a Uint8Array`] : []),
      ...((length ?? 0) > declared.max ? [`${place} has ${length} octets: give ${declared.max} at most`] : []),
    ]
  })
}

/** Items of the seed that have the same unique key. */
function findTakenKeys({ name, given }: Resource, values: readonly Values[]): string[] {
  return (given.unique ?? []).flatMap(keys => {
    const first = new Map<string, unknown>()
    return values.flatMap(value => {
      const key = keys.map(field => ownMember(value, field))
      if (key.some(each => each === undefined || each === null)) return []
      const text = packTyped(key)
      const other = first.get(text)
      if (other === undefined) first.set(text, value['id'])
      return other === undefined
        ? []
        : [
            `the seed of ${name} ${String(value['id'])}: ${keys.join(', ')} is already that of ${String(other)}: give it another value`,
          ]
    })
  })
}

function findPeopleMistakes(people: readonly Person[]): string[] {
  const names = people.map(each => each.subject)
  return people.flatMap(({ subject, password, roles }, i) => {
    const place = `the seed of ${typeof subject === 'string' && subject !== '' ? subject : `person ${i + 1}`}`
    return [
      ...(typeof subject === 'string' && subject !== '' ? [] : [`${place}: subject must be a name`]),
      ...(typeof password === 'string' && password !== '' ? [] : [`${place}: password must be a text`]),
      ...(Array.isArray(roles) ? [] : [`${place}: roles must be a list`]),
      ...(names.indexOf(subject) === i ? [] : [`${place} occurs twice: give one of them another subject`]),
    ]
  })
}

function makeSeed(app: Implementation): ReturnType<Implementation['seed']> {
  try {
    return app.seed()
  } catch (thrown) {
    throw new Error(`the seed of ${app.contract.service} cannot be made: ${messageOf(thrown)}`, { cause: thrown })
  }
}
