// What both clients share: lines in and out (see soap-driver.ts), faults, and the shapes they leave to their callers.
import { createInterface } from 'node:readline'

/** `client(as, password)` gives the client with the credentials set. */
export async function drive(style, client) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { operation, input, as, password } = JSON.parse(line)
    const said = await new Promise(resolve => {
      client(as, password)[operation](shapes[style](input), (error, output) =>
        resolve(error ? failure(error) : { output: plain(output ?? {}) }),
      )
    })
    console.log(JSON.stringify(said))
  }
}

/** Neither client knows arrays. */
const shapes = {
  document: input => input,
  rpc: input => input,
  encoded: ({ order, ...rest }) => ({ ...rest, ...(order && { order: { ...order, lines: { item: order.lines } } }) }),
}

/** Without attributes, and arrays of SOAP encoding as arrays. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const { attributes: _, $attributes: __, $value, ...rest } = value
  if ($value !== undefined) return $value
  if (rest.item !== undefined) return [rest.item].flat().map(plain)
  return Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, plain(each)]))
}

function failure(error) {
  const fault = error.root?.Envelope?.Body?.Fault
  if (!fault) return { error: String(error) }
  const { faultcode, faultstring, detail, Code, Reason, Detail } = plain(fault)
  const found = detail ?? Detail
  // An empty element is undefined to strong-soap: its name is all there is
  const named = found ? `${Object.keys(found)} ${JSON.stringify(found)}` : 'none'
  return { fault: { code: faultcode ?? Code?.Value, reason: faultstring ?? Reason?.Text, detail: named } }
}
