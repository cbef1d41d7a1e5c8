/**
 * Removes each refusal of src/security, one at a time and in a copy, and runs the tests of this
 * folder: some test must fail each time. `node test/security/mutation.ts [FILE]`, such as
 * `verify/saml.ts`; about ten minutes for all files. Exits 1 when no test misses a refusal, or when
 * it finds no refusal at all.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Refusals that another one makes up for, or that only the types need. */
const exceptions: Readonly<Record<string, string>> = {
  'an encrypted envelope': 'the root is an Envelope: it was opened as one; the type of `parent` asks',
  'a Password of an unknown type': 'the policy accepts no kind that is undefined',
}

const project = join(import.meta.dirname, '..', '..')
const copy = mkdtempSync(join(tmpdir(), 'diglot-mutation-'))
for (const path of ['src', 'test/security', 'test/suites.ts', 'package.json']) {
  cpSync(join(project, path), join(copy, path), { recursive: true })
}
symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'))

function doTestsPass(): boolean {
  const env = { ...process.env, DIGLOT_SUITES: process.env['DIGLOT_SUITES'] ?? join(project, '..', 'shared', 'suites') }
  return spawnSync(process.execPath, ['--test', 'test/security/*.test.ts'], { cwd: copy, env }).status === 0
}

/**
 * Each call of `failSecurity` in a source: its place, and its reason. A `return` before it is
 * removed as well.
 */
function findRefusals(source: string): { readonly from: number; readonly to: number; readonly why: string }[] {
  return [...source.matchAll(/(?:return )?(?<!function )\bfailSecurity\(/g)].map(match => {
    let to = match.index + match[0].length
    for (let open = 1; open > 0; to++) open += source[to] === '(' ? 1 : source[to] === ')' ? -1 : 0
    const [, why = ''] = /,\s*[`']([^`']*)[`'],?\s*\)$/s.exec(source.slice(match.index, to)) ?? []
    return { from: match.index, to, why }
  })
}

if (!doTestsPass()) throw new Error('the tests fail as they are')
let [removed, missed] = [0, 0]
const files = globSync(`src/security/${process.argv[2] ?? '**/*.ts'}`, { cwd: copy })
for (const file of files.filter(each => basename(each) !== 'security-fault.ts').sort()) {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  for (const { from, to, why } of findRefusals(source)) {
    removed++
    const returned = source.startsWith('return', from)
    writeFileSync(path, source.slice(0, from) + (returned ? 'void 0' : 'undefined') + source.slice(to))
    if (doTestsPass() && !exceptions[why]) {
      missed++
      console.log(`${file}:${source.slice(0, from).split('\n').length}  no test misses: ${why}`)
    }
  }
  writeFileSync(path, source)
}
rmSync(copy, { recursive: true })
console.log(`${removed} refusals removed, ${missed} of them missed by no test`)
process.exitCode = removed === 0 || missed > 0 ? 1 : 0
