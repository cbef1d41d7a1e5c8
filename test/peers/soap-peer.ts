/** One peer's cases: at each endpoint, in each version of SOAP it speaks, every operation, with the octets looked at as well. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type Exchange, type Hop, hop } from './intermediary.ts'
import { type Running, service } from './peer.ts'
import { walk } from './run-operations.ts'
import { type Driver, driver } from './soap-driver.ts'
import { type Habits, type Seen, type Style, type Version, wire } from './soap-wire.ts'

export interface Case {
  readonly version: Version
  readonly style: Style
  readonly contract: 'v1' | 'v2'
  /** From the WSDL with the ports of both versions. */
  readonly both?: boolean
  /** Words for the driver beside the address and the version: 'mtom', 'addressing', 'gzip'. */
  readonly words?: readonly string[]
  readonly habits?: Habits
  /** Operations and steps that the peer cannot do; the reason stands beside it. */
  readonly cannot?: readonly string[]
  /** In place of the walk: what it does, as the test's title says it. */
  readonly instead?: readonly [title: string, does: (call: Driver['call'], service: string) => Promise<void>]
  /** What must show in the exchanges of this case beside what always holds. */
  readonly shows?: (seen: readonly Seen[], exchanges: readonly Exchange[]) => void
}

export type Command = readonly [program: string, ...words: string[]]

export interface Peer {
  readonly name: string
  /** Why the peer cannot run here; false when it can. */
  readonly skip: string | false
  /** The program and its first words; may build something of the WSDL. */
  readonly command: (asked: Case, wsdl: string, endpoint: string) => Command | Promise<Command>
  readonly cases: readonly Case[]
}

const manager = { authorization: `Basic ${btoa('maria:maria-secret')}`, 'content-type': 'application/json' }

const every =
  'calls every operation and reads every fault (rules B2.1, B2.6–B2.8, B2.11, B2.12, B4.1–B4.6, B4.10–B4.12, B7.1, B7.4, B7.5, B9.1, B9.3)'

export function soapPeer({ name, skip, command, cases }: Peer): void {
  describe(name, { skip }, () => {
    let running: Running
    let between: Hop
    before(async () => {
      running = await service()
      between = await hop(running.url)
    })
    for (const asked of cases) {
      const { version, style, contract, words = [], habits, cannot, both, instead, shows } = asked
      const title = [`SOAP ${version}`, style, contract, ...words, ...(both ? ['both ports'] : [])].join(', ')
      it(`${instead?.[0] ?? every}: ${title}`, async () => {
        const path = `/soap/${contract}${style === 'document' ? '' : `/${style}`}`
        const query = both ? '?wsdl' : `?wsdl=${version}`
        const address = `${between.url}${path}${query}`
        const wsdl = await (await fetch(`${running.url}${path}${query}`)).text()
        const [program, ...first] = await command(asked, wsdl, `${running.url}${path}`)
        const namespace = `urn:diglot:orders:${contract}`
        const caller: Driver = driver(
          program,
          [...first, address, version, style, ...words],
          namespace,
          style === 'rpc' ? wsdl : undefined,
        )
        try {
          const customers = [await customer(running.url), await customer(running.url)] as const
          between.take()
          if (instead) await instead[1](caller.call, running.url)
          else await walk({ call: caller.call, style, contract, customers, ...(cannot && { cannot }) })
        } finally {
          caller.end()
        }
        const look = wire({ version, style, namespace, wsdl }, habits)
        const exchanges = between.take().filter(each => each.method === 'POST')
        const seen = exchanges.map(look)
        assert.ok(seen.length >= (instead ? 1 : 30), `${seen.length} exchanges were seen`)
        shows?.(seen, exchanges)
      })
    }
  })
}

/** A customer's id, made by REST: no SOAP operation makes one. */
async function customer(url: string): Promise<string> {
  const body = JSON.stringify({ name: 'Dora Double', email: 'dora@example.org', tier: 'basic' })
  const made = await fetch(`${url}/api/v2/customers`, { method: 'POST', headers: manager, body })
  assert.equal(made.status, 201)
  const { id } = (await made.json()) as { id: string } // as the contract says
  return id
}
