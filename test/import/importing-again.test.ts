/** Importing a WSDL again: who may ask is an edit that stays, and new operations come all the same. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { importContract } from '../../src/import/import-command.ts'

const importCommand = join(import.meta.dirname, '..', '..', 'src', 'import', 'import-command.ts')
const folder = mkdtempSync(join(tmpdir(), 'diglot-again-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const carrier = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'freight', 'carrier.wsdl'), 'utf8')

test('a second import keeps the callers that were named, and writes a new operation', async () => {
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

test('an import that cannot write all of a file leaves the edits in the file', {
  skip: process.platform === 'win32',
}, async () => {
  const [wsdl, output] = [join(folder, 'whole.wsdl'), join(folder, 'whole.ts')]
  writeFileSync(wsdl, carrier)
  const again = () => importContract(wsdl, { output, from: [], fetch: [] }, { text: assert.fail, note: () => {} })
  await again()
  const edited = readFileSync(output, 'utf8').replace(
    'callers: readonly Grant[] = []',
    "callers: readonly Grant[] = [role('shop')]",
  )
  writeFileSync(output, edited, { mode: 0o640 })
  chmodSync(output, 0o640)
  symlinkSync(output, join(folder, 'linked.ts'))
  const program = `process.on('SIGXFSZ', () => {}); const { importContract } = await import(${JSON.stringify(importCommand)})
    await importContract(${JSON.stringify(wsdl)}, { output: ${JSON.stringify(output)}, from: [], fetch: [] }, { text() {}, note() {} })`
  const limited = spawnSync(
    'sh',
    [
      '-c',
      'ulimit -f 1; exec "$@"',
      'sh',
      process.execPath,
      '--conditions=diglot-source',
      '--input-type=module',
      '-e',
      program,
    ],
    { encoding: 'utf8' },
  )
  assert.notEqual(limited.status, 0, 'no file may be larger than a block')
  assert.equal(readFileSync(output, 'utf8'), edited)
  await importContract(
    wsdl,
    { output: join(folder, 'linked.ts'), from: [], fetch: [] },
    { text: assert.fail, note: () => {} },
  )
  assert.equal(readFileSync(output, 'utf8'), edited)
  assert.deepEqual(
    [lstatSync(join(folder, 'linked.ts')).isSymbolicLink(), statSync(output).mode & 0o777],
    [true, 0o640],
  )
  assert.deepEqual(
    readdirSync(folder).filter(name => name.startsWith('whole.ts')),
    ['whole.ts'],
  )
})

const inspection = (
  more: string,
) => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
  <xs:complexType name="Prüfer"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="Prüfung"><xs:sequence><xs:element name="note" type="xs:int"/><xs:element name="von" type="t:Prüfer"/>${more}</xs:sequence></xs:complexType>
  <xs:element name="Prüfen" type="t:Prüfung"/>
</xs:schema>`

test('an edit of a type stays, whatever letters are in its name, and types with similar names are written anew', async () => {
  const [schema, output] = [join(folder, 'inspection.xsd'), join(folder, 'inspection.ts')]
  const said: string[] = []
  const print = { text: assert.fail, note: (line: string) => said.push(line) }
  const importAgain = () => importContract(schema, { output, from: [], fetch: [] }, print)
  writeFileSync(schema, inspection(''))
  await importAgain()
  const first = readFileSync(output, 'utf8')
  const edited = first.replace('note: x.element(x.int)', 'note: x.element(x.int).optional()')
  assert.notEqual(edited, first)
  writeFileSync(output, edited)
  said.length = 0
  writeFileSync(schema, inspection('<xs:element name="am" type="xs:date"/>'))
  await importAgain()
  const second = readFileSync(output, 'utf8')
  assert.match(second, /note: x\.element\(x\.int\)\.optional\(\)/)
  assert.match(second, /export const Prüfer = /)
  assert.match(said.join(), /Prüfung: was edited and is kept; the document has changed it too/)
})

test('a second import of an unchanged document changes no octet', async () => {
  for (const [name, text] of [
    ['unchanged.wsdl', carrier],
    ['unchanged.xsd', inspection('')],
  ] as const) {
    const [document, output] = [join(folder, name), join(folder, `${name}.ts`)]
    writeFileSync(document, text)
    const importAgain = () =>
      importContract(document, { output, from: [], fetch: [] }, { text: assert.fail, note: () => {} })
    await importAgain()
    const first = readFileSync(output, 'utf8')
    await importAgain()
    assert.equal(readFileSync(output, 'utf8'), first)
  }
})
