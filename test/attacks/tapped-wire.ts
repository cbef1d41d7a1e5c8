/** The wire between the SOAP client and a service, where a test reads messages and changes them. */
import type { ClientTransport } from '../../src/client/transport.ts'
import type { SecurityRule } from '../../src/contract/endpoint-rule.ts'

export type Change = (text: string) => string
const same: Change = text => text

export interface WireChanges {
  readonly request?: Change
  readonly response?: Change
}

export class TappedWire {
  /** The last messages, as they were changed. */
  readonly texts = { request: '', response: '' }

  transportTo(address: string, { request = same, response = same }: WireChanges = {}): ClientTransport {
    return {
      close: () => {},
      prepare: fields => async sending => {
        this.texts.request = request(sending.content as string)
        const headers = { ...fields, 'accept-encoding': 'identity' }
        const reply = await fetch(address, { method: 'POST', headers, body: this.texts.request })
        this.texts.response = response(await reply.text())
        const content = Buffer.from(this.texts.response)
        return { status: reply.status, fields: Object.fromEntries(reply.headers), content }
      },
    }
  }
}

/** An endpoint of v2 for each rule, at its path. */
export const endpointsByRule = (rules: Readonly<Record<string, SecurityRule>>) =>
  Object.fromEntries(Object.entries(rules).map(([path, security]) => [path, { version: 'v2', security }]))
