/** What a client sends, and when it sends it again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import {
  type ClientCredentials,
  type ClientTransport,
  ConnectionError,
  createSoapClient,
  InputError,
  type SoapClientOptions,
  TransportFailure,
  type TransportResponse,
} from '../../src/client/index.ts'
import type { TransportRequest } from '../../src/client/transport.ts'
import {
  address,
  came,
  cannedTransport,
  envelope,
  mediaType,
  ns,
  ns11,
  ns12,
  product,
  recordRequests,
} from './canned.ts'

const answer = came(200, mediaType['1.2'], envelope('1.2', product))

describe('B4.2 B4.3 media types and actions', () => {
  const action = `${ns}/GetProduct`
  test('SOAP 1.1', async () => {
    const { client, sent } = recordRequests(came(200, mediaType['1.1'], envelope('1.1', product)), { soap: '1.1' })
    await client.GetProduct({ id: 'p-1' })
    assert.deepEqual(sent[0]?.fields, {
      'content-type': 'text/xml; charset=utf-8',
      soapaction: `"${action}"`,
      accept: 'text/xml',
    })
  })
  test('SOAP 1.2', async () => {
    const { client, sent } = recordRequests(answer)
    await client.GetProduct({ id: 'p-1' })
    assert.deepEqual(sent[0]?.fields, {
      'content-type': `application/soap+xml; charset=utf-8; action="${action}"`,
      accept: 'application/soap+xml',
    })
  })
  test('fields of one’s own', async () => {
    const fields = { TraceParent: '00-1-2-03', 'Content-Type': 'text/plain', ACCEPT: '*/*' }
    const { client, sent } = recordRequests(answer, { fields })
    await client.GetProduct({ id: 'p-1' })
    assert.deepEqual(sent[0]?.fields, {
      traceparent: '00-1-2-03',
      'content-type': `application/soap+xml; charset=utf-8; action="${action}"`,
      accept: 'application/soap+xml',
    })
  })
})

describe('B2.6–B2.8 the Body', () => {
  const created = 'id customer lines currency total note placedAt state version'
  const order = {
    customer: 'c-1',
    lines: [{ product: 'p-1', quantity: 2 }],
    currency: 'EUR',
    note: 'a < b & c',
  } as const
  const inside =
    '<customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity></line></lines><currency>EUR</currency><note>a &lt; b &amp; c</note>'
  const written = async (options: Partial<SoapClientOptions<'v2'>>) => {
    const { client, sent } = recordRequests(() => Promise.reject(new TransportFailure('closed', created)), options)
    await assert.rejects(client.CreateOrder({ order }), ConnectionError)
    return sent[0]?.text
  }
  const whole = (uri: string, body: string) =>
    `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="${uri}"><soap:Body>${body}</soap:Body></soap:Envelope>`
  test('document/literal, in the contract’s order whatever the caller’s', async () => {
    const body = `<CreateOrder xmlns="${ns}"><order>${inside}</order></CreateOrder>`
    assert.equal(await written({}), whole(ns12, body))
    assert.equal(await written({ soap: '1.1' }), whole(ns11, body))
  })
  test('RPC/literal', async () => {
    const body = `<m:CreateOrder xmlns:m="${ns}"><order>${inside}</order></m:CreateOrder>`
    assert.equal(await written({ style: 'rpc' }), whole(ns12, body))
  })
  test('RPC/encoded', async () => {
    const text = (await written({ style: 'encoded', soap: '1.1' })) ?? ''
    assert.ok(text.includes('soap:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"'), text)
    assert.ok(text.includes('<lines xsi:type="enc:Array" enc:arrayType="t:LineDraft[1]">'), text)
    assert.ok(text.includes('<quantity xsi:type="xsd:int">2</quantity>'), text)
  })
})

