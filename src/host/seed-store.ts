/** Seeds an empty store with people and items, once, even if they are removed later. */
import type { Implementation } from '../contract/implement.ts'
import type { LocalKey } from '../identity/local-key.ts'
import { preparePeople } from '../identity/person-record.ts'
import type { Store } from '../service/store.ts'

export async function seedStore(app: Implementation, store: Store, key: LocalKey, now: number): Promise<void> {
  const done = await store.read(reader => reader.recall('seed', app.contract.service))
  if (done) return
  const { people = [], items = {} } = app.seed()
  const enrol = await preparePeople(key, people)
  await store.write(async writer => {
    if (!(await writer.remember('seed', app.contract.service, { value: 'done', expires: 8.64e15 }, now))) return
    await enrol(writer, now)
    const stored = app.contract.resources.filter(resource => !app.handlers[resource.name]?.keep)
    for (const resource of stored)
      for (const value of items[resource.name] ?? [])
        await writer.put(resource.name, String(value['id']), value, {}, undefined, now)
  })
}
