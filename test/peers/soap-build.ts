/** Stubs that a peer's tools make of a WSDL, and its driver, built once a run for each. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { folder } from './peer.ts'

export interface Built {
  readonly place: string
  /** What the script printed. */
  readonly said: string
}

const execute = promisify(execFile)
const standing = new Map<string, Promise<Built>>()

/** Runs the script `build` of a folder beside this file, with the words behind the place that has `orders.wsdl`. */
export function build(peer: string, wsdl: string, ...words: readonly string[]): Promise<Built> {
  const key = [peer, ...words, wsdl.replace(/ location="[^"]*"/g, '')].join('\n')
  const found = standing.get(key) ?? made(peer, wsdl, words)
  standing.set(key, found)
  return found
}

async function made(peer: string, wsdl: string, words: readonly string[]): Promise<Built> {
  const place = folder()
  writeFileSync(join(place, 'orders.wsdl'), wsdl)
  const script = join(import.meta.dirname, peer, 'build')
  const { stdout } = await execute(script, [place, ...words], { timeout: 240_000, maxBuffer: 64e6 })
  return { place, said: stdout.trim() }
}
