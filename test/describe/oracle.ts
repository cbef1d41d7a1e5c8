/** libxml2 as the judge of schemas and of what they allow. */
import { XmlDocument, XsdValidator } from 'libxml2-wasm'

export interface Judge {
  /** Undefined: valid. Else what libxml2 says first. */
  flaw(document: string): string | undefined
}

/** Throws where libxml2 does not take the schema. */
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
