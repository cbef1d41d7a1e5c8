/** All rules and attacks, in the order of the catalogue. */
import { type CheckRule, sectionOf } from './rule.ts'
import { accessRules } from './rules/access-rules.ts'
import { bindingRules } from './rules/binding-rules.ts'
import { contentAttacks } from './rules/content-attacks.ts'
import { encodingAttacks } from './rules/encoding-attacks.ts'
import { faultRules } from './rules/fault-rules.ts'
import { fieldRules } from './rules/field-rules.ts'
import { httpAttacks } from './rules/http-attacks.ts'
import { interfaceRules } from './rules/interface-rules.ts'
import { jobRules } from './rules/job-rules.ts'
import { limitRules } from './rules/limit-rules.ts'
import { messageAttacks } from './rules/message-attacks.ts'
import { messageRules } from './rules/message-rules.ts'
import { methodRules } from './rules/method-rules.ts'
import { packageAttacks } from './rules/package-attacks.ts'
import { statusRules } from './rules/status-rules.ts'

const orderOf = ({ id }: CheckRule): readonly [string, number, number] => {
  const [, style = '', section = '', number = ''] = /^([ABCD])(\d+)\.(\d+)$/.exec(id) ?? []
  return [style, Number(section), Number(number)]
}

function compareRules(one: CheckRule, other: CheckRule): number {
  const [[style, section, number], [otherStyle, otherSection, otherNumber]] = [orderOf(one), orderOf(other)]
  return style.localeCompare(otherStyle) || section - otherSection || number - otherNumber
}

/** All rules that a run checks by default, in the order of the catalogue. */
export const checkRules: readonly CheckRule[] = [
  ...interfaceRules,
  ...jobRules,
  ...methodRules,
  ...fieldRules,
  ...accessRules,
  ...statusRules,
  ...limitRules,
  ...messageRules,
  ...bindingRules,
  ...faultRules,
].sort(compareRules)

/** Probes that a run makes only with `--attacks`. */
export const attackRules: readonly CheckRule[] = [
  ...httpAttacks,
  ...contentAttacks,
  ...messageAttacks,
  ...encodingAttacks,
  ...packageAttacks,
].sort(compareRules)

export const isAttack = ({ id }: CheckRule): boolean => id.startsWith('D')

const allRules: readonly CheckRule[] = [...checkRules, ...attackRules]

/** The rule with this id, if there is one. */
export const findRule = (id: string): CheckRule | undefined =>
  allRules.find(rule => rule.id.toLowerCase() === id.toLowerCase())

export const writeRuleList = (): string => allRules.map(({ id, says }) => `${id.padEnd(6)} ${says}\n`).join('')

/** A rule in words, as `diglot check --explain` prints it. */
export const explainRule = (rule: CheckRule): string => `${rule.id}  ${rule.says}

from         ${sectionOf(rule)}${isAttack(rule) ? ': tried with --attacks' : ' of the conventions'}
probe        ${rule.how}
pass         each comparison of the probe holds
fail         one does not; the report has the exchange
otherwise    "not applicable" if the service has nothing that the rule speaks of,
             "not observable" if this run cannot see it, with what it would need
`

const escapeCell = (text: string): string => text.replaceAll('|', '\\|')
const writeTable = (rules: readonly CheckRule[]): string =>
  `| id | rule | probe |
|---|---|---|
${rules.map(({ id, says, how }) => `| ${id} | ${escapeCell(says)} | ${escapeCell(how)} |\n`).join('')}`

/** The page docs/check-rules.md. */
export const writeRulePage = (): string => `# The rules of \`diglot check\`

Printed from the rules themselves: \`diglot check --list --markdown\`.

${writeTable(checkRules)}
## Attacks

With \`--attacks\` a run also tries whether the service holds against what attackers send: D1 over HTTP, D2 as content of REST, D3 as messages of SOAP.

${writeTable(attackRules)}`
