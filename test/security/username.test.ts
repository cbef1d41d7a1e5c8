/** UsernameToken (Username Token Profile 1.1), and the attacks X5, X12 and X13. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { passwordDigestUri, passwordTextUri, wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  now,
  openMessage,
  plainMessage,
  securePolicy,
  soap11Uri,
  verifyOrRefuse,
} from './message.ts'

const created = new Date(now).toISOString()
const nonce = Buffer.from('sixteen octets!!')
const digestOf = (password: string, at = created, by = nonce) =>
  createHash('sha1').update(by).update(at).update(password).digest('base64')

const token = (inside: string) =>
  plainMessage(
    undefined,
    `<w:Security xmlns:w="${wsseNs}" xmlns:u="${wsuNs}"><w:UsernameToken>${inside}</w:UsernameToken></w:Security>`,
  )
const text = (name: string, password: string, more = '') =>
  token(`<w:Username>${name}</w:Username><w:Password Type="${passwordTextUri}">${password}</w:Password>${more}`)
const digest = (name: string, value: string, at = created, by = nonce.toString('base64')) =>
  token(
    `<w:Username>${name}</w:Username><w:Password Type="${passwordDigestUri}">${value}</w:Password><w:Nonce>${by}</w:Nonce><u:Created>${at}</u:Created>`,
  )
const right = 'open sesame'
const timeAgo = (milliseconds: number) => new Date(now - milliseconds).toISOString()

const rows: [string, string, 'taken' | SecurityFault][] = [
  ['a password', text('alice', right), 'taken'],
  ['a password without a type', text('alice', right).replace(/ Type="[^"]*"/, ''), 'taken'],
  ['a digest', digest('alice', digestOf(right)), 'taken'],
  ['a wrong password', text('alice', 'wrong'), 'FailedAuthentication'],
  ['nobody', text('nobody', right), 'FailedAuthentication'],
  ['a digest of a wrong password', digest('alice', digestOf('wrong')), 'FailedAuthentication'],
  ['a digest of an unknown name', digest('nobody', digestOf(right)), 'FailedAuthentication'],
  [
    'a digest of an unknown name, of the word undefined',
    digest('nobody', digestOf('undefined')),
    'FailedAuthentication',
  ],
  ['a digest of an unknown name, of no password', digest('nobody', digestOf('')), 'FailedAuthentication'],
  ['a digest that is empty', digest('alice', ''), 'FailedAuthentication'],
  ['the name of a property of all objects', text('__proto__', right), 'FailedAuthentication'],
  ['a password with white space around it', text('alice', ` ${right} `), 'FailedAuthentication'],
  ['X5 a comment in the name', text('al<!-- x -->ice', right), 'taken'],
  ['X5 a comment in the password', text('alice', 'open <!-- x -->sesame'), 'taken'],
  ['X5 an element in the name', text('alice<x/>', right), 'InvalidSecurity'],
  ['X5 an element in the password', text('alice', `${right}<x/>`), 'InvalidSecurity'],
  ['X13 no Password', token('<w:Username>alice</w:Username>'), 'FailedAuthentication'],
  [
    'X13 no Password, but Nonce and Created',
    token(`<w:Username>alice</w:Username><w:Nonce>AAAA</w:Nonce><u:Created>${created}</u:Created>`),
    'FailedAuthentication',
  ],
  ['no Username', token(`<w:Password>${right}</w:Password>`), 'InvalidSecurity'],
  ['two Usernames', text('clara</w:Username><w:Username>alice', right), 'InvalidSecurity'],
  ['two Passwords', text('alice', `x</w:Password><w:Password>${right}`), 'InvalidSecurity'],
  [
    'a Password of another type',
    text('alice', right).replace('#PasswordText', '#PasswordOther'),
    'UnsupportedSecurityToken',
  ],
  [
    'a digest without a Nonce',
    digest('alice', digestOf(right, created, Buffer.alloc(0))).replace(/<w:Nonce>.*<\/w:Nonce>/, ''),
    'FailedAuthentication',
  ],
  [
    'a digest without Created',
    digest('alice', digestOf(right, '')).replace(/<u:Created>.*<\/u:Created>/, ''),
    'FailedAuthentication',
  ],
  [
    'a Nonce in another encoding',
    digest('alice', digestOf(right)).replace('<w:Nonce', '<w:Nonce EncodingType="urn:hex"'),
    'InvalidSecurityToken',
  ],
  [
    'a Nonce that is not base64',
    digest('alice', digestOf(right)).replace('<w:Nonce>', '<w:Nonce>!'),
    'InvalidSecurityToken',
  ],
  [
    'a Nonce of 1,025 octets',
    digest('alice', digestOf(right, created, Buffer.alloc(1025)), created, Buffer.alloc(1025).toString('base64')),
    'InvalidSecurityToken',
  ],
  ['a digest of five minutes ago', digest('alice', digestOf(right, timeAgo(300_000)), timeAgo(300_000)), 'taken'],
  [
    'a digest of more than five minutes ago',
    digest('alice', digestOf(right, timeAgo(300_001)), timeAgo(300_001)),
    'MessageExpired',
  ],
  ['a digest five minutes ahead', digest('alice', digestOf(right, timeAgo(-300_000)), timeAgo(-300_000)), 'taken'],
  [
    'a digest more than five minutes ahead',
    digest('alice', digestOf(right, timeAgo(-300_001)), timeAgo(-300_001)),
    'MessageExpired',
  ],
  ['an invalid Created', digest('alice', digestOf(right, 'now'), 'now'), 'InvalidSecurityToken'],
  [
    'a Created of the 31st of February',
    digest('alice', digestOf(right, '2030-02-31T00:00:00Z'), '2030-02-31T00:00:00Z'),
    'InvalidSecurityToken',
  ],
  [
    'a Created in another zone',
    digest('alice', digestOf(right, '2030-06-01T14:00:00+02:00'), '2030-06-01T14:00:00+02:00'),
    'taken',
  ],
  [
    'a password that is of an hour ago',
    text('alice', right, `<u:Created>${timeAgo(3_600_000)}</u:Created>`),
    'MessageExpired',
  ],
  ['two tokens', text('alice', right).replace(/<w:UsernameToken>.*<\/w:UsernameToken>/s, '$&$&'), 'InvalidSecurity'],
]
for (const [title, message, expected] of rows) {
  test(`UsernameToken: ${title}: ${expected}`, async () => {
    const result = await verifyOrRefuse(openMessage(message), securePolicy, createGuard(now))
    assert.equal(result instanceof Insecure ? result.fault : 'taken', expected)
    if (!(result instanceof Insecure)) assert.equal(result.caller?.subject, 'alice')
  })
}

test('B8 nothing distinguishes a wrong name from a wrong password', async () => {
  for (const [one, other] of [
    [text('nobody', right), text('alice', 'wrong')],
    [digest('nobody', digestOf(right)), digest('alice', digestOf('wrong'))],
    [token('<w:Username>nobody</w:Username>'), token('<w:Username>alice</w:Username>')],
  ] as const) {
    const results = [
      await verifyOrRefuse(openMessage(one), securePolicy, createGuard(now)),
      await verifyOrRefuse(openMessage(other), securePolicy, createGuard(now)),
    ]
    assert.deepEqual(results[0], results[1])
  }
})

test('X12: a digest is accepted once, and its nonce remembered until it expires', async () => {
  const here = createGuard(now)
  await expectAccepted(verifyOrRefuse(openMessage(digest('alice', digestOf(right))), securePolicy, here))
  await expectRefusal(
    verifyOrRefuse(openMessage(digest('alice', digestOf(right))), securePolicy, here),
    'FailedAuthentication',
    /seen before/,
  )
  assert.deepEqual([...here.memory.values()], [now + 300_000])
})

test('X12: octets moved from the nonce to Created do not make a new digest', async () => {
  const here = createGuard(now)
  const longer = Buffer.concat([nonce, Buffer.from('\n')])
  await expectAccepted(
    verifyOrRefuse(
      openMessage(digest('alice', digestOf(right, created, longer), created, longer.toString('base64'))),
      securePolicy,
      here,
    ),
  )
  const moved = digest('alice', digestOf(right, `\n${created}`), `\n${created}`)
  await expectAccepted(verifyOrRefuse(openMessage(moved), securePolicy, createGuard(now)))
  await expectRefusal(verifyOrRefuse(openMessage(moved), securePolicy, here), 'FailedAuthentication', /seen before/)
})

test('X12: a refused digest leaves nothing in the memory', async () => {
  const here = createGuard(now)
  await expectRefusal(
    verifyOrRefuse(openMessage(digest('alice', digestOf('wrong'))), securePolicy, here),
    'FailedAuthentication',
  )
  assert.equal(here.memory.size, 0)
})

test('a password with a nonce and a time is accepted once, too', async () => {
  const here = createGuard(now)
  const message = text('alice', right, `<w:Nonce>AAAA</w:Nonce><u:Created>${created}</u:Created>`)
  await expectAccepted(verifyOrRefuse(openMessage(message), securePolicy, here))
  await expectRefusal(verifyOrRefuse(openMessage(message), securePolicy, here), 'FailedAuthentication', /seen before/)
})

test('a policy accepts the kinds of password that it names', async () => {
  const only = (kind: 'text' | 'digest'): SecurityPolicy => ({
    required: true,
    anyOf: [{ caller: 'username', passwords: [kind] }],
  })
  await expectRefusal(
    verifyOrRefuse(openMessage(text('alice', right)), only('digest'), createGuard(now)),
    'UnsupportedSecurityToken',
  )
  await expectRefusal(
    verifyOrRefuse(openMessage(digest('alice', digestOf(right))), only('text'), createGuard(now)),
    'UnsupportedSecurityToken',
  )
  const none: SecurityPolicy = { required: true, anyOf: [{ caller: 'kerberos' }] }
  await expectRefusal(
    verifyOrRefuse(openMessage(text('alice', right)), none, createGuard(now)),
    'InvalidSecurity',
    /kerberos: not there/,
  )
})

test('a required Timestamp must be present', async () => {
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'username', timestamp: true }] }
  const username = { name: 'alice', password: right, kind: 'text' } as const
  await expectAccepted(
    verifyOrRefuse(
      openMessage(protectMessage(plainMessage(), { username, timestamp: {} }, now).envelope),
      policy,
      createGuard(now),
    ),
  )
  const without = protectMessage(plainMessage(), { username }, now).envelope
  await expectRefusal(verifyOrRefuse(openMessage(without), policy, createGuard(now)), 'InvalidSecurity', /no Timestamp/)
})

test('a password travels only over confidential transport', async () => {
  const message = { ...openMessage(text('alice', right)), confidential: false }
  await expectRefusal(verifyOrRefuse(message, securePolicy, createGuard(now)), 'UnsupportedSecurityToken')
  await expectAccepted(
    verifyOrRefuse(
      { ...openMessage(digest('alice', digestOf(right))), confidential: false },
      securePolicy,
      createGuard(now),
    ),
  )
})

test('a bad token is refused even if none is required; a Timestamp by itself names no caller', async () => {
  const optional: SecurityPolicy = { ...securePolicy, required: false }
  await expectRefusal(
    verifyOrRefuse(openMessage(text('alice', 'wrong')), optional, createGuard(now)),
    'FailedAuthentication',
  )
  assert.equal(
    (await expectAccepted(verifyOrRefuse(openMessage(plainMessage()), optional, createGuard(now)))).caller,
    undefined,
  )
  const stamped = protectMessage(plainMessage(soap11Uri), { timestamp: {} }, now).envelope
  assert.equal(
    (await expectAccepted(verifyOrRefuse(openMessage(stamped), optional, createGuard(now)))).caller,
    undefined,
  )
  await expectRefusal(verifyOrRefuse(openMessage(stamped), optional, createGuard(now + 300_000)), 'MessageExpired')
  await expectRefusal(verifyOrRefuse(openMessage(stamped), securePolicy, createGuard(now)), 'InvalidSecurity')
  await expectRefusal(
    verifyOrRefuse(openMessage(plainMessage()), securePolicy, createGuard(now)),
    'InvalidSecurity',
    /no Security block/,
  )
})

for (const kind of ['text', 'digest'] as const) {
  test(`outgoing: a token with a ${kind} is accepted`, async () => {
    const username: Protection['username'] = { name: 'alice', password: right, kind }
    const { caller } = await expectAccepted(
      verifyOrRefuse(
        openMessage(protectMessage(plainMessage(), { username }, now).envelope),
        securePolicy,
        createGuard(now),
      ),
    )
    assert.equal(caller?.subject, 'alice')
  })
}
