/** XML 1.0 with namespaces: bytes to cursor to tree, and back. */
export { type CanonicalForm, canonicalize, canonicalizeOctets, canonicalOctetsMax } from './canonical.ts'
export type { Cursor, Event } from './cursor.ts'
export { defaultXmlLimits, type ParseOptions, type XmlLimits } from './limits.ts'
export { Malformed, type Position, parseOrUndefined, positionOf } from './malformed.ts'
export { clarkNotation, internName, internTransient, type Name, xmlnsUri, xmlUri } from './name.ts'
export { type Scanner, scanDocument } from './scanner.ts'
export {
  type Attribute,
  type Comment,
  type Declaration,
  type Document,
  Element,
  type Instruction,
  type Node,
  parseXml,
  readElement,
  readRootName,
  type Text,
} from './tree.ts'
export { walkTree } from './walker.ts'
export { escapeText, Unwritable, writeAttribute, writeElement } from './write.ts'
