/**
 * Programs in TypeScript with the types that openapi-typescript makes of both releases: what was
 * written for the old one is compiled with the new one. A construct a line, one run of tsc for all.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../../../src/base/objects.ts'
import { spawnText } from './spawn-text.ts'

export interface Construct {
  readonly row: number
  readonly kind: 'writers' | 'readers' | 'control'
  /** What it stands for: constructs that do not compile with the old types say nothing. */
  readonly about: string
  readonly line: string
}

/** Writes a value of the old release, with the types of each. */
export const writeValue = (row: number, value: Json): readonly Construct[] => {
  const text = JSON.stringify(value)
  const about = `writes ${text}`
  return [
    { row, kind: 'control', about, line: `export const _ = [${text} satisfies Old['Thing${row}']]` },
    { row, kind: 'writers', about, line: `export const _ = [${text} satisfies New['Thing${row}']]` },
  ]
}
/** Hands a value on as one of the old type, and reads the members that this one has. */
export const readValue = (row: number, members: readonly string[]): readonly Construct[] => [
  {
    row,
    kind: 'readers',
    about: 'reads',
    line: `export const _ = (it: New['Thing${row}']): Old['Thing${row}'] => it`,
  },
  ...members.flatMap((member): readonly Construct[] => {
    const about = `reads ${member}`
    const place = `it[${JSON.stringify(member)}]`
    return [
      { row, kind: 'control', about, line: `export const _ = (it: Old['Thing${row}']) => ${place}` },
      { row, kind: 'readers', about, line: `export const _ = (it: New['Thing${row}']) => ${place}` },
    ]
  }),
]

/** The constructs that do not compile, each with what the compiler says. */
export async function compileConstructs(
  place: string,
  bin: (name: string) => string,
  constructs: readonly Construct[],
): Promise<ReadonlyMap<Construct, string>> {
  const head = [
    `import type { components as OldParts } from './old.js'`,
    `import type { components as NewParts } from './new.js'`,
    `type Old = OldParts['schemas']`,
    `type New = NewParts['schemas']`,
  ]
  const lines = constructs.map(({ line }, at) => line.replace('const _', `const _${at}`))
  writeFileSync(join(place, 'programs.ts'), [...head, ...lines].join('\n'))
  for (const name of ['old', 'new']) {
    const words = [join(place, `${name}.json`), '--default-non-nullable=false', '-o', join(place, `${name}.d.ts`)]
    await spawnText(process.execPath, [bin('openapi-typescript'), ...words])
  }
  const options = ['--strict', '--noEmit', '--target', 'es2024', '--module', 'nodenext', '--pretty', 'false']
  const said = await spawnText(process.execPath, [bin('tsc'), ...options, join(place, 'programs.ts')], {
    mayFail: true,
  })
  const flaws = new Map<Construct, string>()
  for (const [, line, why = ''] of said.matchAll(/programs\.ts\((\d+),\d+\): error (.*)/g)) {
    const construct = constructs[Number(line) - head.length - 1]
    if (construct) flaws.set(construct, why)
  }
  return flaws
}
