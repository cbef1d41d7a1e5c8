/**
 * `npm run bench`: every figure as a ratio from one run on one machine. `npm run bench -- rest xml`: some parts alone.
 * `npm run bench -- growth` is a table of its own, `--million` and `--keep FOLDER` parts of it (growth.ts).
 * `npm run bench -- worst` is another: what other callers have while one does its worst (worst.ts).
 * `--json FILE` writes the rows there, `--page` into docs/performance.md and its picture, `--quick` takes less time and
 * gives figures that are worth less.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chart } from './chart.ts'
import type { Row } from './harness.ts'
import { facts, markdown, type Result, table } from './report.ts'

type Part = () => Promise<readonly Row[]>
const parts: Readonly<Record<string, readonly Part[]>> = {
  varied: [async () => (await import('./varied.ts')).varied()],
  rest: [async () => (await import('./rest.ts')).rest()],
  soap: [
    async () => (await import('./soap.ts')).soap(),
    async () => (await import('./signed.ts')).signed(),
    async () => (await import('./proof.ts')).provenExchange(),
    async () => (await import('./cxf.ts')).signedBesideCxf(),
  ],
  xml: [async () => (await import('./xml.ts')).xml()],
  write: [async () => (await import('./write.ts')).write(), async () => (await import('./large.ts')).large()],
  client: [async () => (await import('./client.ts')).client()],
  bridge: [
    async () => (await import('./bridge.ts')).bridgeBeside(),
    async () => (await import('./bridge.ts')).bridgeMemory(),
    async () => (await import('./bridge.ts')).bridgeLateness(),
  ],
  start: [async () => (await import('./start.ts')).startBench()],
  attacks: [async () => (await import('./attacks.ts')).attacksBench()],
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    page: { type: 'boolean' },
    quick: { type: 'boolean' },
    million: { type: 'boolean' },
    keep: { type: 'string' },
  },
})
if (positionals[0] === 'growth') {
  const grown = await (await import('./growth.ts')).growth(values.million === true, values.keep, positionals.slice(1))
  if (grown.length > 0) console.log(`\ngrows: ${grown.join('; ')}`)
  process.exit()
}
if (positionals[0] === 'worst') {
  const costly = await (await import('./worst.ts')).worst(values.keep, positionals.slice(1))
  if (costly.length > 0) console.log(`\ncosts others more than a fifth of their rate: ${costly.join('; ')}`)
  process.exit()
}
const unknown = positionals.filter(name => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  console.error(`bench: there is no ${unknown.join(', ')}; parts are ${Object.keys(parts).join(', ')}`)
  process.exit(2)
}
if (values.page && (positionals.length > 0 || values.quick)) {
  console.error('bench: the page shows one whole run: --page goes with no part and without --quick')
  process.exit(2)
}

const about = facts()
const results: Result[] = []
for (const [part, tasks] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(part)) continue
  console.error(`${part} …`)
  for (const task of tasks) {
    try {
      results.push(...(await task()).map(row => ({ part, ...row })))
    } catch (thrown) {
      console.error(`${part}:`, thrown)
      process.exitCode = 1
    }
  }
}
console.log(`${Object.values(about).slice(0, 3).join(' · ')}\n\n${table(results)}`)
for (const file of [values.json, values.page && join(import.meta.dirname, 'results.json')])
  if (file) writeFileSync(file, `${JSON.stringify({ about, results }, null, 2)}\n`)
if (values.page) page()

/** Between the two marks of the page stands what the last whole run has found. */
function page(): void {
  const docs = join(import.meta.dirname, '..', 'docs')
  const file = join(docs, 'performance.md')
  const versions = Object.entries(about).map(([name, value]) => `${name} ${value}`)
  const written = `${versions.join(' · ')}\n\n${markdown(results)}`
  const whole = readFileSync(file, 'utf8').replace(
    /(?<=<!-- results -->\n).*(?=<!-- \/results -->)/s,
    () => `\n${written}\n\n`,
  )
  writeFileSync(file, whole)
  writeFileSync(join(docs, 'performance.svg'), chart(results))
}
