/** docs/check-others.md, made of the table. */
import { findRule } from '../../../src/check/index.ts'
import { curlWords, evidenceOf } from './evidence.ts'
import { failuresOfNode, failuresOfTiming, type H2specFailure, ownFailures } from './h2spec-verdicts.ts'
import { type StackName, verdicts } from './verdicts.ts'

const introduction = `# What the checker says of others

\`diglot check\` knows rules, not Diglot: these are its verdicts on small services, one resource of notes or two operations of SOAP, as the guides of their frameworks write them.
\`test/peers/check-others.peer.ts\` starts each of them, compares the verdicts with the table that this page is made of, and asks curl for each failure.
A failure is one of the conventions in [check-rules.md](check-rules.md): most are a choice of the framework, some are against a standard, and an application can mend nearly all.
PostgREST is not among them: Debian has no package of it.
`

const judges = `## Next to other judges

\`test/peers/check-judges.peer.ts\` asks REDbot and Schemathesis about the orders service, Express, Fastify and FastAPI, where they look at what a rule looks at: they agree on each.

| judge | what it says | rule |
|---|---|---|
| REDbot | caches may assign freshness lifetimes of their own | A1.3 |
| REDbot | If-None-Match conditional requests are supported | A4.3 |
| Schemathesis | ST205 Allow header mismatch, ST204 wrong response to an undeclared method | A4.9 |
| Schemathesis | server error | A7.18 |

What they say besides, and why no rule does:

- Schemathesis takes QUERY of the orders service for an undeclared method: it is in \`Allow\`, and OpenAPI before 3.2 cannot name it.
- ST103, an undocumented status: a description that lists no errors breaks no rule.
- ST202, a request that the schema allows and the service refuses: an empty name in \`fields\`, a value of a filter that is not one of its enumeration; the description has them as text.
- REDbot finds \`public\` and \`Expires\` next to \`max-age\` unnecessary: they change nothing.
`

const writeH2spec = (failures: readonly H2specFailure[]): string =>
  failures.map(({ test, sends, why }) => `| ${test} | ${inCell(sends)} | ${inCell(why)} |\n`).join('')
const h2spec = (): string => `## HTTP/2 by h2spec

A1.1 compares what HTTP/1.1 and HTTP/2 answer; h2spec 2.2.1, the last one that Go's proxy has, looks at the frames.
\`test/peers/h2spec.peer.ts\` runs its 145 tests against the orders service and against a bare server of \`node:http2\`.
135 pass; the others, by their section of RFC 7540, which RFC 9113 has replaced:

| test | what h2spec sends | what becomes of it |
|---|---|---|
${writeH2spec([...failuresOfNode, ...failuresOfTiming, ...ownFailures])}
All but ${ownFailures.map(({ test }) => test).join(', ')} are those of the bare server, too: frames are read by nghttp2, which is a part of Node.
`

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const quoted = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

function writeCommand(stack: StackName, id: string): string {
  const evidence = evidenceOf(stack, id)
  const words = curlWords(evidence, 'http://127.0.0.1:8080', /1\.[12]$/.test(stack) ? '/notes' : '/notes/1')
  const command = ['curl', ...words].map(quoted).join(' ')
  const { octets } = evidence
  return octets === undefined
    ? command
    : `printf ${quoted(octets.replaceAll('\r', '\\r').replaceAll('\n', '\\n'))} | ${command}`
}

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })
const failuresOf = (name: StackName): readonly (readonly [id: string, why: string])[] =>
  Object.entries(verdicts[name].fail).sort(([a], [b]) => inOrder(a, b))

const listRules = (ids: string): string => ids.split(' ').join(', ')

function writeStack(name: StackName): string {
  const { pass } = verdicts[name]
  const rows = failuresOf(name).map(([id, why]) => `| ${id} | ${inCell(findRule(id)?.says ?? '')} | ${inCell(why)} |`)
  return `## ${name}

Passes: ${listRules(pass)}.

| fails | rule | why |
|---|---|---|
${rows.join('\n')}
`
}

/** One command for each rule, of the first stack that fails it. */
function writeCommands(names: readonly StackName[]): string {
  const first = new Map<string, StackName>()
  for (const name of names) for (const id of Object.keys(verdicts[name].fail)) if (!first.has(id)) first.set(id, name)
  const ids = [...first.keys()].sort(inOrder)
  const lines = ids.map(id => `# ${id}: ${first.get(id)}\n${writeCommand(first.get(id) ?? 'Express', id)}`)
  return `## By hand

Each failure shows without the checker, too; for each rule the command of one service:

\`\`\`sh
${lines.join('\n\n')}
\`\`\`
`
}

export function writeOthersPage(): string {
  const names = Object.keys(verdicts) as StackName[] // the type of its keys
  const counts = names.map(name => {
    const failing = failuresOf(name).map(([id]) => id)
    return `| ${name} | ${verdicts[name].pass.split(' ').length} | ${failing.join(', ')} |`
  })
  return `${introduction}
| service | rules that pass | rules that fail |
|---|---|---|
${counts.join('\n')}

All other rules did not apply, or could not be observed: these services have no jobs, searches or limits.

${[...names.map(writeStack), judges, h2spec(), writeCommands(names)].join('\n')}`
}
