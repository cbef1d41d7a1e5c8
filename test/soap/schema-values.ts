/** A message with everything that schemas declare, and values of it: the same ones in each run. */
import { type ValueOf, x } from '../../src/contract/xml-type.ts'

export const a = x.namespace('urn:a')
export const b = x.namespace('urn:b', { elements: 'unqualified', attributes: 'qualified' })
const Colour = a.simple('Colour', x.token, { values: ['red', 'green'] })
export const Price = a.type('Price', {
  value: x.text(x.decimal),
  currency: x.attribute(x.string),
  note: x.attribute(x.string).optional(),
})
export const Place = b.type('Place', {
  town: x.element(x.string),
  zip: x.element(x.int).optional(),
  code: x.attribute(x.QName).optional(),
})
export const Vehicle = a.type('Vehicle', { wheels: x.element(x.int), id: x.attribute(x.string).optional() })
export const Car = a.type('Car', { doors: x.element(x.int) }, { extends: Vehicle })
const Truck = b.type('Truck', { load: x.element(x.decimal) }, { extends: Vehicle })
export interface Tree {
  readonly name: string
  readonly branch: readonly Tree[]
}
export const Tree: import('../../src/contract/xml-type.ts').NamedType<Tree, 'Tree'> = a.type('Tree', {
  name: x.element(x.string),
  branch: x.element(() => Tree).many(),
})
export const everything = a.element(
  'everything',
  x.object({
    colour: x.element(Colour),
    price: x.element(Price).many(),
    place: x.element(Place).nillable(),
    payment: x.choice({
      card: x.element(x.string),
      cash: x.sequence({ coins: x.element(x.int).many(1), notes: x.element(x.long).optional() }),
    }),
    steps: x.choice({ left: x.element(x.int), right: x.element(x.int) }).many(),
    vehicle: x.element(x.derivable(Vehicle, () => [Car, Truck])).optional(),
    tree: x.element(Tree).optional(),
    sizes: x.element(x.list(x.int)),
    either: x.element(x.union(x.int, x.string)),
    octets: x.element(x.hexBinary).optional(),
    unqualified: x.element(x.boolean).in('').optional(),
    rest: x.any({ of: ['urn:other'] }).many(),
    lang: x.attribute(x.language).in('http://www.w3.org/XML/1998/namespace').optional(),
    others: x.anyAttribute(),
  }),
)
type Everything = ValueOf<typeof everything>

/** Repeatable numbers: the same values in each run. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
function makeTree(random: (below: number) => number, depth: number): Tree {
  const many = depth === 0 ? 0 : random(3)
  return { name: `t${random(9)} <&>`, branch: Array.from({ length: many }, () => makeTree(random, depth - 1)) }
}
export function makeValue(random: (below: number) => number): Everything {
  const maybe = <T>(make: () => T, key: string) => (random(2) === 0 ? {} : { [key]: make() })
  const vehicles = [
    { wheels: 4, id: 'x' },
    { $type: 'Car' as const, wheels: 4, doors: random(6) },
    { $type: 'Truck' as const, wheels: 6, load: '12.500' },
  ]
  return {
    colour: random(2) === 0 ? 'red' : 'green',
    price: Array.from({ length: random(3) }, () => ({ value: `${random(99)}.50`, currency: 'EUR "€"' })),
    place:
      random(3) === 0
        ? null
        : { town: ' a\tb\n', ...maybe(() => random(99999), 'zip'), ...maybe(() => '{urn:q}n', 'code') },
    payment:
      random(2) === 0 ? { card: ']]>' } : { cash: { coins: [1, random(9)], ...maybe(() => 2n ** 60n, 'notes') } },
    steps: Array.from({ length: random(4) }, () => (random(2) === 0 ? { left: random(9) } : { right: random(9) })),
    sizes: Array.from({ length: random(4) }, () => random(9)),
    either: random(2) === 0 ? random(9) : 'word',
    rest: Array.from({ length: random(2) }, () => '<o:e xmlns:o="urn:other" k="v">t</o:e>'),
    ...maybe(() => vehicles[random(3)], 'vehicle'),
    ...maybe(() => makeTree(random, 3), 'tree'),
    ...maybe(() => new Uint8Array([1, 2, random(255)]), 'octets'),
    ...maybe(() => true, 'unqualified'),
    ...maybe(() => 'en', 'lang'),
    ...maybe(() => ({ '{urn:z}k': 'v', plain: '<' }), 'others'),
  }
}
