/**
 * Our HTTP/1.1 beside node:http: of every message of the table, of some thousand generated ones, and of
 * sound ones cut at each octet, both make the same requests, and both refuse the same. Where they differ
 * a rule with its clause says why that is allowed; a difference that no rule explains fails.
 */
import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { generateMessages, table } from './http1-messages.ts'
import { type Outcome, type Served, sentinel, startNodeHttp, startOurs } from './http1-pair.ts'
import { atEnd } from './peer.ts'

/** Where two outcomes part: what each did first that the other did not. */
interface Difference {
  readonly octets: string
  readonly ours: Outcome
  readonly nodes: Outcome
  /** The next request of each, undefined where it has none. */
  readonly ourNext: Served | undefined
  readonly nodeNext: Served | undefined
}

interface Rule {
  readonly title: string
  readonly explains: (difference: Difference) => boolean
}

type Condition = (difference: Difference) => boolean

/** We serve what node:http refuses for this reason. */
const weServe =
  (reason: RegExp, octets: RegExp): Condition =>
  difference =>
    difference.ourNext !== undefined &&
    difference.nodes.end === 'refused' &&
    reason.test(difference.nodes.why) &&
    octets.test(difference.octets)

/** We refuse for this reason what node:http serves. */
const weRefuse =
  (reason: string, octets = /^/): Condition =>
  difference =>
    difference.nodeNext !== undefined && isRefusedFor(difference, reason) && octets.test(difference.octets)

const isRefusedFor = ({ ours }: Difference, reason: string): boolean =>
  ours.end === 'refused' && ours.why.startsWith(reason)

const rules: readonly Rule[] = [
  {
    title: 'RFC 9112 §9.6 what follows the last request is not read: node:http reads it, and calls it an error',
    explains: ({ ours, nodes, ourNext, nodeNext }) =>
      !ourNext && !nodeNext && ours.end === 'closed' && nodes.why === 'HPE_CLOSED_CONNECTION',
  },
  {
    title: 'RFC 9110 §9.1 any token is a method, which the face may not implement (501): node:http has a list',
    explains: ({ ourNext, nodes }) =>
      ourNext !== undefined && nodes.end === 'refused' && !METHODS.includes(ourNext.method),
  },
  {
    title: 'RFC 9112 §3.2 which form a target has is for the face to see: node:http refuses what has none',
    explains: ({ ourNext, nodes }) =>
      nodes.why === 'HPE_INVALID_URL' && ourNext !== undefined && !/^(\/|\*|[a-z]+:\/\/.)/i.test(ourNext.target),
  },
  {
    title: 'RFC 9110 §2.5 a later minor version is read as 1.1: node:http refuses it',
    explains: weServe(/HPE_INVALID_VERSION/, /HTTP\/1\.[2-9]\r/),
  },
  {
    title: 'RFC 9110 §15.6.6 another major version is refused: node:http serves 0.9 and 2.0',
    explains: weRefuse('this version of HTTP is not supported', /HTTP\/(0\.9|2\.0)\r/),
  },
  {
    title: 'RFC 9112 §3 a request line has a version: node:http serves one without as HTTP/0.9',
    explains: weRefuse('the request line is not', /^GET \/a\r/),
  },
  {
    title: 'RFC 9112 §3 one space stands before the target and the version: node:http passes over more',
    explains: weRefuse('the target contains characters', /^GET( {2}\/a| \/a {2})/),
  },
  {
    title: 'RFC 9112 §2.2 the line that may precede a request is empty, and ends with CRLF: node:http takes LF',
    explains: weRefuse('the method is not a token', /(^|[^\r])\n[A-Z-]+ /),
  },
  {
    title: 'RFC 9112 §6.1 a coding other than chunked is not implemented (501): node:http hands it on undone',
    explains: weRefuse('this transfer coding is not supported'),
  },
  {
    title: 'RFC 9112 §6.1 a transfer coding in HTTP/1.0 is faulty framing: node:http reads it',
    explains: weRefuse('HTTP/1.0 has no transfer codings', /HTTP\/1\.0\r/),
  },
  {
    title:
      'RFC 9112 §7.1.1 what an extension of a chunk says is passed over, also where it is no token: not so by node:http',
    explains: weServe(/HPE_STRICT|HPE_INVALID_CHUNK_SIZE/, /\r\n[0-9a-f]+ *;/i),
  },
  {
    title: 'RFC 9110 §6.5.1 trailer fields are dropped: node:http refuses those of framing',
    explains: weServe(/HPE_INVALID_(CONTENT_LENGTH|TRANSFER_ENCODING)/, /\r\n0\r\n(Content-Length|Transfer-Encoding):/),
  },
  {
    title: 'RFC 9110 §7.8 Upgrade may be ignored, and is: node:http reads nothing behind it',
    explains: ({ octets, nodes, ourNext, nodeNext }) =>
      /\r\nUpgrade:/.test(octets) && ourNext !== undefined && nodeNext === undefined && nodes.end === 'closed',
  },
  {
    title: 'RFC 9110 §10.1.1 an unknown expectation is for the face to refuse: node:http answers 417',
    explains: ({ ourNext }) =>
      ourNext !== undefined && /^(?!100-continue$)/.test(ourNext.fields['expect'] ?? '100-continue'),
  },
  {
    title: 'RFC 9110 §9.3.6 CONNECT is for the face to refuse: node:http closes the connection',
    explains: ({ ourNext, nodes }) => ourNext?.method === 'CONNECT' && nodes.end === 'closed',
  },
]

