/** ARCHITECTURE.md, "Three walks": the requests described there pass the stops that are named. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { journeys, walk } from './support/walk.ts'

const architecture = readFileSync(join(import.meta.dirname, '..', 'ARCHITECTURE.md'), 'utf8')

/** The stops under a heading, as `file function`. */
function stopsUnder(heading: string): readonly string[] {
  const [, section = ''] = architecture.split(`### ${heading}\n`)
  const lines = section.split(/^##/m)[0]?.match(/^\d+\. .*$/gm) ?? []
  return lines.flatMap(line => [...line.matchAll(/`(\S+\.ts)` `(\S+)`/g)].map(([, file, name]) => `${file} ${name}`))
}

const walks = { 'A conditional GET': 'GET 304', 'A POST': 'POST 201', 'A SOAP call': 'SOAP GetOrder' } as const
const passed = await walk(journeys)

for (const [heading, journey] of Object.entries(walks))
  test(`${heading}: a request passes the stops of its walk`, () => {
    const stops = stopsUnder(heading)
    assert.ok(stops.length >= 10, 'the list of stops is found')
    const entered = new Set(passed[journey]?.functions)
    assert.deepEqual(
      stops.filter(stop => !entered.has(stop)),
      [],
    )
  })

/**
 * What a request may pass at most, with room for the timers of a busy machine: these enter one or two
 * functions in each of twenty runs there. `npm run measures` prints what it
 * passes. Lower these when it passes less.
 */
const bounds: Readonly<Record<string, { readonly files: number; readonly functions: number; readonly calls: number }>> =
  {
    'GET 304': { files: 50, functions: 147, calls: 184 },
    'GET 200': { files: 50, functions: 148, calls: 191 },
    'POST 201': { files: 88, functions: 334, calls: 675 },
    'SOAP GetOrder': { files: 62, functions: 250, calls: 380 },
  }
for (const [journey, most] of Object.entries(bounds))
  test(`${journey}: a request passes no more files, functions and calls than it did`, () => {
    const { files = [], functions = [], calls = Number.NaN } = passed[journey] ?? {}
    const counted = { files: files.length, functions: functions.length, calls }
    for (const what of ['files', 'functions', 'calls'] as const)
      assert.ok(counted[what] <= most[what], `${what}: ${counted[what]} of at most ${most[what]}`)
  })
