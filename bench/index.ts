/** `npm run bench`, or one of its parts: `npm run bench -- rest`. Ratios from one run on one machine. */
import { type Row, table } from './harness.ts'

const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  rest: async () => (await import('./rest.ts')).rest(),
  soap: async () => (await import('./soap.ts')).soap(),
  attacks: async () => (await import('./attacks.ts')).attacksBench(),
}
const asked = process.argv.slice(2)
const unknown = asked.filter(name => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  console.error(`bench: there is no ${unknown.join(', ')}; parts are ${Object.keys(parts).join(', ')}`)
  process.exit(2)
}
const rows: Row[] = []
for (const name of asked.length > 0 ? asked : Object.keys(parts)) rows.push(...((await parts[name]?.()) ?? []))
console.log(table(rows))
