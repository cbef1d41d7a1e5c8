/**
 * `npm run -s sbom`: what the package brings along, as CycloneDX. `npm sbom --omit dev` leaves out
 * what a package for development needs as well (pino, jose), so the whole list is asked and narrowed.
 */
import { spawnSync } from 'node:child_process'
import { checkout } from './support/linked-project.ts'

interface Bill {
  readonly components: readonly {
    readonly name: string
    readonly 'bom-ref': string
    readonly properties?: readonly { readonly name: string; readonly value: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

export function readBill(): Bill {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'library']
  const { stdout } = spawnSync('npm', args, { cwd: checkout, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const bill: Bill = JSON.parse(stdout)
  const isOfDevelopment = ({ properties = [] }: Bill['components'][number]): boolean =>
    properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
  const dropped = new Set(bill.components.filter(isOfDevelopment).map(each => each['bom-ref']))
  return {
    ...bill,
    components: bill.components.filter(each => !dropped.has(each['bom-ref'])),
    dependencies: bill.dependencies
      .filter(({ ref }) => !dropped.has(ref))
      .map(each => ({ ...each, dependsOn: each.dependsOn.filter(ref => !dropped.has(ref)) })),
  }
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(readBill(), undefined, 2)}\n`)
