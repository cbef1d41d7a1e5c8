/** Commands that listen, each in a process of its own, and files for them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts')]
export const carrier = join(root, 'examples', 'freight', 'carrier.wsdl')
export const pets = join(root, 'test', 'mock', 'pets.yaml')

/** Goes with the tests of the file. */
export const folder = mkdtempSync(join(tmpdir(), 'diglot-listen-'))
after(() => rmSync(folder, { recursive: true, force: true }))
/** @returns the path of the file */
export const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

export interface ListeningCommand {
  readonly child: ChildProcess
  /** All that it has said so far. */
  said: string
  /** Its origin; empty: it has ended instead. */
  url: string
}

/** Resolves when the command has begun to listen, or has ended. */
export async function startCommand(...words: readonly string[]): Promise<ListeningCommand> {
  const child = spawn(process.execPath, [...cli, ...words], { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  after(() => child.kill('SIGKILL'))
  const running: ListeningCommand = { child, said: '', url: '' }
  return await new Promise(resolve => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        running.said += piece
        running.url = /(?:bridging|mocking on|relaying from) (https?:\/\/[\d.:]+)/.exec(running.said)?.[1] ?? ''
        if (running.url !== '') resolve(running)
      })
    child.once('close', () => resolve(running))
  })
}

/** Of a command that ends at once. */
export function runToEnd(...words: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [...cli, ...words], { encoding: 'utf8', timeout: 60_000 })
  return { status, stderr }
}

/** A call of the carrier through a bridge in front of it. */
export const trackShipment = (url: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}/api/v1/FreightPort/TrackShipment`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...fields },
    body: '"DE-0000001"',
  })
