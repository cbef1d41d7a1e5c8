/** B2.5: header blocks that a description declares are understood. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import bank from '../../examples/bank/service.ts'
import { extendObject } from '../../src/base/objects.ts'
import { checkRules, openSocketTransport, type ProbeTransport, parseCaller, runCheck } from '../../src/check/index.ts'
import { startHosted } from '../host/hosted-service.ts'

const rules = checkRules.filter(({ id }) => id === 'B2.5')
const options = { callers: [parseCaller('tina:tina-secret')], profile: { wsdl: ['/soap/v1?wsdl'] }, rules, rate: 1e5 }

/** @param rename what a broken service reads in place of the block that its description declares */
async function judgeBank(rename: (text: string) => string) {
  const { server } = await startHosted({}, bank)
  const transport = await openSocketTransport(server.url)
  const send: ProbeTransport['send'] = (request, limitMs) => {
    const { content } = request
    const renamed = content && Buffer.from(rename(Buffer.from(content).toString()))
    return transport.send({ ...request, ...(renamed && { content: renamed }) }, limitMs)
  }
  const { verdicts } = await runCheck(extendObject(transport, { send }), options)
  transport.close()
  return verdicts.map(({ rule, status, reason }) => `${rule.id} ${status}: ${reason}`).join()
}

it('B2.5 a service understands the blocks that its description declares', async () => {
  const declared = 'GetTransfer understands Branch, Remark, which it declares'
  assert.equal(await judgeBank(text => text), `B2.5 pass: ${declared}; ${declared}`)
})

it('B2.5 a service that does not understand a block of its own description fails', async () => {
  const verdict = await judgeBank(text => text.replaceAll('p:Branch', 'p:Bough'))
  assert.match(verdict, /^B2\.5 fail: .*understands Branch, Remark/)
})
