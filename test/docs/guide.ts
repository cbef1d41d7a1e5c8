/** The guide as a folder of pages, from docs/: `npm run guide`, or `npm run guide -- FOLDER`. */
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { checkout } from '../support/linked-project.ts'
import { buildGuide, type GuideSources } from './guide/build-guide.ts'
import { pages, textOf } from './pages.ts'

export function readGuideSources(): GuideSources {
  return {
    pages: new Map(pages.map(page => [page, textOf(page)])),
    readShownFile: file =>
      statSync(join(checkout, file), { throwIfNoEntry: false })?.isFile() ? textOf(file) : undefined,
    pictures: globSync('docs/*.{jpg,png,svg}', { cwd: checkout }).map(path => path.replaceAll('\\', '/')),
  }
}

/**
 * Replaces a guide that is there, and nothing else.
 * @throws {Error} for a folder with other things in it
 */
export function writeGuide(folder: string): number {
  const isReplaceable =
    !existsSync(folder) || readdirSync(folder).length === 0 || existsSync(join(folder, 'look', 'guide.txt'))
  if (!isReplaceable) throw new Error(`${folder} has files that are not of the guide: give another folder`)
  rmSync(folder, { recursive: true, force: true })
  const sources = readGuideSources()
  const files = new Map([...buildGuide(sources), ['look/guide.txt', 'Made by `npm run guide`.\n']])
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const path of sources.pictures) copyFileSync(join(checkout, path), join(folder, basename(path)))
  return files.size + sources.pictures.length
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(checkout, 'guide'))
  console.log(`${writeGuide(folder)} files in ${folder}: open ${join(folder, 'index.html')}`)
}
