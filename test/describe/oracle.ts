/** libxml2 as the judge of schemas and documents. */
import { XmlDocument, XsdValidator } from 'libxml2-wasm'

export interface Judge {
  /** Undefined: valid. Else the first error of libxml2. */
  flaw(document: string): string | undefined
}

/** Throws if libxml2 refuses the schema. */
export function judge(schema: string): Judge {
  using document = XmlDocument.fromString(schema)
  const validator = XsdValidator.fromDoc(document)
  return {
    flaw(text) {
      using instance = XmlDocument.fromString(text)
      try {
        validator.validate(instance)
        return undefined
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
  }
}
