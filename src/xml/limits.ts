/**
 * Limits for one document. Each default is far above any honest SOAP message, WSDL or schema and
 * far below what does harm: a document within all of them is read in time and memory proportional
 * to its bytes. Entities need no limit: a document type declaration is a syntax error here (SOAP
 * 1.2 Part 1 §5), so there are none to expand.
 */
export interface XmlLimits {
  /** Octets of the whole document, as received. */
  readonly bytes: number
  /** Elements open at once. */
  readonly depth: number
  /** Elements in the whole document. */
  readonly elements: number
  /** Child elements of one element. */
  readonly children: number
  /** Attributes of one element, its namespace declarations included. */
  readonly attributes: number
  /**
   * Octets (UTF-8) of one name as written, prefix included; also of a processing instruction's
   * target.
   */
  readonly name: number
  /** Different names in the whole document that are new to the process. */
  readonly names: number
  /** Octets (UTF-8) of one attribute value as written; so also of a namespace name. */
  readonly value: number
  /**
   * Octets (UTF-8) of one run of character data as written, CDATA sections and dissolved comments
   * included.
   */
  readonly text: number
  /** Character references and references to the five predefined entities in the whole document. */
  readonly references: number
}

/** The limits of messages and of descriptions; a document beyond one of them is malformed. */
export const defaultXmlLimits: XmlLimits = {
  bytes: 16 * 1024 * 1024, // a 5 MiB picture in base64 is 7 MiB; the largest public WSDLs have about 6 MiB
  depth: 64, // messages seldom pass 20; keeps every recursion over a tree shallow (attack: 200,000 deep)
  elements: 500_000, // a tree needs about 300 octets for an element
  children: 10_000, // one page of the largest list (attack: 300,000 siblings)
  attributes: 256, // the largest schemas have about 40 with declarations (attack: 100,000 of either)
  name: 1024, // generated names reach about 200 (attack: a 2 MB name)
  names: 10_000, // the largest vocabularies have some 2,000; a name costs a microsecond to enter
  value: 64 * 1024, // a long pattern facet in a schema has about 10,000
  text: 8 * 1024 * 1024, // the picture above in one piece
  references: 200_000, // a large document as escaped text (attack: 1,000,000)
}

/**
 * How a document is read: its limits, the charset of its media type, and whether comments count.
 */
export interface ParseOptions {
  readonly limits?: Partial<XmlLimits>
  /** The charset parameter of the document's media type. */
  readonly charset?: string
  /** Whether comments are events; otherwise they are removed, and the text around is joined. */
  readonly comments?: boolean
  /**
   * Processing instructions are events, or a failure (SOAP 1.2 Part 1 §5 forbids them). Default:
   * `report`.
   */
  readonly instructions?: 'report' | 'refuse'
  /** Prefixes that are bound outside the root, for a slice of another document. */
  readonly scope?: ReadonlyMap<string, string>
}
