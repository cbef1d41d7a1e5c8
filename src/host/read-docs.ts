/** Reads the option `docs`: the folder of a site, and the roles of its readers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSiteManifest, type ServedSite, siteManifestName } from '../pages/docs.ts'

/** The pages at `/docs`. */
export interface DocsOption {
  /** The output of `diglot docs -o`. It is read at start. */
  readonly folder: string
  /**
   * The roles whose callers may read it, or `anyone`. Default: the roles for which it was
   * generated; a site of everything has no default.
   */
  readonly readers?: readonly string[] | 'anyone'
}

/** @throws {TypeError} if the folder has no site, or a site of everything has no readers */
export function readDocs({ folder, readers }: DocsOption): ServedSite {
  const manifest = parseSiteManifest(readSiteFile(folder, siteManifestName))
  if (!manifest)
    throw new TypeError(`docs: ${join(folder, siteManifestName)} was not written by diglot docs: write the site again`)
  if (manifest.isUnfinished)
    throw new TypeError(`docs: the site in ${folder} is not complete: write it again with diglot docs -o ${folder}`)
  const usual = manifest.roles?.length === 0 ? 'anyone' : manifest.roles
  const chosen = readers ?? usual
  if (chosen === undefined)
    throw new TypeError(
      `docs: the site in ${folder} covers all roles: name its readers (--docs-reader), or write one for them with diglot docs --role`,
    )
  return { files: new Map(manifest.files.map(path => [path, readSiteFile(folder, path)])), readers: chosen }
}

function readSiteFile(folder: string, path: string): string {
  try {
    return readFileSync(join(folder, path), 'utf8')
  } catch (thrown) {
    throw new TypeError(`docs: ${join(folder, path)} cannot be read: write the site with diglot docs -o ${folder}`, {
      cause: thrown,
    })
  }
}
