/** UsernameToken (Username Token Profile 1.1), X5, X12 and X13 of attacks.md. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { type Protection, protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { passwordDigestUri, passwordTextUri, wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import { guard, now, open, outcome, plainMessage, refused, securePolicy, soap11Uri, taken } from './message.ts'

const created = new Date(now).toISOString()
const nonce = Buffer.from('sixteen octets!!')
const digested = (password: string, at = created, by = nonce) =>
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
const ago = (milliseconds: number) => new Date(now - milliseconds).toISOString()

const rows: [string, string, 'taken' | SecurityFault][] = [
  ['a password', text('alice', right), 'taken'],
  ['a password without a type', text('alice', right).replace(/ Type="[^"]*"/, ''), 'taken'],
  ['a digest', digest('alice', digested(right)), 'taken'],
  ['a wrong password', text('alice', 'wrong'), 'FailedAuthentication'],
  ['nobody', text('nobody', right), 'FailedAuthentication'],
  ['a digest of a wrong password', digest('alice', digested('wrong')), 'FailedAuthentication'],
  ['a digest of nobody', digest('nobody', digested(right)), 'FailedAuthentication'],
  ['a digest of nobody, of the word undefined', digest('nobody', digested('undefined')), 'FailedAuthentication'],
  ['a digest of nobody, of no password', digest('nobody', digested('')), 'FailedAuthentication'],
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
    digest('alice', digested(right, created, Buffer.alloc(0))).replace(/<w:Nonce>.*<\/w:Nonce>/, ''),
    'FailedAuthentication',
  ],
  [
    'a digest without Created',
    digest('alice', digested(right, '')).replace(/<u:Created>.*<\/u:Created>/, ''),
    'FailedAuthentication',
  ],
  [
    'a Nonce in another encoding',
    digest('alice', digested(right)).replace('<w:Nonce', '<w:Nonce EncodingType="urn:hex"'),
    'InvalidSecurityToken',
  ],
  [
    'a Nonce that is no base64',
    digest('alice', digested(right)).replace('<w:Nonce>', '<w:Nonce>!'),
    'InvalidSecurityToken',
  ],
  [
    'a Nonce of 1,025 octets',
    digest('alice', digested(right, created, Buffer.alloc(1025)), created, Buffer.alloc(1025).toString('base64')),
    'InvalidSecurityToken',
  ],
  ['a digest of five minutes ago', digest('alice', digested(right, ago(300_000)), ago(300_000)), 'taken'],
  [
    'a digest of more than five minutes ago',
    digest('alice', digested(right, ago(300_001)), ago(300_001)),
    'MessageExpired',
  ],
  ['a digest five minutes ahead', digest('alice', digested(right, ago(-300_000)), ago(-300_000)), 'taken'],
  [
    'a digest more than five minutes ahead',
    digest('alice', digested(right, ago(-300_001)), ago(-300_001)),
    'MessageExpired',
  ],
  ['a Created that is none', digest('alice', digested(right, 'now'), 'now'), 'InvalidSecurityToken'],
  [
    'a Created of the 31st of February',
    digest('alice', digested(right, '2030-02-31T00:00:00Z'), '2030-02-31T00:00:00Z'),
    'InvalidSecurityToken',
  ],
  [
    'a Created in another zone',
    digest('alice', digested(right, '2030-06-01T14:00:00+02:00'), '2030-06-01T14:00:00+02:00'),
    'taken',
  ],
  [
    'a password that is of an hour ago',
    text('alice', right, `<u:Created>${ago(3_600_000)}</u:Created>`),
    'MessageExpired',
  ],
  ['two tokens', text('alice', right).replace(/<w:UsernameToken>.*<\/w:UsernameToken>/s, '$&$&'), 'InvalidSecurity'],
]
for (const [title, message, expected] of rows) {
  test(`UsernameToken: ${title}: ${expected}`, async () => {
    const result = await outcome(open(message), securePolicy, guard(now))
    assert.equal(result instanceof Insecure ? result.fault : 'taken', expected)
    if (!(result instanceof Insecure)) assert.equal(result.caller?.subject, 'alice')
  })
}

test('B8 a wrong name and a wrong password are told apart by nothing', async () => {
  for (const [one, other] of [
    [text('nobody', right), text('alice', 'wrong')],
    [digest('nobody', digested(right)), digest('alice', digested('wrong'))],
    [token('<w:Username>nobody</w:Username>'), token('<w:Username>alice</w:Username>')],
  ] as const) {
    const results = [
      await outcome(open(one), securePolicy, guard(now)),
      await outcome(open(other), securePolicy, guard(now)),
    ]
    assert.deepEqual(results[0], results[1])
  }
})

test('somebody who is known, and whose password is not kept, proves nothing by a digest', async () => {
  const here = guard(now)
  const unkept = { ...here, identities: { ...here.identities, secret: () => undefined } }
  for (const password of ['', 'undefined', right]) {
    await refused(outcome(open(digest('alice', digested(password))), securePolicy, unkept), 'FailedAuthentication')
  }
})

test('X12: a digest is taken once, and its nonce remembered until it is of now no more', async () => {
  const here = guard(now)
  await taken(outcome(open(digest('alice', digested(right))), securePolicy, here))
  await refused(
    outcome(open(digest('alice', digested(right))), securePolicy, here),
    'FailedAuthentication',
    /seen before/,
  )
  assert.deepEqual([...here.memory.values()], [now + 300_000])
})

test('X12: octets moved from the nonce to Created do not make it a new one', async () => {
  const here = guard(now)
  const longer = Buffer.concat([nonce, Buffer.from('\n')])
  await taken(
    outcome(
      open(digest('alice', digested(right, created, longer), created, longer.toString('base64'))),
      securePolicy,
      here,
    ),
  )
  const moved = digest('alice', digested(right, `\n${created}`), `\n${created}`)
  await taken(outcome(open(moved), securePolicy, guard(now)))
  await refused(outcome(open(moved), securePolicy, here), 'FailedAuthentication', /seen before/)
})

test('X12: a digest that does not hold leaves nothing in the memory', async () => {
  const here = guard(now)
  await refused(outcome(open(digest('alice', digested('wrong'))), securePolicy, here), 'FailedAuthentication')
  assert.equal(here.memory.size, 0)
})

test('a password with a nonce and a time is taken once, too', async () => {
  const here = guard(now)
  const message = text('alice', right, `<w:Nonce>AAAA</w:Nonce><u:Created>${created}</u:Created>`)
  await taken(outcome(open(message), securePolicy, here))
  await refused(outcome(open(message), securePolicy, here), 'FailedAuthentication', /seen before/)
})

test('a policy takes the kinds of password that it names', async () => {
  const only = (kind: 'text' | 'digest'): SecurityPolicy => ({
    required: true,
    anyOf: [{ caller: 'username', passwords: [kind] }],
  })
  await refused(outcome(open(text('alice', right)), only('digest'), guard(now)), 'UnsupportedSecurityToken')
  await refused(outcome(open(digest('alice', digested(right))), only('text'), guard(now)), 'UnsupportedSecurityToken')
  const none: SecurityPolicy = { required: true, anyOf: [{ caller: 'kerberos' }] }
  await refused(outcome(open(text('alice', right)), none, guard(now)), 'InvalidSecurity', /kerberos: not there/)
})

test('a Timestamp that is demanded has to be there', async () => {
  const policy: SecurityPolicy = { required: true, anyOf: [{ caller: 'username', timestamp: true }] }
  const username = { name: 'alice', password: right, kind: 'text' } as const
  await taken(
    outcome(open(protectMessage(plainMessage(), { username, timestamp: {} }, now).envelope), policy, guard(now)),
  )
  const without = protectMessage(plainMessage(), { username }, now).envelope
  await refused(outcome(open(without), policy, guard(now)), 'InvalidSecurity', /no Timestamp/)
})

test('a password travels only where nobody listens', async () => {
  const message = { ...open(text('alice', right)), confidential: false }
  await refused(outcome(message, securePolicy, guard(now)), 'UnsupportedSecurityToken')
  await taken(outcome({ ...open(digest('alice', digested(right))), confidential: false }, securePolicy, guard(now)))
})

test('a bad token beside nothing that is demanded is refused; a Timestamp alone says nothing of anybody', async () => {
  const optional: SecurityPolicy = { ...securePolicy, required: false }
  await refused(outcome(open(text('alice', 'wrong')), optional, guard(now)), 'FailedAuthentication')
  assert.equal((await taken(outcome(open(plainMessage()), optional, guard(now)))).caller, undefined)
  const stamped = protectMessage(plainMessage(soap11Uri), { timestamp: {} }, now).envelope
  assert.equal((await taken(outcome(open(stamped), optional, guard(now)))).caller, undefined)
  await refused(outcome(open(stamped), optional, guard(now + 300_000)), 'MessageExpired')
  await refused(outcome(open(stamped), securePolicy, guard(now)), 'InvalidSecurity')
  await refused(outcome(open(plainMessage()), securePolicy, guard(now)), 'InvalidSecurity', /no Security block/)
})

for (const kind of ['text', 'digest'] as const) {
  test(`outgoing: a token with a ${kind} is taken`, async () => {
    const username: Protection['username'] = { name: 'alice', password: right, kind }
    const { caller } = await taken(
      outcome(open(protectMessage(plainMessage(), { username }, now).envelope), securePolicy, guard(now)),
    )
    assert.equal(caller?.subject, 'alice')
  })
}