describe('arguments that the contract does not have are not sent', () => {
  const line = { product: 'p-1', quantity: 1 }
  const order = { customer: 'c-1', lines: [line], currency: 'EUR' }
  type Any = Record<string, (input?: unknown) => Promise<unknown>>
  const rows: readonly (readonly [string, string, unknown, string])[] = [
    ['nothing at all', 'GetOrder', undefined, 'id is required'],
    ['a member that is missing', 'PayOrder', { id: 'o-1', method: 'card' }, 'amount is required'],
    ['a member that is not declared', 'GetOrder', { id: 'o-1', more: 1 }, 'more is not a known field'],
    ['another type', 'GetOrder', { id: 7 }, 'id must be an identifier'],
    ['none of the values', 'PayOrder', { id: 'o-1', method: 'cash', amount: '1.00' }, 'method must be one of'],
    ['outside of its bounds', 'ListOrders', { size: 101 }, 'size must be at most 100'],
    ['a float for money', 'PayOrder', { id: 'o-1', method: 'card', amount: 1.1 }, 'amount must be decimal text'],
    ['null', 'GetOrder', { id: null }, 'id must not be null'],
    [
      'inside of a list',
      'CreateOrder',
      { order: { ...order, lines: [line, { product: 'p-1', quantity: 0 }] } },
      'order.lines.1.quantity must be at least 1',
    ],
    ['no list', 'CreateOrder', { order: { ...order, lines: line } }, 'order.lines must be an array'],
    ['an empty list', 'CreateOrder', { order: { ...order, lines: [] } }, 'order.lines must not be empty'],
    [
      'what XML cannot carry',
      'CreateOrder',
      { order: { ...order, note: 'a\u0000b' } },
      'order.note contains a character',
    ],
    [
      'text for octets',
      'PutProductPicture',
      { id: 'p-1', picture: 'x', mediaType: 'image/png' },
      'picture must be base64 bytes',
    ],
  ]
  for (const [title, operation, input, detail] of rows)
    test(title, async () => {
      const { client, sent } = recordRequests(answer)
      await assert.rejects((client as unknown as Any)[operation]!(input), (thrown: unknown) => {
        assert.ok(thrown instanceof InputError, String(thrown))
        assert.ok(thrown.message.startsWith(`${operation}: ${detail}`), thrown.message)
        return true
      })
      assert.deepEqual(sent, [])
    })
  test('a client may send back what it was given', async () => {
    const { client, sent } = recordRequests(came(202, undefined))
    const whole = {
      ...order,
      id: 'o-1',
      total: '4.95',
      placedAt: '2026-01-01T09:00:00Z',
      state: 'placed',
      version: '7',
    }
    await assert.rejects((client as unknown as Any)['ReplaceOrder']!({ id: 'o-1', version: '7', order: whole }))
    assert.equal(sent.length, 1)
  })
})

