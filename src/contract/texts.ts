/**
 * What a contract says about its parts to the people who call the service. The same texts appear in
 * OpenAPI, WSDL, schemas, pages and sites.
 */

/** Plain text; descriptions may have several sentences. */
export interface PublicTexts {
  /** A few words to show instead of the name. */
  readonly title?: string
  readonly description?: string
}
/** The texts of a field: `field.describe`. */
export interface FieldTexts extends PublicTexts {
  readonly example?: unknown
  /** Value of an enumeration or of a state → what it means. */
  readonly values?: Readonly<Record<string, string | undefined>>
}

/** The members that are texts, if there are any. */
export const pickTexts = ({ title, description }: PublicTexts): PublicTexts => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
})

/** Each sentence ends with a full stop before the next one follows. */
export const joinSentences = (...texts: readonly (string | undefined)[]): string =>
  texts
    .filter(text => text !== undefined && text !== '')
    .map((text = '', i, all) => (i + 1 < all.length && !/[.!?:]$/.test(text) ? `${text}.` : text))
    .join(' ')
