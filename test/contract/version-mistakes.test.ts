/** A9.3, B9.3: what a version says of its fields is checked at start, each mistake with its cure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../src/contract/field.ts'
import type { AnyResource } from '../../src/contract/resource.ts'
import { ContractMistakes, findContractMistakes, requireSoundContract } from '../../src/contract/review.ts'
import type { VersionRule } from '../../src/contract/service.ts'
import { anyone, implement, reshape, resource, retype, role, service, t } from '../../src/index.ts'

const owners = resource('owners', { fields: { id: t.id('o'), name: t.string() } }).rules({
  relations: { pets: { of: 'pets', by: 'owner' } },
  allow: { read: [anyone] },
})
const pets = resource('pets', {
  fields: {
    id: t.id('p'),
    owner: t.ref('owners'),
    keeper: t.ref('owners').optional(),
    kind: t.enum('cat', 'dog'),
    tame: t.boolean(),
    age: t.int({ min: 0, max: 30 }),
    name: t.string().describe('As it is called', { example: 'Tom' }),
    visits: t.list(t.object({ day: t.date(), fee: t.int().readOnly() }, 'Visit'), { max: 5 }),
    chip: t.string().internal().optional(),
    weight: t.int().visibleTo(role('vet')),
    rank: t.int().readOnly(),
    note: t.string().optional(),
    state: t.state(),
  },
  states: ['home', 'away'],
  actions: on => ({ leave: on('home').to('away', { rel: 'leaving' }) }),
}).rules({ relations: { keeper: { by: 'keeper' } }, allow: { read: [anyone], leave: [anyone] } })

const toys = resource('toys', {
  within: 'pet',
  fields: { id: t.id('t'), pet: t.ref('pets'), kind: t.string() },
}).rules({ allow: { read: [anyone] } })

const mistakesOf = (rule: object, newest: object = {}): readonly string[] =>
  findContractMistakes(
    implement(
      service('pets', {
        namespace: 'urn:x',
        resources: [pets, owners, toys],
        versions: { v1: rule as VersionRule, v2: newest },
      }),
      { pets: { derive: () => ({ visits: [], rank: 1 }), leave: () => {} } },
    ),
  )

const { kind, tame, age, name, visits, keeper, owner } = pets.fields
const identity = { up: <T>(value: T) => value, down: <T>(value: T) => value }
const renames = (of: object) => ({ renames: { pets: of } })
const retypes = (of: object, more: object = {}) => ({ ...more, retypes: { pets: of } })

/** One group; JavaScript may give anything. */
const reshapes = (newest: readonly string[], former: Fields, more: object = {}, of: AnyResource = pets) => {
  const pair = { up: () => ({ kind: 'cat', tame: true, age: 1 }), down: () => ({ sort: 'cat' }), ...more }
  return { reshapes: { pets: [reshape(of, newest as never, former, pair as never)] } }
}
const sort = { sort: t.enum('cat') }

const sound = retypes(
  {
    species: retype(kind, t.enum('feline', 'canine'), {
      up: species => (species === 'feline' ? 'cat' : 'dog'),
      down: now => (now === 'cat' ? 'feline' : 'canine'),
      exact: true,
    }),
    age: retype(age, t.string({ pattern: '[0-9]{1,2}' }), { up: Number, down: String }),
  },
  renames({ species: 'kind', keeper: 'owner', owner: 'keeper', note: 'name', called: 'note' }),
)

test('names that change places, and a pair that is its own inverse, are not mistakes', () => {
  assert.deepEqual(mistakesOf(sound), [])
})