describe('B5 credentials', () => {
  const said = async (credentials: ClientCredentials) => {
    const { client, sent } = recordRequests(answer, { credentials })
    await client.GetProduct({ id: 'p-1' })
    return sent[0]!
  }
  test('Bearer', async () => assert.equal((await said({ bearer: 'abc' })).fields['authorization'], 'Bearer abc'))
  test('Basic, in UTF-8', async () => {
    const { authorization = '' } = (await said({ user: 'clara', password: 'geheim:ß' })).fields
    assert.equal(Buffer.from(authorization.replace('Basic ', ''), 'base64').toString(), 'clara:geheim:ß')
  })
  test('a user name that Basic cannot carry', () => {
    assert.throws(() => createSoapClient(shop, { address, credentials: { user: 'a:b', password: 'c' } }), TypeError)
    // As JavaScript may write it.
    const wrong = { token: 'x' } as unknown as ClientCredentials
    assert.throws(
      () => createSoapClient(shop, { address, credentials: wrong }),
      /^TypeError: credentials have only token: give bearer, user and password, key, or username and password$/,
    )
    assert.throws(
      () => createSoapClient(shop, Object.assign({ address }, { timeout: 1 })),
      /^TypeError: the options of the client: unknown member "timeout": use address, version/,
    )
  })
  test('a key, in its own field or another', async () => {
    assert.equal((await said({ key: 'k' })).fields['api-key'], 'k')
    assert.equal((await said({ key: 'k', field: 'x-key' })).fields['x-key'], 'k')
  })
  test('a token that changes is requested for each call', async () => {
    let count = 0
    const { client, sent } = recordRequests(answer, { credentials: { bearer: async () => `t${++count}` } })
    await client.GetProduct({ id: 'p-1' })
    await client.GetProduct({ id: 'p-1' })
    assert.deepEqual(
      sent.map(each => each.fields['authorization']),
      ['Bearer t1', 'Bearer t2'],
    )
  })
  test('a token that is unavailable is why the call fails', async () => {
    const reason = new Error('no token')
    const { client, sent } = recordRequests(answer, { credentials: { bearer: () => Promise.reject(reason) } })
    await assert.rejects(client.GetProduct({ id: 'p-1' }), reason)
    assert.deepEqual(sent, [])
  })
  test('a UsernameToken, its password in clear or digested', async () => {
    const { text } = await said({ username: 'clara', password: 'p<w' })
    assert.match(text, /<wsse:Security [^>]*mustUnderstand="1".*<wsse:Username>clara<.*#PasswordText">p&lt;w</s)
    const digested = (await said({ username: 'clara', password: 'p<w', digest: true })).text
    assert.match(digested, /#PasswordDigest">[A-Za-z0-9+/]{27}=</)
    assert.doesNotMatch(digested, /p&lt;w/)
  })
  test('a Timestamp next to it', async () => {
    const credentials = { username: 'clara', password: 'x' }
    const { client, sent } = recordRequests(answer, { credentials, security: { timestamp: { lifetime: 1000 } } })
    await client.GetProduct({ id: 'p-1' })
    assert.match(sent[0]?.text ?? '', /<wsu:Timestamp .*<wsse:UsernameToken /s)
  })
})

/** A transport that fails this often, then responds. */
function failing(times: number, why: TransportFailure): { transport: ClientTransport; tries: TransportRequest[] } {
  const tries: TransportRequest[] = []
  const transport: ClientTransport = {
    prepare: () => async sending => {
      tries.push(sending)
      if (tries.length <= times) throw why
      return answer
    },
    close: () => {},
  }
  return { transport, tries }
}
const lost = new TransportFailure('lost', 'it is lost', { mayHaveRun: true })
const begun = new TransportFailure('lost', 'it is cut short', { mayHaveRun: true, begun: true })
const unreachable = new TransportFailure('unreachable', 'no server there', { cause: new Error('ECONNREFUSED') })
const late = new TransportFailure('late', 'too late', { mayHaveRun: true })

describe('a message is sent again only if that can have no second effect', () => {
  type Call = (client: ReturnType<typeof recordRequests>['client']) => Promise<unknown>
  const read: Call = client => client.GetProduct({ id: 'p-1' })
  const change: Call = client => client.CreateProduct({ product: { name: 'Tea', price: '1.00', stock: 1 } })
  const rows: readonly (readonly [string, TransportFailure, Call, Partial<SoapClientOptions<'v2'>>, number])[] = [
    ['a safe operation whose connection was lost', lost, read, {}, 2],
    ['… as often as is said', lost, read, { retries: 2 }, 3],
    ['… or never', lost, read, { retries: 0 }, 1],
    ['nothing was sent', unreachable, change, {}, 2],
    ['an unsafe one that the service carries out once', lost, change, { addressing: { once: true } }, 2],
    ['not an unsafe one', lost, change, {}, 1],
    ['not an unsafe one with an id, where nothing is promised', lost, change, { addressing: true }, 1],
    ['not once an octet of an answer has come', begun, read, {}, 1],
    ['not what was too late', late, read, {}, 1],
  ]
  for (const [title, why, call, options, expected] of rows)
    test(title, async () => {
      const { transport, tries } = failing(9, why)
      const client = createSoapClient(shop, { address, version: 'v2', transport, ...options })
      await assert.rejects(call(client), (thrown: unknown) => {
        assert.ok(thrown instanceof ConnectionError, String(thrown))
        assert.deepEqual([thrown.why, thrown.mayHaveRun, thrown.cause], [why.why, why.mayHaveRun, why.cause])
        return true
      })
      assert.equal(tries.length, expected)
    })
  test('each retry is the same message, and the time limit holds for all of them', async () => {
    const { transport, tries } = failing(1, unreachable)
    const client = createSoapClient(shop, { address, version: 'v2', transport, addressing: true, timeLimit: 1000 })
    const call = client.GetProduct({ id: 'p-1' })
    await call
    const [first, second] = tries
    assert.equal(first?.content, second?.content)
    assert.ok(first!.timeLimit - second!.timeLimit >= 90, 'it waits a while for what is out of reach')
  })
  test('no retry is awaited beyond the time limit', async () => {
    const { transport, tries } = failing(9, unreachable)
    const client = createSoapClient(shop, { address, version: 'v2', transport, retries: 9, timeLimit: 250 })
    const from = performance.now()
    await assert.rejects(client.GetProduct({ id: 'p-1' }), { name: 'ConnectionError', why: 'unreachable' })
    assert.ok(performance.now() - from < 10_000)
    assert.equal(tries.length, 2)
  })
  test('nor after the call was given up', async () => {
    const { transport, tries } = failing(9, unreachable)
    const client = createSoapClient(shop, { address, version: 'v2', transport, retries: 9 })
    const reason = new Error('enough')
    const controller = new AbortController()
    const call = client.GetProduct({ id: 'p-1' }, { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 10)
    await assert.rejects(call, reason)
    assert.equal(tries.length, 1)
  })
  test('each retry has new proof of its caller', async () => {
    const { transport, tries } = failing(1, lost)
    const credentials = { username: 'clara', password: 'x', digest: true }
    const client = createSoapClient(shop, { address, version: 'v2', transport, credentials })
    await client.GetProduct({ id: 'p-1' })
    const nonces = tries.map(each => /Nonce[^>]*>([^<]*)/.exec(String(each.content))?.[1])
    assert.equal(new Set(nonces).size, 2)
  })
})

test('time limits: of a call, of the client, or half a minute', async () => {
  const tries: number[] = []
  const transport: ClientTransport = {
    prepare:
      () =>
      async ({ timeLimit }) => {
        tries.push(timeLimit)
        return answer
      },
    close: () => {},
  }
  const client = createSoapClient(shop, { address, version: 'v2', transport })
  await client.GetProduct({ id: 'p-1' })
  await client.GetProduct({ id: 'p-1' }, { timeLimit: 10 })
  await createSoapClient(shop, { address, version: 'v2', transport, timeLimit: 500 }).GetProduct({ id: 'p-1' })
  for (const [at, expected] of [30_000, 10, 500].entries())
    assert.ok(Math.abs(tries[at]! - expected) < 5, `${tries[at]}`)
})

test('a version that the contract does not have', () => {
  // @ts-expect-error there are v1 and v2
  assert.throws(() => createSoapClient(shop, { address, version: 'v3' }), /unknown version v3 of orders: use v1, v2/)
})

test('the newest version unless another is requested', async () => {
  const transport = cannedTransport((): TransportResponse => answer)
  await createSoapClient(shop, { address, transport }).GetProduct({ id: 'p-1' })
  assert.ok(transport.sent[0]?.text.includes(ns))
})

test('a client is closed with its connections', async () => {
  let closed = 0
  const transport: ClientTransport = { prepare: () => async () => answer, close: () => void closed++ }
  createSoapClient(shop, { address, transport }).close()
  {
    using _client = createSoapClient(shop, { address, transport })
  }
  assert.equal(closed, 2)
})
