import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond } from '../../src/http/respond.ts'

const usual = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }

test('RFC 9457 §4.2.1 about:blank, whose title is the phrase of the status (A2.5)', () => {
  assert.deepEqual(respond(405, { detail: 'allowed methods: GET, HEAD', fields: { allow: 'GET, HEAD' } }), {
    status: 405,
    fields: { ...usual, allow: 'GET, HEAD' },
    content: '{"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"allowed methods: GET, HEAD"}',
  })
})

test('RFC 9457 §3.1 a member without a value is left out: no detail, no phrase for the status', () => {
  assert.deepEqual(respond(503, { fields: { 'retry-after': '5' } }), {
    status: 503,
    fields: { ...usual, 'retry-after': '5' },
    content: '{"type":"about:blank","title":"Service Unavailable","status":503}',
  })
  assert.equal(respond(499).content, '{"type":"about:blank","status":499}')
})

test('RFC 9111 §5.2.2.5 a refusal is not stored, unless its maker decides otherwise', () => {
  assert.equal(respond(404).fields['cache-control'], 'no-store')
  assert.equal(respond(404, { fields: { 'cache-control': 'max-age=5' } }).fields['cache-control'], 'max-age=5')
})
