import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { type Problem, parseProblem, writeProblemJson, writeProblemXml } from '../../src/http/problem.ts'
import { reasonPhrases } from '../../src/http/status.ts'

const problem: Problem = {
  type: 'https://example.com/probs/out-of-credit',
  title: 'You do not have enough credit.',
  status: 403,
  detail: 'Your balance is <30> & "that" costs 50.',
  instance: undefined,
  balance: 30n,
  accounts: ['/account/12345', { a: null }],
  'total[gte]': true,
}

test('RFC 9457 §3 JSON (A2.5)', () => {
  assert.equal(
    writeProblemJson(problem),
    '{"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","status":403,"detail":"Your balance is <30> & \\"that\\" costs 50.","balance":30,"accounts":["/account/12345",{"a":null}],"total[gte]":true}',
  )
})

test('RFC 9457 Appendix B XML (A2.5)', () => {
  assert.equal(
    writeProblemXml(problem),
    '<?xml version="1.0" encoding="UTF-8"?>\n<problem xmlns="urn:ietf:rfc:7807"><type>https://example.com/probs/out-of-credit</type><title>You do not have enough credit.</title><status>403</status><detail>Your balance is &lt;30&gt; &amp; &quot;that&quot; costs 50.</detail><balance>30</balance><accounts><i>/account/12345</i><i><a></a></i></accounts><member name="total[gte]">true</member></problem>',
  )
})

test('RFC 9457 Appendix B the XML is well-formed, and holds the text, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (detail, name) => {
      const parser = new SaxesParser({ xmlns: true })
      let text = ''
      parser.on('error', error => {
        throw error
      })
      parser.on('text', piece => {
        text += piece
      })
      parser.write(writeProblemXml({ detail, [`x${name}`]: null })).close()
      if (!/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(detail)) assert.equal(text, `\n${detail}`)
    }),
  )
})

test('RFC 9457 §3.1 members of another type are ignored', () => {
  assert.deepEqual(parseProblem({ type: 1, title: 'x', status: '403', detail: null, instance: [], balance: 30 }), {
    title: 'x',
    balance: 30,
  })
  assert.deepEqual(parseProblem({ status: 403 }), { status: 403 })
  assert.deepEqual(
    [100, 599, 99, 600, 200.5].map(status => parseProblem({ status })?.status),
    [100, 599, undefined, undefined, undefined],
  )
  assert.equal(parseProblem('x'), undefined)
})

test('RFC 9110 §15 the phrases of A7.1–A7.16', () => {
  const codes = [200, 201, 202, 204, 301, 304, 400, 401, 403, 404, 409, 412, 422, 429, 500, 503]
  assert.ok(codes.every(code => reasonPhrases[code]))
  assert.equal(reasonPhrases[422], 'Unprocessable Content')
})
