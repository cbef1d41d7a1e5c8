/**
 * What a contract says of its parts to the people who call the service. The same texts stand in
 * OpenAPI, WSDL, schemas, pages and sites.
 */

/** Plain text; descriptions may have several sentences. */
export interface PublicTexts {
  /** A few words that stand for the name. */
  readonly title?: string
  readonly description?: string
}
/** What a field says of itself: `field.describe`. */
export interface FieldTexts extends PublicTexts {
  readonly example?: unknown
  /** Value of an enumeration or of a state → what it means. */
  readonly values?: Readonly<Record<string, string | undefined>>
}

/** The members that are texts, where there are some. */
export const pickTexts = ({ title, description }: PublicTexts): PublicTexts => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
})

/** A sentence ends as one before another follows. */
export const joinSentences = (...texts: readonly (string | undefined)[]): string =>
  texts
    .filter(text => text !== undefined && text !== '')
    .map((text = '', i, all) => (i + 1 < all.length && !/[.!?:]$/.test(text) ? `${text}.` : text))
    .join(' ')
