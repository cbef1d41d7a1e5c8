/** Programs in C, compiled from `native/` where they are needed. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export interface Library {
  /** As pkg-config calls it. */
  readonly library: string
  /** As the linker calls it. */
  readonly link: string
  /** As Debian calls it. */
  readonly package: string
}

/** Makes `folder/name`. Why it could not be compiled; undefined when it is there. */
export function compile(folder: string, name: string, uses?: Library): string | undefined {
  const source = join(import.meta.dirname, 'native', `${name}.c`)
  const words = ['-O2', '-w', ...(uses ? includes(uses) : []), '-o', join(folder, name), source]
  const done = spawnSync('cc', uses ? [...words, `-l${uses.link}`] : words, { encoding: 'utf8' })
  if (done.status === 0) return undefined
  return `no C compiler${uses ? `, or no ${uses.package}` : ''}`
}

function includes({ library }: Library): readonly string[] {
  const found = spawnSync('pkg-config', ['--cflags', library], { encoding: 'utf8' })
  return found.status === 0 ? found.stdout.trim().split(' ').filter(Boolean) : ['-I/usr/include/libxml2']
}