const isSame = (one: Outcome, other: Outcome): boolean =>
  one.end === other.end && isDeepStrictEqual(one.served, other.served)

function findDifference(octets: string, ours: Outcome, nodes: Outcome): Difference {
  let at = 0
  while (at < ours.served.length && isDeepStrictEqual(ours.served[at], nodes.served[at])) at++
  return { octets, ours, nodes, ourNext: ours.served[at], nodeNext: nodes.served[at] }
}

describe('our HTTP/1.1 compared with node:http', async () => {
  const ours = await startOurs()
  const nodes = await startNodeHttp()
  for (const peer of [ours, nodes]) atEnd(() => peer.close())

  /** Differences that no rule explains; `used` has the rules that were needed. */
  async function compare(messages: readonly string[], used = new Set<Rule>()): Promise<readonly Difference[]> {
    const unexplained: Difference[] = []
    const compareOne = async (octets: string): Promise<void> => {
      const pieces = [octets + sentinel]
      const [one, other] = await Promise.all([ours.ask(pieces), nodes.ask(pieces)])
      if (isSame(one, other)) return
      const difference = findDifference(octets, one, other)
      const rule = rules.find(each => each.explains(difference))
      if (rule) used.add(rule)
      else unexplained.push(difference)
    }
    for (let at = 0; at < messages.length; at += 64) await Promise.all(messages.slice(at, at + 64).map(compareOne))
    return unexplained
  }

  it('by the table, and each rule is needed by a row of it', async () => {
    const used = new Set<Rule>()
    assert.deepEqual(
      await compare(
        table.map(([, octets]) => octets),
        used,
      ),
      [],
    )
    assert.deepEqual(
      rules.filter(each => !used.has(each)).map(each => each.title),
      [],
    )
  })

  const sound = [
    'GET /a HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n',
    '\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\nHEAD /b HTTP/1.1\r\nHost: a\r\n\r\n',
    'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na\r\n\r\n',
    'POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a="b"\r\na\r\n\r\n0a\r\n0123456789\r\n0\r\nT: u\r\n\r\n',
    'PUT /a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na',
  ]
  it('cut in two at every octet: the same requests as uncut', async () => {
    for (const octets of sound) {
      const whole = await ours.ask([octets + sentinel])
      assert.equal(whole.served.at(-1)?.target, '/second')
      const cuts = Array.from({ length: octets.length }, (_, at) => [
        octets.slice(0, at + 1),
        octets.slice(at + 1) + sentinel,
      ])
      const outcomes = await Promise.all(cuts.flatMap(pieces => [ours.ask(pieces), nodes.ask(pieces)]))
      for (const outcome of outcomes) assert.deepEqual(outcome, whole)
    }
  })

  it('ended after every octet: an incomplete request is refused, and not served', async () => {
    for (const octets of sound) {
      const ends = Array.from({ length: octets.length }, (_, at) => at + 1).filter(
        at => octets.slice(0, at).trim() !== '',
      )
      for (const start of ends.map(at => octets.slice(0, at))) {
        const [one, other] = await Promise.all([ours.ask([start]), nodes.ask([start])])
        assert.ok(isSame(one, other), JSON.stringify([start, one, other]))
      }
    }
  })

  it('by 12,000 generated messages', async () => assert.deepEqual(await compare(generateMessages(9112, 12_000)), []))
})
