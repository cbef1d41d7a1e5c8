/** Secured servers of Java in front of our service without security: how one starts, what is tried with each. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { createAttacks, same, standBetween } from './attacker.ts'
import { atEnd } from './peer.ts'
import { type Walked, walk } from './run-operations.ts'
import { type Name, names, type SoapVersion, sayAs } from './secured-orders.ts'

/** Stands once it has printed something, and ends with the tests. */
export async function startJava(words: readonly string[]): Promise<void> {
  const child = spawn('java', words, { stdio: ['pipe', 'pipe', 'pipe'] })
  atEnd(() => child.kill())
  let said = ''
  child.stderr.on('data', text => {
    said += text
  })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => assert.fail(said))])
}

/** What is asked of our client here. */
interface OrdersClient {
  readonly GetOrder: (input: { readonly id: string }) => Promise<{ readonly order: { readonly id: string } }>
}
export interface SecuredServer<P extends string> {
  readonly addressOf: (path: P, version: SoapVersion) => Promise<string>
  /** Our client, with the keys or the password of a person. */
  readonly connect: (path: P, version: SoapVersion, address: string, name: Name) => OrdersClient
  /** New ones, in the service behind. */
  readonly createCustomers: () => Promise<Walked['customers']>
  readonly cannot?: (version: SoapVersion) => Walked['cannot']
}

/** Every operation by these paths, in a version. */
export function tryOperations<P extends string>(paths: readonly P[], version: SoapVersion, server: SecuredServer<P>) {
  for (const path of paths)
    it(`serves every operation of ${path} to our client in SOAP ${version}`, async () => {
      const address = await server.addressOf(path, version)
      const clients = Object.fromEntries(names.map(name => [name, server.connect(path, version, address, name)]))
      const call = (operation: string, input: object, as: Name = 'maria') => sayAs(clients[as]!, operation, input)
      const cannot = server.cannot?.(version) ?? []
      // Lists have no wrapper in our typed values, as in encoded messages.
      await walk({ call, style: 'encoded', contract: 'v2', customers: await server.createCustomers(), cannot })
    })
}

const isSealed = (path: string): boolean => path === '/soap/encrypted' || path === '/soap/loose'

/** Answers of signed paths that are changed on their way. */
export function attackAnswers<P extends string>(paths: readonly P[], version: SoapVersion, server: SecuredServer<P>) {
  for (const path of paths)
    it(`WSS §10: has answers of ${path} in SOAP ${version} that our client refuses once they were changed`, async () => {
      const { kept, attacks, sealedAttacks } = createAttacks()
      const address = new URL(await server.addressOf(path, version))
      let change = same
      let genuine = ''
      const response = (text: string): string => {
        genuine ||= text
        const changed = change(text)
        if (change !== same) assert.notEqual(changed, text)
        return changed
      }
      const between = `${await standBetween(address.origin, { response })}${address.pathname}`
      const attacked = server.connect(path, version, between, 'maria')
      assert.equal((await attacked.GetOrder({ id: 'o-1' })).order.id, 'o-1')
      kept.former = genuine
      for (const [name, attack] of isSealed(path) ? sealedAttacks : attacks) {
        change = attack
        await assert.rejects(attacked.GetOrder({ id: 'o-1' }), { name: 'AnswerError', why: 'unproven' }, name)
      }
      change = same
      assert.equal((await attacked.GetOrder({ id: 'o-1' })).order.id, 'o-1')
    })
}