const cases: readonly (readonly [string, object, RegExp])[] = [
  ['an unknown resource', { renames: { pet: { a: 'name' } } }, /v1 renames fields of "pet", which is not a resource/],
  ['an unknown resource to retype', { retypes: { pet: {} } }, /v1 retypes fields of "pet", which is not a resource/],
  ['a field that is not there', renames({ a: 'nam' }), /v1 calls pets.nam "a", but has no such field: use id, owner/],
  [
    'to leave out what is no field',
    { without: { pets: ['colour'] } },
    /v1 leaves out pets\.colour, which is not a field: use id, owner/,
  ],
  [
    'a field that the version leaves out',
    { ...renames({ a: 'note' }), without: { pets: ['note'] } },
    /v1 calls pets.note "a", but has no such field/,
  ],
  ['another name of the identifier', renames({ key: 'id' }), /v1 calls pets.id "key", which has one name and type/],
  [
    'another name of the state',
    renames({ place: 'state' }),
    /v1 calls pets.state "place", which has one name and type/,
  ],
  ['an internal field', renames({ tag: 'chip' }), /v1 calls pets.chip "tag", which is internal/],
  [
    'a name that XML and JSON pointers do not take',
    renames({ 'my-name': 'name' }),
    /"my-name", which is not a valid name/,
  ],
  [
    'the name of another field',
    renames({ age: 'name' }),
    /v1 calls pets.name "age", which is the name of another field/,
  ],
  ['two names of one field', renames({ a: 'name', b: 'name' }), /v1 calls pets.name "a", and by another name, too/],
  [
    'the name of a left-out field that a relation goes by',
    { ...renames({ keeper: 'name' }), without: { pets: ['keeper'] } },
    /the relation keeper goes by: choose another/,
  ],
  [
    'a field that the version does not have',
    retypes({ sort: retype(kind, t.string(), { up: () => 'cat' as const, down: String }) }),
    /v1: pets\.sort is retyped, but the version has no such field: use .*, or give kind this name by renames: \{ pets: \{ sort: 'kind' \} \}$/m,
  ],
  [
    'RFC 9745 §4: a sunset before the deprecation',
    { deprecated: '2027-06-30', sunset: '2027-01-31' },
    /v1 has its sunset 2027-01-31 before it is deprecated 2027-06-30: let it end later/,
  ],
  [
    'a pair that is none',
    retypes({ kind: { up: String } }),
    /v1: pets.kind is not a retype: write it as retype\(pets.fields.kind/,
  ],
  [
    'the pair of another field',
    retypes({ kind: retype(age, t.string(), { up: Number, down: String }) }),
    /v1: pets.kind converts a field other than pets.kind/,
  ],
  [
    'parts that clients send back',
    retypes({ visits: retype(visits, t.string(), { up: () => [], down: () => '' }) }),
    /v1: pets.visits has read-only parts/,
  ],
  [
    'a reference that a relation goes by',
    retypes({ keeper: retype(keeper, t.string(), identity) }),
    /v1: pets.keeper is what the relation keeper goes by/,
  ],
  [
    'a reference that a relation of another goes by',
    retypes({ owner: retype(owner, t.string(), identity) }),
    /v1: pets.owner is what the relation pets goes by/,
  ],
  [
    'a type with a mistake',
    retypes({ age: retype(age, t.int({ min: 5, max: 1 }), identity) }),
    /v1: pets.age allows no value: min 5 is above max 1/,
  ],
  [
    'a value that comes back as another',
    retypes({ kind: retype(kind, t.enum('a', 'b'), { up: () => 'cat' as const, down: () => 'a' as const }) }),
    /v1: pets.kind: down\(up\("b"\)\) is "a": make it "b"/,
  ],
  [
    'a value of the newest type that has none',
    retypes({
      kind: retype(kind, t.enum('a'), { up: () => 'cat' as const, down: now => (now === 'dog' ? 'b' : 'a') as 'a' }),
    }),
    /v1: pets.kind: down\("dog"\) returns a value that must be one of/,
  ],
  [
    'a value of the version that has none',
    retypes({ age: retype(age, t.int({ min: 0, max: 99 }), { up: each => each, down: each => each }) }),
    /v1: pets.age: up\(99\) returns a value that must be at most 30/,
  ],
  [
    'a pair that throws',
    retypes({
      tame: retype(tame, t.string().describe('Whether', { example: 'yes' }), {
        up: () => {
          throw new RangeError('no')
        },
        down: String,
      }),
    }),
    /v1: pets.tame: up\("yes"\) throws "no"/,
  ],
  [
    'an exact pair that is not',
    retypes({
      kind: retype(kind, t.enum('pet'), { up: () => 'cat' as const, down: () => 'pet' as const, exact: true }),
    }),
    /v1: pets.kind: up\(down\("dog"\)\) is "cat": remove `exact`/,
  ],
  [
    'an example that is lost',
    retypes({
      name: retype(name, t.string().describe('x', { example: 'TOM' }), {
        up: each => each.toLowerCase(),
        down: each => each,
      }),
    }),
    /v1: pets.name: down\(up\("TOM"\)\) is "tom"/,
  ],
]

const toyCases: typeof cases = [
  [
    'another type of the parent',
    { retypes: { toys: { pet: retype(toys.fields.pet, t.string(), identity) } } },
    /v1: toys.pet is what the relation up goes by/,
  ],
  [
    'the parent in a group',
    { reshapes: { toys: [reshape(toys, ['pet'] as never, { of: t.string() }, identity as never)] } },
    /pet is what the relation up goes by/,
  ],
  ['the parent left out', { without: { toys: ['pet'] } }, /v1 leaves out toys.pet, which names the parent/],
]

/** Groups of fields. */
const groupCases: typeof cases = [
  [
    'what is no list of groups',
    { reshapes: { pets: { kind: {} } } },
    /reshapes of pets are not a list of reshapes: write/,
  ],
  ['groups of an unknown resource', { reshapes: { pet: [] } }, /v1 reshapes fields of "pet", which is not a resource/],
  [
    'a group of another resource',
    reshapes(['name'], sort, {}, owners),
    /pets.name is one of owners: write it as reshape\(pets/,
  ],
  ['no field of the newest version', reshapes([], sort), /names no field of the newest version/],
  ['no field in their place', reshapes(['kind'], {}), /pets.kind has no field in their place: leave them out with/],
  ['a field that is not there', reshapes(['kin'], sort), /"kin" is not a field: use id, owner/],
  ['the identifier', reshapes(['id'], sort), /id has one name and type in all versions/],
  ['an internal field', reshapes(['chip'], sort), /chip is internal/],
  ['a field for some callers', reshapes(['weight'], sort), /weight is not for all callers: leave it out/],
  ['what a relation goes by', reshapes(['keeper'], sort), /keeper is what the relation keeper goes by/],
  [
    'a field that is left out as well',
    { ...reshapes(['note'], sort), without: { pets: ['note'] } },
    /note is left out, ren/,
  ],
  [
    'a field in a group twice',
    reshapes(['kind', 'kind'], sort),
    /kind is left out, renamed, retyped or in another group/,
  ],
  [
    'read-only fields among others',
    reshapes(['kind', 'rank'], sort),
    /has read-only fields and others: make a group of/,
  ],
  ['what replaces read-only fields', reshapes(['rank'], sort), /sort replaces read-only fields: add .readOnly/],
  ['what is read-only', reshapes(['kind'], { sort: t.enum('cat').readOnly() }), /sort is read-only, and the fields/],
  [
    'what is internal',
    reshapes(['kind'], { sort: t.enum('cat').internal() }),
    /sort is internal, computed or not for all/,
  ],
  [
    'a name that is taken',
    reshapes(['kind'], { name: t.enum('cat') }),
    /name is the name of another field of this version/,
  ],
  ['a name that is not valid', reshapes(['kind'], { 'a-b': t.enum('cat') }), /"a-b" is not a valid name/],
  [
    'parts that clients send back',
    reshapes(['kind'], { sort: t.object({ a: t.int().readOnly() }) }),
    /sort has read-only parts/,
  ],
  [
    'a type with a mistake',
    reshapes(['age'], { sort: t.int({ min: 5, max: 1 }) }),
    /sort allows no value: min 5 is above/,
  ],
  ['a group that throws', reshapes(['kind'], sort, { up: () => BigInt('no') }), /up\(\{"sort":"cat"\}\) throws/],
  ['a value of the wrong type', reshapes(['kind'], sort, { up: () => ({ kind: 'cow' }) }), /returns a value that/],
  [
    'a value that comes back as another',
    reshapes(['kind'], { sort: t.enum('a', 'cat') }, { up: () => ({ kind: 'cat' }) }),
    /pets.kind: down\(up\(\{"sort":"a"\}\)\) is \{"sort":"cat"\}: make it/,
  ],
]
for (const [what, rule, expected] of [...cases, ...toyCases, ...groupCases])
  test(`A9.3 ${what} is found at start`, () => {
    const found = mistakesOf(rule)
    assert.ok(
      found.some(each => expected.test(each)),
      found.join('\n') || 'nothing was found',
    )
  })

test('the newest version has the fields as they are declared', () => {
  const found = mistakesOf({}, renames({ a: 'name' }))
  assert.match(found.join('\n'), /v2 is the newest version, which has the fields as they are declared/)
})

test('a service with a mistake in a version does not start', () => {
  const contract = service('pets', {
    namespace: 'urn:x',
    resources: [owners],
    versions: { v1: { renames: { owners: { a: 'b' } } }, v2: {} },
  })
  assert.throws(() => requireSoundContract(implement(contract, {})), ContractMistakes)
})

test('a reversible group that replaces fields which change places is not a mistake', () => {
  const up = ({ text }: { readonly text: string }) => ({
    kind: text.startsWith('cat') ? 'cat' : 'dog',
    tame: text.endsWith('!'),
  })
  const down = ({ kind, tame }: { readonly kind: string; readonly tame: boolean }) => ({
    text: `${kind}${tame ? '!' : ''}`,
  })
  const group = reshapes(['kind', 'tame'], { text: t.enum('cat', 'cat!', 'dog', 'dog!') }, { up, down })
  assert.deepEqual(mistakesOf({ ...group, ...renames({ kind: 'name', tame: 'note' }) }), [])
})

test('a group is typed by the fields of both versions', () => {
  const former = { text: t.string() }
  // @ts-expect-error no such field
  reshape(pets, ['kin'], former, { up: () => ({}), down: () => ({ text: '' }) })
  // @ts-expect-error one of the newest values is missing
  reshape(pets, ['kind', 'tame'], former, { up: () => ({ kind: 'cat' as const }), down: () => ({ text: '' }) })
  // @ts-expect-error the version has no such field
  reshape(pets, ['kind'], former, { up: ({ note }) => ({ kind: note }), down: () => ({ text: '' }) })
  // @ts-expect-error the version has texts
  reshape(pets, ['kind'], former, { up: () => ({ kind: 'cat' as const }), down: () => ({ text: 1 }) })
})

test('a pair is typed by both fields', () => {
  // @ts-expect-error the newest value is one of the enumeration
  retype(kind, t.string(), { up: () => 'cow', down: String })
  // @ts-expect-error the version has numbers
  retype(kind, t.int(), { up: () => 'cat' as const, down: () => 'one' })
  // @ts-expect-error presence is that of the newest version
  retype(kind, t.string().optional(), { up: () => 'cat' as const, down: String })
})

test('A9.1 the newest version cannot be retired', () => {
  assert.match(mistakesOf({}, { retired: true }).join('\n'), /v2 is the newest version and cannot be retired/)
})
