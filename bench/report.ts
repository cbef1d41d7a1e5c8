/** What a run has found, for a terminal, for the page on performance and for programs. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { join } from 'node:path'
import type { Row } from './harness.ts'

export interface Result extends Row {
  readonly part: string
}

/** How far the goal is exceeded: 1 is the goal, more is better; undefined where there is none, or no figure. */
export function score({ goal, ratio }: Row): number | undefined {
  const [, sign, value] = /^([≥≤]) ([0-9.]+)$/.exec(goal ?? '') ?? []
  if (value === undefined || Number.isNaN(ratio)) return undefined
  return sign === '≥' ? ratio / Number(value) : Number(value) / ratio
}

export const verdict = (row: Row): string => {
  const found = score(row)
  return found === undefined ? '' : found >= 1 ? 'met' : 'not met'
}

const head = ['what', 'against', 'ratio', 'goal', '', 'ours, theirs']
const cellsOf = (row: Row): readonly string[] => [
  row.what,
  row.against,
  Number.isNaN(row.ratio) ? '' : row.ratio.toFixed(2),
  row.goal ?? '',
  verdict(row),
  row.note ?? '',
]

export function table(rows: readonly Row[]): string {
  const cells = rows.map(cellsOf)
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map(cell => cell[i]?.length ?? 0)))
  return [head, widths.map(width => '-'.repeat(width)), ...cells]
    .map(line =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function markdown(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(row => line(cellsOf(row)))].join('\n')
}

/** In one sentence for each: the machine, and whom it was measured beside. */
export function facts(): Readonly<Record<string, string>> {
  const [processor] = cpus()
  return {
    taken: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${processor?.model.trim()}, Linux ${release()}`,
    node: process.version,
    ...installed('fastify', 'soap'),
    ...installed('saxes', 'libxml2-wasm', 'pg'),
    ...said('gSOAP', 'soapcpp2', ['-V'], /([0-9][0-9.]+)/),
    ...said('PHP', 'php', ['-v'], /PHP ([0-9.]+)/),
    ...said('Java', 'java', ['-version'], /version "([^"]+)"/),
    ...said('Spyne', '/usr/bin/python3', ['-c', 'import spyne; print(spyne.__version__)'], /([0-9.]+)/),
    ...said('zeep', '/usr/bin/python3', ['-c', 'import zeep; print(zeep.__version__)'], /([0-9.]+)/),
    ...said('expat', 'pkg-config', ['--modversion', 'expat'], /([0-9.]+)/),
    ...said('libxml2', 'pkg-config', ['--modversion', 'libxml-2.0'], /([0-9.]+)/),
    ...said('PostgreSQL', 'psql', ['--version'], /([0-9.]+)/),
  }
}

function installed(...names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of names)
    for (const folder of [join(import.meta.dirname, 'peers'), join(import.meta.dirname, '..')]) {
      try {
        const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
        found[name] ??= String(version)
      } catch {} // it is in the other, or in neither
    }
  return found
}

function said(name: string, program: string, words: readonly string[], version: RegExp): Record<string, string> {
  const { stdout, stderr } = spawnSync(program, [...words], { encoding: 'utf8' })
  const found = version.exec(`${stdout ?? ''}${stderr ?? ''}`)?.[1]
  return found === undefined ? {} : { [name]: found }
}
