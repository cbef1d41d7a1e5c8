/** Resources among the exchanges of a map (docs/bridge.md, "The map"). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { folder, importMap, root, runBridge } from './map-command.ts'

const wsdl = join(root, 'test', 'peers', 'parts', 'stock.wsdl')
/** As `diglot import` writes it, then as a person edits it. */
const map = importMap(wsdl).replaceAll(/(input: (?:GetPart|ListParts),)/g, 'safe: true, $1')
const withoutRemoval = map.replace(/ {4}DeletePart: exchange\([\s\S]*?\n {4}\}\),\n/, '')

async function runMap(name: string, text: string) {
  const file = join(folder, name)
  writeFileSync(file, text)
  return await runBridge([wsdl, '--to', 'http://127.0.0.1:9/', '--map', file])
}

test('exchanges that are safe and those that change are a resource; those deleted from the map are not served', async () => {
  const { said, url } = await runMap('without.ts', withoutRemoval)
  assert.match(
    said,
    /^parts: read by GetPart and ListParts, made by CreatePart, changed by UpdatePart, compared by rowVersion$/m,
  )
  const status = async (method: string, path: string) => (await fetch(`${url}/v1${path}`, { method })).status
  assert.deepEqual([await status('GET', '/parts'), await status('DELETE', '/parts/1')], [503, 405])
})

test('a map names the resources that are served, and one that does not exist ends the command', async () => {
  const none = await runMap('none.ts', `${map}\nexport const resources = []\n`)
  assert.doesNotMatch(none.said, /read by/)
  assert.equal((await fetch(`${none.url}/v1/parts`)).status, 404)
  const wrong = await runMap('wrong.ts', `${map}\nexport const resources = ['boxes']\n`)
  assert.match(wrong.said, /wrong\.ts: resources names boxes, and its exchanges have parts/)
  assert.equal(wrong.url, '')
})

test('if Get and List are for different callers, or are not declared safe, there is no resource', async () => {
  const other = map.replace('ListParts: exchange({', `ListParts: exchange({ allow: [role('clerk')],`)
  for (const [name, text] of [
    ['other.ts', other],
    ['unsafe.ts', map.replaceAll('safe: true, ', '')],
  ] as const)
    assert.doesNotMatch((await runMap(name, text)).said, /read by/, name)
})

test('a map describes a resource whose names are not guessed, and a mistake in it ends the command with its place', async () => {
  const renamed = map
    .replace('GetPart: exchange({', 'StockItem: exchange({')
    .replace('ListParts: exchange({', 'Inventory: exchange({')
  const described = (more: string) => `${renamed}
export const resources = {
  parts: { get: 'StockItem', list: 'Inventory', update: 'UpdatePart', id: 'partNo', ${more} },
} satisfies import('${pathToFileURL(join(root, 'src', 'index.ts'))}').BridgeResources<typeof contract>
`
  const { said, url } = await runMap('described.ts', described(`version: 'rowVersion'`))
  assert.match(said, /^parts: read by StockItem and Inventory, changed by UpdatePart, compared by rowVersion$/m)
  const status = async (method: string, path: string) => (await fetch(`${url}/v1${path}`, { method })).status
  assert.deepEqual([await status('GET', '/parts'), await status('DELETE', '/parts/1')], [503, 405])
  const wrong = await runMap('mistaken.ts', described(`remove: 'ScrapPart'`))
  assert.match(
    wrong.said,
    /mistaken\.ts: resources\.parts\.remove: ScrapPart is not an exchange of the map: it has StockItem/,
  )
  assert.equal(wrong.url, '')
})
