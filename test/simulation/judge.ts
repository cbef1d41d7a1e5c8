/** What must hold when all is over: each effect once, and everybody told of it. */
import { judgeFeed, judgeHistory } from '../support/history.ts'
import { accounts, type Clients } from './clients.ts'
import { auditCount, readLimit } from './ledger.ts'
import type { World } from './world.ts'

const startBalance = 100

interface Transfer {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly amount: number
  readonly mark: string
  readonly state: string
}

export async function judge(world: World, clients: Clients): Promise<void> {
  const { told } = clients
  const read = async (target: string) => JSON.parse((await world.insist({ method: 'GET', target })).text)
  const transfers: Transfer[] = []
  for (let next: string | undefined = '/api/transfers?size=100'; next; ) {
    const page: { items: Transfer[]; _links: Record<string, { href: string } | undefined> } = await read(next)
    transfers.push(...page.items)
    next = page._links['next']?.href
  }
  const last = await clients.readRegisters()
  const all = await clients.allChanges()
  await clients.followToEnd()
  const balances = new Map<string, number>()
  for (const id of [...accounts, auditCount]) balances.set(id, (await read(`/api/accounts/${id}`)).balance)
  const problems = [
    ...judgeHistory(told.deeds),
    ...judgeFeed(all, told.followed, last, told.quoted),
    ...judgeTransfers(transfers, balances, told, world.partner),
    ...judgeAudits(balances, told),
    ...judgeEvents(all, world),
    ...judgeReplies(world, told),
    ...judgeLimits(world, told),
  ]
  for (const problem of problems) world.fail(problem)
}

function judgeTransfers(
  transfers: readonly Transfer[],
  balances: ReadonlyMap<string, number>,
  { transfers: made, messages }: Clients['told'],
  { replies }: World['partner'],
): readonly string[] {
  const problems: string[] = []
  const byMark = Map.groupBy(transfers, each => each.mark)
  for (const [mark, same] of byMark)
    if (same.length > 1) problems.push(`${same.length} transfers were made for ${mark}`)
  for (const { mark, id, settled } of made) {
    const found = transfers.find(each => each.id === id)
    if (!found) problems.push(`the transfer ${mark} was answered, and is not there`)
    else if ((found.state === 'settled') !== settled)
      problems.push(`${mark} is ${found.state}, and was told ${settled ? 'settled' : 'refused'}`)
  }
  // A fault goes where the reply would have gone.
  for (const id of messages) {
    const isRefused = replies.some(text => text.includes(`>${id}<`) && text.includes(':Fault>'))
    const isMade = byMark.has(id.slice('urn:tell:'.length))
    if (!isMade && !isRefused) problems.push(`${id} was accepted, and made nothing`)
  }
  for (const id of accounts) {
    const settled = transfers.filter(each => each.state === 'settled')
    const sum = (of: readonly Transfer[]) => of.reduce((total, { amount }) => total + amount, 0)
    const expected =
      startBalance + sum(settled.filter(each => each.to === id)) - sum(settled.filter(each => each.from === id))
    const balance = balances.get(id) ?? Number.NaN
    if (balance !== expected) problems.push(`${id} has ${balance}, and its transfers come to ${expected}`)
    if (balance < 0) problems.push(`${id} has ${balance}`)
  }
  return problems
}

function judgeAudits(balances: ReadonlyMap<string, number>, { audits }: Clients['told']): readonly string[] {
  const problems = audits
    .filter(({ sum }) => sum !== accounts.length * startBalance)
    .map(({ id, sum }) => `${id} came to ${sum}`)
  if (new Set(audits.map(each => each.count)).size < audits.length) problems.push('two audits have one number')
  const counted = balances.get(auditCount)
  if (counted !== audits.length) problems.push(`${audits.length} audits were counted ${counted} times`)
  return problems
}

function judgeEvents(all: Awaited<ReturnType<Clients['allChanges']>>, { partner }: World): readonly string[] {
  const ids = [...new Set(partner.events.map(each => each.id))]
  const problems: string[] = []
  for (const [id, same] of Map.groupBy(partner.events, each => each.id))
    if (new Set(same.map(each => each.text)).size > 1) problems.push(`event ${id} had two contents`)
  if (ids.length !== all.length) problems.push(`${all.length} changes, and ${ids.length} events came to the partner`)
  const sequences = ids.map(id => Number.parseInt(id, 10))
  for (const [i, sequence] of sequences.entries())
    if (sequence < (sequences[i - 1] ?? 0)) problems.push(`event ${sequence} came first after ${sequences[i - 1]}`)
  return problems
}

const judgeReplies = ({ partner }: World, { messages }: Clients['told']): readonly string[] =>
  messages.flatMap(id =>
    partner.replies.some(text => text.includes(`>${id}<`)) ? [] : [`the reply to ${id} did not come to the partner`],
  )

/** Each window grants so many; one begins with the first answer, and when a clock has jumped. */
const judgeLimits = ({ clockMoves }: World, { granted }: Clients['told']): readonly string[] =>
  [...granted].flatMap(([by, times]) => {
    const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
    const windows = Math.floor(tookMs / (readLimit.seconds * 1000)) + 2 + clockMoves
    return times.length > windows * readLimit.count ? [`${by} granted ${times.length} requests in ${tookMs} ms`] : []
  })
