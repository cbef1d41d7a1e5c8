/** How much of real documents is imported whole: counts that must not fall (docs/import.md). */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { importFile } from './folder-find.ts'

type Outcome = 'whole' | 'contract' | 'document' | 'transport' | 'unreadable'
type Counts = Readonly<Record<Outcome, number>>

/** Under the first cause that fits. */
function judgeImport(found: ImportedContract | Malformed): Outcome {
  if (found instanceof Malformed) return 'unreadable'
  const causes = (['contract', 'document', 'transport'] as const).filter(cause =>
    found.losses.some(loss => loss.cause === cause),
  )
  return causes[0] ?? 'whole'
}

/** At least so many are whole, and of at most so many a contract cannot say a part. */
const floors: Readonly<Record<string, { readonly whole: number; readonly contract: number }>> = {
  'wsdl11-real': { whole: 33, contract: 0 },
  'wsdl11-features': { whole: 68, contract: 2 },
  'wsdl11-suspect': { whole: 8, contract: 0 },
  'wsdl-json-samples': { whole: 32, contract: 0 },
  'soapbuilders-interop': { whole: 18, contract: 3 },
  'wsdl20-w3c/documents/good': { whole: 46, contract: 2 },
  'wsdl20-w3c/messages/good': { whole: 4, contract: 0 },
}
for (const [name, floor] of Object.entries(floors)) {
  const suite = suites(name)
  if (!suite) continue
  test(`${name}: at least ${floor.whole} documents are imported without a loss`, t => {
    const counts: Record<Outcome, number> = { whole: 0, contract: 0, document: 0, transport: 0, unreadable: 0 }
    for (const file of globSync('**/*.wsdl', { cwd: suite })) counts[judgeImport(importFile(join(suite, file)))]++
    t.diagnostic(writeCounts(name, counts))
    assert.ok(counts.whole >= floor.whole, writeCounts(name, counts))
    assert.ok(counts.contract <= floor.contract, writeCounts(name, counts))
  })
}
const writeCounts = (name: string, counts: Counts): string =>
  `${name}: ${Object.entries(counts)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', ')}`
