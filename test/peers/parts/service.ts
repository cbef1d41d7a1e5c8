/** The desk of desk.wsdl, whose messages have several elements, as it is imported. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readImportedContract } from '../../../src/import/imported-contract.ts'
import { anyone, implement, port, service } from '../../../src/index.ts'
import { Malformed } from '../../../src/xml/index.ts'

const file = join(import.meta.dirname, 'desk.wsdl')
const imported = readImportedContract(readFileSync(file), file, () => undefined)
if (imported instanceof Malformed || imported.losses.length > 0 || !imported.ports[0])
  throw new Error(`${file} is not imported whole`)
const [{ names, ...desk }] = imported.ports as [(typeof imported.ports)[0]]
const open = port(desk.port, { ...desk, ...names, allow: [anyone] })

interface DeskOrder {
  readonly item: string
  readonly count: number
  readonly buyer: { readonly name: string; readonly city: string }
}
const handlers = {
  DeskPort: {
    Order: ({ item, count, buyer }: DeskOrder) => ({ number: `${item} for ${buyer.name}`, total: `${count}.50` }),
    Count: (item: string) => ({ count: item.length, unit: 'letters' }),
  },
}
export default implement(
  service('desk', { namespace: 'urn:desk', resources: [], ports: [open] }),
  handlers as never, // of a contract that is known at run time alone
)
