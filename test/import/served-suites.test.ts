/** Ports that were imported, served: each answers the recorded messages of its suite. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Malformed } from '../../src/xml/index.ts'
import { suites } from '../suites.ts'
import { importFile } from './folder-find.ts'
import { askPort, digestElement, findPort, readMessage } from './served-port.ts'

interface Case {
  readonly id: string
  readonly title: string
  readonly wsdl?: string
  readonly messages: readonly { readonly file: string }[]
}
const rounds = suites('soapbuilders-interop')
const cases: readonly Case[] = rounds ? JSON.parse(readFileSync(join(rounds, 'cases.json'), 'utf8')) : []
/** Recorded messages that are refused, and why. */
const exceptions: Readonly<Record<string, RegExp>> = {
  r3_groupE_list_006w: /circular values are not supported/,
}
/** Where the recorded fault has an empty struct as nil, ours has it as an empty element. */
const nilStructs: ReadonlySet<string> = new Set(['r4_groupH_simple_rpcenc_004w'])

for (const { id, title, wsdl, messages } of cases) {
  const [asked, answered] = ['request', 'response'].map(part => messages.find(each => each.file.includes(`.${part}.`)))
  if (!rounds || !wsdl || !asked || !answered) continue
  test(`${id} ${title}: the imported port answers as the suite says`, async () => {
    const contract = importFile(join(rounds, wsdl))
    assert.ok(!(contract instanceof Malformed))
    const [raw, wantedOctets] = [asked, answered].map(({ file }) => readFileSync(join(rounds, file)))
    assert.ok(raw && wantedOctets)
    const wanted = readMessage(wantedOctets)
    const port = findPort(contract.ports, readMessage(raw).body)
    const exception = exceptions[id]
    if (exception) return assert.match((await askPort(port, raw, undefined)).fault?.reason ?? '', exception)
    const answer = await askPort(port, raw, wanted)
    const isEncoded = raw.includes('encodingStyle')
    assert.equal(answer.fault !== undefined, wanted.faultCode !== undefined, answer.text)
    if (!answer.fault) assert.equal(digestElement(answer.body, isEncoded), digestElement(wanted.body, isEncoded))
    assert.deepEqual(
      answer.blocks.map(each => digestElement(each, false)),
      wanted.blocks.map(each => digestElement(each, false)),
    )
    const detail = digestElement(wanted.detail, isEncoded)
    assert.equal(
      digestElement(answer.fault?.detail?.elements()[0], isEncoded),
      nilStructs.has(id) ? detail.replace(/@[^>]*nil=true/, '') : detail,
    )
  })
}
