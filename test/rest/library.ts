/**
 * A service unlike orders: every kind of field, a public and a private resource, invalid faults
 * from a handler.
 */
import { anyone, fault, type Implementation, implement, resource, role, service, t } from 'diglot'

const clerk = role('clerk')

export const Torn = fault('Torn', { status: 409, title: 'Torn', detail: { look: t.string(), pages: t.int() } })

const books = resource('books', {
  fields: {
    id: t.id('b'),
    isbn: t.string({ xsd: 'token' }).attribute(),
    title: t.string({ min: 1 }),
    blurb: t.string().nullable(),
    copies: t.long(),
    rating: t.double(),
    lent: t.boolean(),
    tags: t.list(t.string()),
    size: t.int().optional(),
    cover: t.bytes({ max: 100 }),
    published: t.date().optional(),
    from: t.union('kind', { shop: { price: t.decimal(6, 2) }, gift: { giver: t.string() } }),
    secret: t.string().internal().optional(),
  },
  actions: on => ({
    tear: on().stay({ rel: 'tear', input: { pages: t.int() }, faults: [Torn] }),
  }),
}).rules({
  sort: ['title', 'published'],
  filter: ['title', 'lent', 'copies', 'size'],
  putCreates: true,
  cache: { maxAge: 30 },
  precondition: false,
  allow: { read: [clerk], create: [clerk], change: [clerk], tear: [clerk] },
})

const rules = resource('rules', { fields: { id: t.id('r'), text: t.string() } }).rules({
  allow: { read: [anyone], create: [clerk] },
  cache: { maxAge: 30 },
})

export const library: Implementation = implement(
  service('library', { namespace: 'urn:library', resources: [books, rules] }),
  {
    books: {
      tear: (ctx, _book, { pages }) => {
        if (pages === 0) return ctx.fail(Torn, { look: 'torn', pages: 7 })
        // A handler in JavaScript could do this: a detail that was not declared.
        return ctx.fail(Torn, { look: Symbol('not text') as never, pages: 1 })
      },
      formats: { 'text/plain': async book => book.title },
    },
  },
)
