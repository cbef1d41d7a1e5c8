/** Importing a WSDL again: who may ask is an edit that stays, and new operations come all the same. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { importContract } from '../../src/import/import-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-again-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const carrier = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'freight', 'carrier.wsdl'), 'utf8')

test('callers that were named stay, and an operation that is new is written', async () => {
  const [wsdl, output] = [join(folder, 'carrier.wsdl'), join(folder, 'contract.ts')]
  const said: string[] = []
  const print = { text: assert.fail, note: (line: string) => said.push(line) }
  const importAgain = () => importContract(wsdl, { output, from: [], fetch: [] }, print)
  writeFileSync(wsdl, carrier.replaceAll(/<(?:wsdl:)?operation name="TrackShipment">[\s\S]*?operation>/g, ''))
  await importAgain()
  const first = readFileSync(output, 'utf8')
  assert.doesNotMatch(first, /TrackShipment: exchange/)
  const named = "const callers: readonly Grant[] = [role('shop')]"
  writeFileSync(
    output,
    first.replace('const callers: readonly Grant[] = []', named).replace('{ type Grant', '{ role, type Grant'),
  )
  writeFileSync(wsdl, carrier)
  await importAgain()
  const second = readFileSync(output, 'utf8')
  assert.deepEqual(said, [])
  assert.ok(second.includes(named), second)
  assert.match(second, /TrackShipment: exchange/)
  assert.match(second, /^import \{[^}]*\brole\b/m)
})
