/** Names of constants in generated TypeScript: each is unique and means nothing else. */

const reserved = new Set(
  [
    'break case catch class const continue debugger default delete do else enum export extends false finally for',
    'function if import in instanceof new null return super switch this throw true try typeof var void while with',
    'as implements interface let package private protected public static yield any boolean constructor declare get',
    'module require number set string symbol type from of async await arguments eval undefined never unknown object',
    'bigint x t port exchange resource job fault header role anyone service contract ValueOf XmlType NamedType RootElement Grant Record Readonly Uint8Array',
    'Object Array String Number Boolean Function Symbol Promise Map Set Date Error NaN Infinity globalThis',
  ].flatMap(line => line.split(' ')),
)

export class ConstantNames {
  readonly #taken = new Set<string>(reserved)

  /** The name itself if it is free, else with the ending, else with a number. */
  claim(wish: string, ending: string): string {
    const name = toIdentifier(wish)
    const ended = ending === '' || name.endsWith(ending) ? name : `${name}${ending}`
    const isFree = (each: string): boolean => !this.#taken.has(each) || (each === 'contract' && each === wish)
    let free = [name, ended].find(isFree)
    for (let number = 2; free === undefined; number++)
      if (!this.#taken.has(`${ended}${number}`)) free = `${ended}${number}`
    this.#taken.add(free)
    return free
  }

  /** A name for a namespace: the last word of its URI. */
  claimNamespace(uri: string): string {
    const words = uri.split(/[/:#?&=]+/).filter(each => /[A-Za-z]/.test(each))
    const last = (words.at(-1) ?? 'none').replace(/\.(?:xsd|wsdl|asmx|svc|php|jws)$/i, '')
    const name = toIdentifier(last.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase()))
    return this.claim(name.charAt(0).toLowerCase() + name.slice(1), 'Namespace')
  }
}

function toIdentifier(wish: string): string {
  const name = wish.replace(/[^\p{ID_Continue}$]+(.)?/gu, (_, next: string = '') => next.toUpperCase())
  return /^[\p{ID_Start}_$]/u.test(name) ? name : `_${name}`
}

/** The name itself, or with the first free number from 2. */
export function findFreeName(wish: string, isTaken: (name: string) => boolean): string {
  let name = wish
  for (let number = 2; isTaken(name); number++) name = `${wish}${number}`
  return name
}
