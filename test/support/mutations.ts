/**
 * The changes that `npm run mutants` tries on a source file: one small mistake each, as a hand could
 * make it, found in the syntax tree of the compiler.
 */
import {
  isArrowFunction,
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isDeleteExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isParenthesizedExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAssignment,
  isReturnStatement,
  isThrowStatement,
  isTypeNode,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

export type MutationKind = 'condition' | 'operator' | 'statement' | 'return' | 'constant'

export interface Mutation {
  readonly kind: MutationKind
  /** In UTF-16 units of the source text. */
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Each comparison moves by its edge, or turns round; each connective is exchanged. */
const exchanged: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
}

/** A result is dropped; where `undefined` would pass for it, it turns round. */
const spoilResult = (text: string): string => (text === 'true' ? 'false' : text === 'false' ? 'true' : 'undefined')

/** Calls `look` with the syntax trees of `files`, absolute paths below the folder of `configFile`. */
export function readTrees(configFile: string, files: readonly string[], look: (tree: SourceFile) => void): void {
  const api = new API()
  try {
    const program = api.updateSnapshot({ openProjects: [configFile] }).getProject(configFile)?.program
    for (const file of files) {
      const tree = program?.getSourceFile(file)
      if (!tree) throw new Error(`${file} is not in the program of ${configFile}`)
      look(tree)
    }
  } finally {
    api.close()
  }
}

/** Every change that one node allows, and those of the nodes in it, in the order of the text. */
export function mutationsOf(tree: SourceFile): readonly Mutation[] {
  const found: Mutation[] = []
  const visit = (node: Node): void => {
    if (isTypeNode(node)) return
    found.push(...mutationsAt(node, tree))
    node.forEachChild(child => {
      if (!(isPropertyAssignment(node) && child === node.name)) visit(child) // `(1 + 1): a` would not load
    })
  }
  tree.forEachChild(visit)
  return found.sort((a, b) => a.start - b.start || a.end - b.end)
}

function mutationsAt(node: Node, tree: SourceFile): readonly Mutation[] {
  const change = (kind: MutationKind, at: Node, replacement: string): readonly Mutation[] => [
    { kind, start: at.getStart(tree), end: at.end, replacement },
  ]
  const textOf = (at: Node): string => tree.text.slice(at.getStart(tree), at.end)
  if (isIfStatement(node)) return change('condition', node.expression, `!(${textOf(node.expression)})`)
  if (isConditionalExpression(node)) return change('condition', node.condition, `!(${textOf(node.condition)})`)
  if (isBinaryExpression(node)) {
    const other = exchanged[textOf(node.operatorToken)]
    return other === undefined ? [] : change('operator', node.operatorToken, other)
  }
  if (isThrowStatement(node) || (isExpressionStatement(node) && hasEffect(node.expression)))
    return change('statement', node, ';')
  if (isReturnStatement(node) && node.expression && textOf(node.expression) !== 'undefined')
    return change('return', node.expression, spoilResult(textOf(node.expression)))
  if (isArrowFunction(node) && !isBlock(node.body) && textOf(node.body) !== 'undefined')
    return change('return', node.body, spoilResult(textOf(node.body)))
  if (isNumericLiteral(node)) return change('constant', node, `(${textOf(node)} + 1)`)
  return []
}

/** A string directive and the call of the parent class stay: without them the file does not load. */
function hasEffect(expression: Node): boolean {
  if (isAwaitExpression(expression) || isParenthesizedExpression(expression)) return hasEffect(expression.expression)
  if (isCallExpression(expression)) return expression.expression.getText() !== 'super'
  return (
    isBinaryExpression(expression) ||
    isDeleteExpression(expression) ||
    isPrefixUnaryExpression(expression) ||
    isPostfixUnaryExpression(expression)
  )
}

export const applyMutation = (text: string, { start, end, replacement }: Mutation): string =>
  text.slice(0, start) + replacement + text.slice(end)

/** The same seed gives the same order on every machine: a larger sample holds the smaller one. */
export function shuffle<T>(items: readonly T[], seed: number): readonly T[] {
  const out = [...items]
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0 // mulberry32
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  for (let i = out.length - 1; i > 0; i -= 1) {
    const j = Math.floor(next() * (i + 1))
    const held = out[i]!
    out[i] = out[j]!
    out[j] = held
  }
  return out
}
