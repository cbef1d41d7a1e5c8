/**
 * What a measured client does: it says what its first answer means, then, for each line `COUNT IN-FLIGHT` of its standard
 * input, calls so often, so many at once, and says that it is done. `call` throws when an answer is not what it must be.
 */
import { createInterface } from 'node:readline'

export async function drive(call) {
  console.log(JSON.stringify(await call()))
  for await (const line of createInterface(process.stdin)) {
    const [count, inFlight] = line.split(' ').map(Number)
    let left = count
    const one = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: inFlight }, one))
    console.log('done')
  }
  process.exit()
}

/** The members that are compared, whatever types a stack gives them. */
export function meaning({ id, customer, lines, total, version }) {
  const said = [
    id,
    customer,
    ...lines.flatMap(each => [each.product, each.quantity, Number(each.price)]),
    Number(total),
    version,
  ]
  const text = said.join(' ')
  if (text !== process.argv[3]) throw new Error(`not the answer: ${text}`)
  return text
}
