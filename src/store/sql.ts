/**
 * SQL as fragments: text of this program with names, literals and places of values in it, each
 * written so that it cannot be read as anything else. A fragment contains only fragments, so a text
 * from a request can only enter as a value.
 */
import { createHash } from 'node:crypto'

type SqlPart = string | Sql | ParameterPlace

/** A piece of SQL; the tag `sql` creates it. */
export class Sql {
  readonly parts: readonly SqlPart[]
  constructor(parts: readonly SqlPart[]) {
    this.parts = parts
  }
}

/** Where the value with this number goes. */
class ParameterPlace {
  readonly at: number
  constructor(at: number) {
    this.at = at
  }
}

export function sql(texts: TemplateStringsArray, ...inner: readonly Sql[]): Sql {
  return new Sql(texts.flatMap((text, i) => (i < inner.length ? [text, inner[i]!] : [text]))) // one for each gap
}

const quoteWith = (text: string, quote: string): string => quote + text.replaceAll(quote, quote + quote) + quote

/** A name, quoted as both databases quote it. */
sql.id = (name: string): Sql => new Sql([quoteWith(name, '"')])
/** A literal from the contract, never from a request. */
sql.lit = (value: string | number): Sql => new Sql([typeof value === 'number' ? String(value) : quoteWith(value, "'")])
/** Text of this program. */
sql.raw = (text: string): Sql => new Sql([text])
sql.place = (at: number): Sql => new Sql([new ParameterPlace(at)])
sql.join = (parts: readonly Sql[], separator: Sql = comma): Sql =>
  new Sql(parts.flatMap((part, i) => (i === 0 ? [part] : [separator, part])))
const comma = new Sql([', '])

/**
 * The text, and the number of the value for each parameter in it.
 * @param mark writes the parameter with this number, from 1
 */
export function compileSql(of: Sql, mark: (parameter: number) => string): { text: string; places: readonly number[] } {
  const places: number[] = []
  const write = ({ parts }: Sql): string =>
    parts
      .map(part => {
        if (typeof part === 'string') return part
        if (part instanceof Sql) return write(part)
        places.push(part.at)
        return mark(places.length)
      })
      .join('')
  return { text: write(of), places }
}

/** PostgreSQL truncates a name to 63 bytes, so a longer one ends in a digest of the whole name. */
export function databaseName(text: string): string {
  if (Buffer.byteLength(text) <= 63) return text
  return `${text.slice(0, 12)}#${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
