/** XML 1.0 with namespaces: bytes to cursor to tree, and back. */
export { canonical, canonicalOctets, type Form } from './canonical.ts'
export type { Cursor, Event } from './cursor.ts'
export { type Limits, limits } from './limits.ts'
export { attempt, Malformed, type Position, position } from './malformed.ts'
export { clark, type Name, name, passing, xmlnsUri, xmlUri } from './name.ts'
export { type Options, Scanner, scan } from './scanner.ts'
export {
  type Attribute,
  type Comment,
  type Declaration,
  type Document,
  Element,
  element,
  type Instruction,
  type Node,
  parse,
  type Text,
} from './tree.ts'
export { walk } from './walker.ts'
export { attribute, text, Unwritable, write } from './write.ts'
