/**
 * Where other judges look at what the checker looks at, they agree, on our service and on others:
 * REDbot on caching and validation (A1.3, A4.3), Schemathesis on Allow and on errors of the server
 * (A4.9, A7.18). docs/check-others.md says what they judge besides.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { findRule, openSocketTransport, parseCaller, runCheck } from '../../src/check/index.ts'
import { stacks, startStack } from './others/stacks.ts'
import { missing, service } from './peer.ts'

const scratch = mkdtempSync(join(tmpdir(), 'diglot-judges-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const binaries = join(import.meta.dirname, 'others', 'venv', 'bin')
const python = join(binaries, 'python')
const skip = missing('REDbot and Schemathesis (pip install -r test/peers/others/requirements.txt)', python, [
  '-c',
  'import redbot, schemathesis',
])

interface Judged {
  readonly name: string
  readonly open: () => Promise<string>
  /** What both look at. */
  readonly resource: string
  readonly description: (origin: string) => string
  /** Where a check begins. */
  readonly path: string
  readonly callers?: readonly string[]
  /** Paths of the description that Schemathesis tries; a regular expression. */
  readonly part?: string
}

const stackNamed = (name: string) => async (): Promise<string> => {
  const stack = stacks.find(each => each.name === name)
  return stack ? startStack(stack) : assert.fail(`${name} is no stack`)
}
const own = (origin: string): string => `${origin}/openapi.json`
const shared = (): string => join(import.meta.dirname, 'others', 'notes.openapi.json')

const judged: readonly Judged[] = [
  {
    name: 'the orders service',
    open: async () => (await service([], ':memory:')).url,
    resource: '/api/v2/products/p-1',
    description: own,
    path: '/',
    callers: ['maria:maria-secret'],
    part: '^/api/v2/products',
  },
  { name: 'Express', open: stackNamed('Express'), resource: '/notes/1', description: shared, path: '/notes' },
  { name: 'Fastify', open: stackNamed('Fastify'), resource: '/notes/1', description: shared, path: '/notes' },
  { name: 'FastAPI', open: stackNamed('FastAPI'), resource: '/notes/1', description: own, path: '/' },
]

/** What it prints, whatever it ends with. */
function say(program: string, words: readonly string[]): Promise<string> {
  // Schemathesis keeps what it has found where it runs.
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000, cwd: scratch })
  let said = ''
  const keep = (part: Buffer): void => {
    said += part
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise(resolve => child.once('close', () => resolve(said)))
}

async function judgeByRules(origin: string, { path, callers = [] }: Judged, ids: readonly string[]) {
  const transport = await openSocketTransport(origin)
  const rules = ids.map(id => findRule(id) ?? assert.fail(`${id} is no rule`))
  const options = { basePath: path, rules, rate: 10_000, callers: callers.map(parseCaller) }
  const { verdicts } = await runCheck(transport, options).finally(() => transport.close())
  return Object.fromEntries(verdicts.map(({ rule, status }) => [rule.id, status]))
}

/** QUERY (RFC 9110 §9.1 leaves methods open) is in Allow, and no OpenAPI before 3.2 can name it. */
const hasUndeclared = (said: string): boolean =>
  [...said.matchAll(/Unsupported method ([A-Z]+)/g)].some(([, method]) => method !== 'QUERY')

describe('judges agree on what they both examine', { concurrency: 4 }, () => {
  for (const each of judged)
    describe(`${each.name}: other judges and the checker agree`, { skip, timeout: 120_000, concurrency: 1 }, () => {
      it('REDbot: a response says how it may be cached, and If-None-Match is supported (A1.3, A4.3)', async () => {
        const origin = await each.open()
        const said = await say(python, ['-m', 'redbot.cli', '-o', 'text', origin + each.resource])
        assert.match(said, /\* Caching:/, said)
        const verdicts = await judgeByRules(origin, each, ['A1.3', 'A4.3'])
        const seen = {
          'A1.3': /assign their own freshness/.test(said) ? 'fail' : 'pass',
          'A4.3': /If-None-Match conditional requests are supported/.test(said) ? 'pass' : 'fail',
        }
        assert.deepEqual(verdicts, seen, said)
      })

      it('Schemathesis: Allow has the documented methods, others are refused, no response is 500 (A4.9, A7.18)', async () => {
        const origin = await each.open()
        const checks = ['not_a_server_error', 'unsupported_method', 'allow_header_conformance']
        const words = [each.description(origin), '--url', origin, '--phases', 'coverage', '--checks', checks.join(',')]
        const part = each.part === undefined ? [] : ['--include-path-regex', each.part]
        const caller = (each.callers ?? []).flatMap(given => ['--auth', given])
        const said = await say(join(binaries, 'schemathesis'), ['run', ...words, ...part, ...caller, '--seed', '1', '--no-color']) // biome-ignore format: one call
        assert.match(said, /Test cases:/, said)
        const verdicts = await judgeByRules(origin, each, ['A4.9', 'A7.18'])
        const seen = {
          'A4.9': /Allow header mismatch/.test(said) || hasUndeclared(said) ? 'fail' : 'pass',
          'A7.18': /Server error/i.test(said) ? 'fail' : 'pass',
        }
        assert.deepEqual(verdicts, seen, said)
      })
    })
})
