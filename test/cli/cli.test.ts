/**
 * The command line says what is wrong in one line, with its exit status: 2 for usage, 1 for other
 * errors, never a stack.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startService } from '../../src/host/serve.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'diglot-cli-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const orders = join(root, 'examples', 'orders', 'service.ts')
const wrong = join(folder, 'wrong.ts')
writeFileSync(wrong, 'export default 1\n')
const broken = join(folder, 'broken.ts')
writeFileSync(broken, 'export default {\n')
writeFileSync(join(folder, 'helper.ts'), 'export const fields: any = undefined\n\nfields.id.optional()\n')
writeFileSync(join(folder, 'imports.ts'), "import './helper.ts'\n")
const contract = join(folder, 'contract.ts')
const own = pathToFileURL(join(root, 'src', 'index.ts')).href
writeFileSync(
  contract,
  `import { service } from '${own}'\nexport default service('s', { namespace: 'urn:s', resources: [] })\n`,
)
writeFileSync(join(folder, 'refused.ts'), `import { service } from '${own}'\n\nexport default service('s', {})\n`)

const diglot = (...words: string[]) =>
  spawnSync(process.execPath, ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), ...words], {
    encoding: 'utf8',
    cwd: folder,
    timeout: 120_000,
  })

const cases: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ['no command', [], 2, /Usage: diglot/],
  ['an unknown command', ['fly'], 2, /unknown command 'fly'\nsee diglot --help\n$/],
  [
    'a command of other programs',
    ['init', 'shop'],
    2,
    /'init': diglot new <folder> makes a project\nsee diglot --help\n$/,
  ],
  [
    'a wrong flag',
    ['serve', orders, '--prot', '1'],
    2,
    /unknown option '--prot'.*\n.*Did you mean --port.*\nsee diglot serve --help\n$/,
  ],
  ['a missing argument', ['new'], 2, /missing required argument 'folder'\nsee diglot new --help\n$/],
  ['a missing name of a person', ['people', 'add'], 2, /^diglot: no name is given: write it after the service\n$/],
  ['a missing name behind a service', ['people', 'add', orders], 2, /^diglot: no name is given/],
  ...(['--tls-key', '--jwks', '--keys', '--message-key'].map(option => [
    `a folder for ${option}`,
    ['serve', orders, option, root],
    2,
    new RegExp(`^diglot: ${option} .* is a folder: give a file\\n$`),
  ]) as [string, string[], number, RegExp][]),
  [
    'two addresses of one backend',
    ['bridge', orders, '--to', 'P=http://127.0.0.1:1', '--to', 'P=http://127.0.0.1:2'],
    2,
    /^diglot: --to gives P two addresses, http:\/\/127\.0\.0\.1:1 and http:\/\/127\.0\.0\.1:2: give one of them\n$/,
  ],
  ['an empty value', ['serve', orders, '--data', ''], 2, /^diglot: the value of --data is empty: give one, or leave/],
  [
    'an empty value after =',
    ['token', '--subject='],
    2,
    /^diglot: the value of --subject is empty: give one, or leave/,
  ],
  ['an empty argument', ['new', ''], 2, /^diglot: an argument is empty: give one, or leave it out/],
  ['a missing copy', ['backup', orders], 2, /^diglot: no copy is given/],
  ['an invalid port', ['serve', orders, '--port', '70000'], 2, /whole number from 0 to 65535/],
  ['a folder that is not there', ['import', 'shop.wsdl', '--from', 'none'], 2, /'none' is invalid.*path of a folder/],
  ['a file in place of a folder', ['mock', orders, '--from', orders], 2, /path of a folder/],
  ['an address as a host', ['import', 'shop.wsdl', '--fetch', 'http://x.example/'], 2, /host alone, such as api/],
  ['a host that is none', ['new', 'shop', '--from', 'shop.wsdl', '--fetch', 'x:99999'], 2, /host alone/],
  ['no file', ['serve', 'nowhere.ts'], 1, /nowhere\.ts not found: give the file/],
  [
    'a file that is not a service',
    ['serve', wrong],
    1,
    /has no default export made by implement\(…\): give the file that has, such as service\.ts/,
  ],
  [
    'a file with a syntax error',
    ['serve', broken],
    1,
    /^diglot: \S+broken\.ts cannot be loaded: broken\.ts:\d: [^\n]+\n$/,
  ],
  [
    'a file that imports one that fails',
    ['serve', 'imports.ts'],
    1,
    /^diglot: imports\.ts cannot be loaded: helper\.ts:3: Cannot read [^\n]+\n$/,
  ],
  [
    'a contract with mistakes, whose place is named',
    ['mock', 'refused.ts'],
    1,
    /^diglot: refused\.ts cannot be loaded: refused\.ts:3: the service s: namespace must be /,
  ],
  ['a folder in place of a file', ['serve', folder], 1, /^diglot: \S+ is a folder: give a file in it\n$/],
  [
    'a contract without handlers',
    ['serve', contract],
    1,
    /contract\.ts exports a contract by default: export implement\(contract, handlers\)\n$/,
  ],
  [
    'workers that would each have their own memory',
    ['serve', orders, '--workers', '2', '--data', ':memory:'],
    2,
    /^diglot: --workers share a database[^\n]*: give --data a file, or --database\n$/,
  ],
  [
    'a standby of nothing',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--replica', 'postgres://127.0.0.1/b'],
    1,
    /^diglot: a replica is a standby of a PostgreSQL database: give the address of that database, too\n$/,
  ],
  [
    'an invalid message key',
    ['serve', orders, '--data', ':memory:', '--message-key', 'wrong.ts', '--message-certificate', 'broken.ts'],
    1,
    /^diglot: wrong\.ts, broken\.ts: messageSecurity\.keyFiles\[0\]\.key is not a private key: [^\n]+\n$/,
  ],
  [
    'a folder as database',
    ['serve', orders, '--port', '0', '--data', folder],
    2,
    /^diglot: --data [^\n]* is a folder: give a file\n$/,
  ],
  [
    'a database that is another file',
    ['serve', orders, '--port', '0', '--data', wrong, '--key', join(folder, 'w.key')],
    1,
    /^diglot: the database file [^\n]*wrong\.ts cannot be used: file is not a database: give another file[^\n]*\n$/,
  ],
  [
    'a database in a folder that cannot be created',
    ['serve', orders, '--port', '0', '--data', '/proc/none/x.sqlite'],
    1,
    /^diglot: the folder \/proc\/none cannot be created \(ENOENT\): give a path[^\n]*\n$/,
  ],
  [
    'a database of another kind',
    ['serve', orders, '--port', '0', '--database', 'mysql://root:hunter2@a/b'],
    1,
    /^diglot: a database at mysql: is not supported: give postgres:[^\n]*\n$/,
  ],
  [
    'a database that is not running',
    ['serve', orders, '--port', '0', '--database', 'postgres://ann:hunter2@127.0.0.1:1/b'],
    1,
    /^diglot: the database at 127\.0\.0\.1:1 cannot be used: connect ECONNREFUSED [^\n]*: check that it runs[^\n]*\n$/,
  ],
  [
    'missing signers',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--signers', 'none.pem'],
    1,
    /^diglot: none\.pem cannot be used: ENOENT[^\n]*none\.pem': check its path and its content\n$/,
  ],
  [
    'a missing TLS key',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--tls-key', 'none.pem', '--tls-certificate', 'none.pem'],
    1,
    /^diglot: the key cannot be read: ENOENT[^\n]*: check the path, and that this user may read the file\n$/,
  ],
  [
    'a local key that is not a key',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--key', wrong],
    1,
    /^diglot: the key [^\n]*wrong\.ts cannot be used: [^\n]*: give the PEM file of a private key[^\n]*\n$/,
  ],
  [
    'a backup of a missing database',
    ['backup', orders, 'copy.sqlite'],
    1,
    /^diglot: database file [^\n]*orders\.sqlite not found: give its path with --data\n$/,
  ],
  ...[['jobs'], ['audit'], ['people', 'list'], ['people', 'disable']].map(
    words =>
      [
        `${words.join(' ')} of a missing database`,
        [...words, orders, ...(words.includes('disable') ? ['ann'] : []), '--data', 'none.sqlite'],
        1,
        /^diglot: database file none\.sqlite not found: give its path with --data\n$/,
      ] as const,
  ),
  ['workers without a database', ['work', orders, '--data', ':memory:'], 2, /give --data the file of the service\n$/],
  [
    'a token with a role that no policy has',
    ['token', orders, '--subject', 'ann', '--role', 'klerk', '--role', 'clerk', '--key', 'token.key'],
    0,
    /^diglot: no policy of orders names the role klerk: its roles are [^\n]*clerk[^\n]*\n$/,
  ],
  [
    'a key with a role that no policy has',
    ['key', orders, '--subject', 'ann', '--role', 'klerk', '--keys', 'api.keys'],
    0,
    /^diglot: no policy of orders names the role klerk: [^\n]+\n$/,
  ],
  ...(['describe', 'docs'] as const).map(
    command =>
      [
        `${command} at what is not an address`,
        [command, orders, command === 'docs' ? '-o=site' : '--wsdl', '--address', 'shop.example'],
        2,
        /argument 'shop\.example' is invalid\. must be an http or https address/,
      ] as const,
  ),
  [
    'a token of an unknown service',
    ['token', '--subject', 'ann'],
    1,
    /^diglot: the service is not known: give the file that exports your implement\(…\), or --data\n$/,
  ],
  [
    'a removal of all of the audit',
    ['audit', orders, '--remove', '--data', ':memory:'],
    2,
    /--remove requires --before/,
  ],
  ['an invalid date', ['audit', orders, '--before', 'soon'], 2, /must be a date or a time, such as 2026-01-31/],
  [
    'an address that other machines reach',
    ['serve', orders, '--host', '0.0.0.0', '--port', '0', '--data', ':memory:'],
    1,
    /^diglot: 0\.0\.0\.0 can be reached from other machines, but no credentials are configured[^\n]*--insecure[^\n]*\n$/,
  ],
  [
    'a missing JWKS',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--issuer', 'x', '--jwks', 'none.json'],
    1,
    /none\.json cannot be used/,
  ],
  [
    'a JWKS without issuer',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--jwks', 'none.json'],
    1,
    /give --issuer/,
  ],
  ['a check without an address', ['check'], 2, /^diglot: the address is missing/],
  ['a check of an invalid address', ['check', 'ftp://a'], 2, /^diglot: ftp:\/\/a is not an http or https address/],
  [
    'a check of an address with credentials',
    ['check', 'http://ann:secret@localhost:9/'],
    2,
    /^diglot: the address contains credentials: give them by --caller NAME:PASSWORD\n$/,
  ],
  [
    'a check of a closed port',
    ['check', 'http://127.0.0.1:1'],
    2,
    /^diglot: http:\/\/127\.0\.0\.1:1 cannot be checked: /,
  ],
  [
    'an attack without its flag',
    ['check', 'http://127.0.0.1:1', '--rule', 'D1.2'],
    2,
    /^diglot: D1\.2 is an attack: add --attacks/,
  ],
  ...[
    ['diff', orders, 'none.ts'],
    ['diff', orders, broken],
    ['diff', orders, orders, '--json', join('none', 'diff.json')],
    ['check', 'http://127.0.0.1:1', '--openapi', 'none.json'],
    ['check', 'http://127.0.0.1:1', '--before', 'none.ts'],
  ].map(
    words =>
      [
        `${words[0]} ${words.at(-1)}: no verdict, so no 1`,
        words,
        2,
        /^diglot: \S+ (?:not found|cannot be (?:loaded|written)): [^\n]+\n$/,
      ] as const,
  ),
  ['an unknown rule', ['check', '--explain', 'A4.99'], 2, /^diglot: A4\.99 is not a known rule/],
  ...(['--issuer=x', '--audience=x', '--algorithm=ES256', '--roles=r', '--claim=a=b'] as const).map(
    flag =>
      [
        `${flag} without JWKS`,
        ['serve', orders, flag],
        2,
        new RegExp(`^diglot: ${flag.split('=')[0]} requires --jwks\n$`),
      ] as const,
  ),
  ['client certificates without TLS', ['serve', orders, '--authorities', 'ca.pem'], 2, /are required by --authorities/],
  [
    'an invalid origin',
    ['serve', orders, '--port', '0', '--data', ':memory:', '--origin', '*'],
    1,
    /the origin \* is invalid/,
  ],
  ['describe without an output', ['describe', orders], 2, /--access, --openapi, --wsdl/],
  [
    'describe of an unknown version',
    ['describe', orders, '--xsd', '--contract', 'v9'],
    1,
    /v9 is not a known version: use v1, v2/,
  ],
  ['a token without a subject', ['token'], 2, /--subject <name>/],
]
for (const [title, words, status, says] of cases)
  test(`diglot: ${title}`, () => {
    const ended = diglot(...words)
    assert.match(ended.stderr, says)
    assert.equal(ended.status, status, ended.stderr)
    assert.doesNotMatch(ended.stderr, /^\s+at /m, 'no stack')
  })

for (const entry of ['cli.ts', 'index.ts'])
  for (const [version, isEnough] of [
    ['20.20.2', false],
    ['24.15.0', false],
    ['24.16.0', true],
    ['25.0.0', true],
    ['100.0.0', true],
  ] as const)
    test(`${entry} on Node ${version}: ${isEnough ? 'starts' : 'one line, before anything else is loaded'}`, () => {
      const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
      const first = `data:text/javascript,${encodeURIComponent(pretend)}`
      const words = ['--conditions=diglot-source', '--import', first, join(root, 'src', entry), '--version']
      const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 })
      assert.deepEqual(
        [status, stderr, stdout],
        isEnough
          ? [0, '', entry === 'cli.ts' ? '0.2.0\n' : '']
          : [1, `Diglot needs Node 24.16 or later: this is ${version}\n`, ''],
      )
    })

test('the Node version in package.json is the one that the start requires', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.equal(engines.node, '>=24.16')
})

test('a reader that stops reading is not an error', { skip: process.platform === 'win32' }, () => {
  const words = [
    process.execPath,
    '--conditions=diglot-source',
    join(root, 'src', 'cli.ts'),
    'describe',
    orders,
    '--openapi',
  ]
  const ended = spawnSync('sh', ['-c', '"$@" | head -n 1', 'sh', ...words], { encoding: 'utf8', timeout: 120_000 })
  assert.equal(ended.stdout, '{\n')
  assert.equal(ended.stderr, '')
})

/** Of a command whose reader closes the pipe before anything is written. */
function closePipe(...words: readonly string[]): { readonly stderr: string; readonly status: number } {
  const program = [process.execPath, '--conditions=diglot-source', join(root, 'src', 'cli.ts'), ...words]
  const ended = spawnSync('sh', ['-c', '{ "$@"; echo "ended $?" >&2; } | true', 'sh', ...program], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  const [, stderr = '', status] = /^(.*)ended (\d+)\n$/s.exec(ended.stderr) ?? []
  return { stderr, status: Number(status) }
}
const wsdl = join(root, 'examples', 'freight', 'carrier.wsdl')
for (const words of [
  ['describe', orders, '--openapi'],
  ['import', wsdl],
  ['completion', 'bash'],
  ['describe', '--help'],
])
  test(`diglot ${words[0]} ${words[1]?.replace(/.*\//, '')} ends quietly when its reader is gone`, {
    skip: process.platform === 'win32',
  }, () => {
    assert.deepEqual(closePipe(...words), { stderr: '', status: 0 })
  })

describe('texts of others do nothing to the terminal on which they are printed', () => {
  const hostile = '\u001b[31m\u009b2J\u202e\r'
  const controls = /[^\P{C}\n]/u
  test('a description that is imported', () => {
    const document = {
      openapi: '3.1.0',
      info: { title: hostile, version: '1', description: hostile },
      paths: {
        [`/a${hostile}`]: {
          get: {
            operationId: `b${hostile}`,
            description: hostile,
            parameters: [{ name: 'c', in: 'query', schema: { enum: [hostile, 'é'] } }],
            responses: { 200: { description: hostile } },
          },
        },
      },
    }
    const file = join(folder, 'hostile.json')
    writeFileSync(file, JSON.stringify(document))
    const { stdout, stderr, status } = diglot('import', file)
    assert.doesNotMatch(stdout, controls)
    assert.doesNotMatch(stderr, controls)
    assert.match(stderr, /^GET \/a\ufffd\[31m\ufffd2J\ufffd\ufffd/)
    assert.match(stdout, /'\\u001b\[31m\\u009b2J\\u202e\\r', 'é'/, 'the value is the same')
    assert.equal(status, 0)
  })
  test('a server that is checked', async () => {
    const server = createServer(socket => socket.on('error', () => {}).end('HTTP/1.1 9 \u001b[31m\r\n\r\n'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(typeof address === 'object' && address)
    const checking = spawn(process.execPath, [
      '--conditions=diglot-source',
      join(root, 'src', 'cli.ts'),
      'check',
      `http://127.0.0.1:${address.port}`,
    ])
    let said = ''
    checking.stderr.on('data', (octets: Buffer) => {
      said += octets
    })
    await once(checking, 'close')
    server.close()
    assert.match(said, /^diglot: .*"HTTP\/1\.1 9 \ufffd\[31m" is not a status line of HTTP\/1\.1\n$/)
  })
})

test('diglot reports a port in use in one line', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => taken.once('listening', resolve))
  const address = taken.address()
  const ended = diglot(
    'serve',
    orders,
    '--port',
    String(typeof address === 'object' && address?.port),
    '--data',
    ':memory:',
  )
  taken.close()
  assert.equal(ended.status, 1)
  assert.match(ended.stderr, /^diglot: 127\.0\.0\.1:[0-9]+ is in use[^\n]*\n$/)
})

/** What `diglot serve` says at its start, to a terminal or to a pipe. */
async function readStart(output: 'terminal' | 'pipe', ...flags: readonly string[]): Promise<string> {
  const serve = [process.execPath, '--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'serve', orders]
  const words = `echo "pid $$"; exec ${[...serve, '--port 0 --data :memory:', ...flags].join(' ')}`
  const [command, args] =
    output === 'terminal' ? (['script', ['-qec', words, '/dev/null']] as const) : (['sh', ['-c', words]] as const)
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
    if (/listening on [^\n]+\n/.test(said)) process.kill(Number(/pid (\d+)/.exec(said)?.[1]), 'SIGTERM')
  })
  await once(child, 'close')
  return said
}
const noTerminal = spawnSync('script', ['--version']).status === 0 ? false : 'skipped: no script(1) here'

describe('SECURITY.md promise 3: serve prints a token only to a terminal of this machine', () => {
  const key = join(folder, 'own.key')
  const rows: readonly (readonly [string, Parameters<typeof readStart>, hasToken: boolean])[] = [
    ['a terminal', ['terminal'], true],
    ['a pipe, which may be a log', ['pipe'], false],
    ['a service that other machines reach', ['terminal', '--host', '0.0.0.0', '--key', key], false],
    ['the same, with the unchanged example', ['terminal', '--host', '0.0.0.0', '--insecure'], false],
    ['a service behind a proxy', ['terminal', '--key', key, '--trust-proxy'], false],
    ['a service with a public address', ['terminal', '--key', key, '--public-url', 'https://shop.example'], false],
  ]
  for (const [title, [output, ...flags], hasToken] of rows)
    test(title, { skip: output === 'terminal' && noTerminal }, async () => {
      const said = await readStart(output, ...flags)
      assert.match(said, /listening on http:/)
      assert.equal(/Bearer eyJ/.test(said), hasToken, said)
    })
})

test('diglot serve --trust-proxy: X-Forwarded-* is read unless another kind is named, before or after the file', () => {
  const flags = ['--port', '0', '--data', ':memory:']
  const unsafe = /^diglot: a service behind a proxy \(--trust-proxy\) can be reached from other machines/
  for (const words of [
    ['--trust-proxy', orders],
    ['--trust-proxy=forwarded', orders],
    ['--trust-proxy', 'forwarded', orders],
    [orders, '--trust-proxy'],
    [orders, '--trust-proxy', 'x-forwarded'],
  ]) {
    const { status, stderr } = diglot('serve', ...flags, ...words)
    assert.equal(status, 1, words.join(' '))
    assert.match(stderr, unsafe, words.join(' '))
  }
  assert.match(diglot('serve', orders, '--trust-proxy=x-real-ip').stderr, /Allowed choices are x-forwarded, forwarded/)
})

test('diglot --help prints help, and diglot token prints the token alone', () => {
  assert.match(diglot('--help').stdout, /serve .*\n.*token/s)
  assert.equal(diglot('serve', '--help').status, 0)
  const token = diglot('token', '--subject', 'clara', '--role', 'clerk', '--data', join(folder, 'a.sqlite'))
  assert.match(token.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
})

test('diglot token, key and backup find the service by its file, or by its database', async () => {
  const own = mkdtempSync(join(tmpdir(), 'diglot-other-'))
  after(() => rmSync(own, { recursive: true }))
  const file = join(own, 'clinic.ts')
  const source = JSON.stringify(join(root, 'src', 'index.ts'))
  writeFileSync(
    file,
    `import { anyone, implement, resource, role, service, t } from ${source}
const visits = resource('visits', { fields: { id: t.id('v'), note: t.string() } }).rules({ allow: { read: [role('desk')] } })
export default implement(service('clinic', { namespace: 'urn:clinic', resources: [visits] }), {})
`,
  )
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), ...words], {
      encoding: 'utf8',
      cwd: own,
      timeout: 120_000,
    })
  const token = run('token', file, '--subject', 'dirk', '--role', 'desk').stdout.trim()
  const key = run('key', file, '--subject', 'dirk', '--role', 'desk').stdout.trim()
  const data = join(own, 'data', 'clinic.sqlite')
  const server = await startService((await import(pathToFileURL(file).href)).default, { port: 0, data })
  const statusWith = async (fields: Record<string, string>) =>
    (await fetch(`${server.url}/api/visits`, { headers: fields })).status
  try {
    assert.equal(await statusWith({ authorization: `Bearer ${token}` }), 200)
    assert.equal(await statusWith({ 'api-key': key }), 200)
    const byData = run('token', '--subject', 'dirk', '--role', 'desk', '--data', data).stdout.trim()
    assert.equal(await statusWith({ authorization: `Bearer ${byData}` }), 200)
    assert.equal(run('backup', file, 'copy.sqlite').status, 0)
    assert.equal(run('backup', 'second.sqlite', '--data', data).status, 0)
    assert.deepEqual(readdirSync(own).sort(), ['clinic.ts', 'copy.sqlite', 'data', 'second.sqlite'])
    assert.ok(readdirSync(join(own, 'data')).every(name => name.startsWith('clinic.sqlite')))
  } finally {
    await server.close(0)
  }
})

test('diglot audit prints who did what, and removes what it has printed', async () => {
  const data = join(folder, 'audit.sqlite')
  const server = await startService((await import(pathToFileURL(orders).href)).default, { port: 0, data })
  const clerk = { authorization: `Bearer ${await server.token('clara', ['clerk'])}` }
  const order = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' }
  const made = await fetch(`${server.url}/api/orders`, {
    method: 'POST',
    headers: { ...clerk, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  assert.equal(made.status, 201)
  const audit = (...words: string[]) => diglot('audit', orders, '--data', data, ...words).stdout
  const { sequence, at, ...deed } = JSON.parse(audit())
  assert.deepEqual([sequence, deed.subject, deed.operation, deed.resource], [1, 'clara', 'CreateOrder', 'orders'])
  assert.match(at, /^\d{4}-\d\d-\d\dT/)
  assert.equal(audit('--before', '2020-01-01', '--remove'), '')
  assert.equal(audit('--before', '2999-01-01', '--remove').trim().split('\n').length, 1)
  assert.equal(audit(), '', 'what was printed is removed, while the service runs')
  await server.close(0)
})

test('diglot audit removes nothing that was not written to disk', { skip: !existsSync('/dev/full') }, async () => {
  const data = join(folder, 'full.sqlite')
  const server = await startService((await import(pathToFileURL(orders).href)).default, { port: 0, data })
  const clerk = { authorization: `Bearer ${await server.token('clara', ['clerk'])}` }
  const made = await fetch(`${server.url}/api/orders/o-1/cancellation`, { method: 'POST', headers: clerk })
  assert.equal(made.status, 200)
  const words = ['audit', orders, '--data', data, '--before', '2999-01-01', '--remove']
  const program = [process.execPath, '--conditions=diglot-source', join(root, 'src', 'cli.ts'), ...words]
  const ended = spawnSync('sh', ['-c', '"$@" > /dev/full', 'sh', ...program], { encoding: 'utf8', timeout: 120_000 })
  assert.match(ended.stderr, /^diglot: standard output cannot be written: ENOSPC[^\n]*\n$/)
  assert.equal(ended.status, 1)
  const gone = closePipe(...words)
  assert.deepEqual(gone, { stderr: 'diglot: the reader of standard output has gone: nothing is removed\n', status: 1 })
  assert.deepEqual(closePipe('audit', orders, '--data', data), { stderr: '', status: 0 })
  assert.notEqual(diglot('audit', orders, '--data', data).stdout, '')
  await server.close(0)
})

test('diglot describe reports what prevents a start, and describes the rest of the contract', () => {
  const early = join(folder, 'early.ts')
  writeFileSync(
    early,
    `import { anyone, implement, resource, service, t } from ${JSON.stringify(join(root, 'src', 'index.ts'))}
const notes = resource('notes', { fields: { id: t.id('n'), total: t.int().readOnly() } }).rules({ allow: { read: [anyone] } })
export default implement(service('notes', { namespace: 'urn:notes', resources: [notes] }), {})
`,
  )
  const { status, stdout, stderr } = diglot('describe', early, '--xsd')
  assert.match(stdout, /name="total"/)
  assert.match(stderr, /^does not start yet: .*notes/m)
  assert.equal(status, 0)
  assert.equal(diglot('describe', orders, '--xsd').stderr, '')
})

test('diglot describe prints each description', () => {
  const printed = (what: string) => diglot('describe', orders, what).stdout
  assert.match(printed('--access'), /^\| +\| anyone \| customer +\| clerk \| manager \|\n/)
  assert.equal(JSON.parse(printed('--openapi')).openapi, '3.1.0')
  assert.match(printed('--wsdl'), /<wsdl:definitions|<definitions/)
  assert.match(printed('--wsdl2'), /description/)
  assert.match(printed('--xsd'), /targetNamespace="urn:diglot:orders:v2"/)
  assert.match(printed('--machine'), /^stateDiagram-v2\n {2}\[\*\] --> placed\n/)
})

test('diglot describe prints the WSDL of a port', () => {
  const freight = join(root, 'examples', 'freight', 'service.ts')
  const describeAt = (path: string) => diglot('describe', freight, '--wsdl', '--endpoint', path)
  assert.match(
    describeAt('/soap/FreightPort').stdout,
    /<soap:address location="http:\/\/127\.0\.0\.1:8080\/soap\/FreightPort"/,
  )
  const { status, stderr } = describeAt('/soap/other')
  assert.match(stderr, /^diglot: no SOAP endpoint with --wsdl was found: use .*, \/soap\/FreightPort\n$/)
  assert.equal(status, 1)
})

test('diglot key prints a key once, and stores only its hash', () => {
  const data = join(folder, 'keys.sqlite')
  const { stdout } = diglot('key', '--subject', 'robot', '--role', 'clerk', '--data', data)
  assert.match(stdout, /^dk-[\w-]{43}\n$/)
  const kept = readFileSync(`${data}.keys`, 'utf8')
  assert.ok(!kept.includes(stdout.trim().slice(3)))
  assert.deepEqual(Object.keys(JSON.parse(kept)), ['hash', 'subject', 'roles', 'claims'])
  assert.equal(statSync(`${data}.keys`).mode & 0o077, 0, 'its owner alone may read it')
})

test('serve: a service in a folder of CommonJS is one line with the cure', t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
  const file = join(folder, 'service.ts')
  writeFileSync(file, "import { t } from 'diglot'\nexport default t\n")
  const words = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'serve', file]
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 })
  assert.equal(status, 1)
  assert.match(stderr, /^diglot: .*service\.ts cannot be loaded: .*: add "type": "module" to its package\.json$/m)
})

test('a service in CommonJS is found, written by hand or by a compiler', t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'service.cjs')
  const index = JSON.stringify(join(root, 'src', 'index.ts'))
  const head = `const { anyone, implement, resource, service, t } = require(${index})
const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone] } })
const app = implement(service('n', { namespace: 'urn:n', resources: [notes] }), {})\n`
  const compiled = 'Object.defineProperty(exports, "__esModule", { value: true })\nexports.default = app'
  for (const end of ['module.exports = app', compiled]) {
    writeFileSync(file, head + end)
    const words = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'describe', file, '--access']
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 120_000 })
    assert.match(stdout, /GetNote/, `${end}: ${stderr}`)
  }
})

describe('diglot migrate', () => {
  const file = join(folder, 'notes.ts')
  const data = join(folder, 'notes.sqlite')
  const source = pathToFileURL(join(root, 'src', 'index.ts')).href
  const write = (fields: string, rules = '') =>
    writeFileSync(
      file,
      `import { anyone, implement, resource, service, t } from '${source}'
const notes = resource('notes', { fields: { id: t.id('n'), ${fields} } }).rules({ allow: { read: [anyone] }, ${rules} })
export default implement(service('notes', { namespace: 'urn:notes', resources: [notes] }), {})
`,
    )
  const migrate = (...words: string[]) => {
    const { status, stdout, stderr } = diglot('migrate', file, '--data', data, ...words)
    return { status, text: stdout + stderr }
  }

  test('plans with status 3, applies with 0, and drops only what is named', () => {
    write('text: t.string(), note: t.string().optional()')
    assert.equal(migrate().status, 2)
    const { status, text } = migrate('--plan')
    assert.equal(status, 3)
    assert.match(text, /-- warning: database file \S*notes\.sqlite not found: a start, or --apply, creates it\n/)
    assert.ok(!readdirSync(folder).includes('notes.sqlite'), 'a plan makes no file')
    assert.equal(migrate('--apply').status, 0)
    assert.deepEqual(migrate('--plan'), { status: 0, text: '-- nothing to do\n' })
    write(`title: t.string().was('text'), more: t.int().optional()`)
    const planned = migrate('--plan', '--json')
    assert.equal(planned.status, 3)
    assert.deepEqual(JSON.parse(planned.text), {
      step: 'add notes.more',
      sql: 'alter table "notes" add column "more" integer',
    })
    assert.equal(migrate('--plan').status, 3)
    const wrongDrop = migrate('--apply', '--drop', 'notes.title')
    assert.equal(wrongDrop.status, 1)
    assert.match(wrongDrop.text, /notes\.title is not in the database/)
    assert.equal(migrate('--apply', '--drop', 'notes.note').status, 0)
    assert.deepEqual(migrate('--plan'), { status: 0, text: '-- nothing to do\n' })
  })

  test('drops nothing that a running service declares, and names the service', async () => {
    write('text: t.string(), note: t.string().optional()')
    const { default: app } = await import(`${pathToFileURL(file).href}?running`)
    const at = join(folder, 'running.sqlite')
    const running = await startService(app, { port: 0, data: at, logger: { info() {}, warn() {}, error() {} } })
    write('text: t.string()')
    const drop = () => diglot('migrate', file, '--data', at, '--apply', '--drop', 'notes.note')
    try {
      const refused = drop()
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        new RegExp(`notes\\.note is declared by a running instance .*process ${process.pid}`),
      )
    } finally {
      await running.close()
    }
    assert.equal(drop().status, 0)
  })

  test('fills what a start would leave for later, and reports what it has filled', () => {
    const at = join(folder, 'filled.sqlite')
    const ask = (...words: string[]) => diglot('migrate', file, '--data', at, ...words)
    write('text: t.string()')
    assert.equal(ask('--apply').status, 0)
    const database = new DatabaseSync(at)
    database.exec(
      `insert into "notes" ("id", "_version", "_created", "_modified", "text")
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 10001) select 'n-' || i, 1, 1, 1, 'hay' from n`,
    )
    write('text: t.string()', "search: ['text']")
    assert.deepEqual(ask('--apply').stdout, '-- filled: words of notes, 10001 rows\n')
    const [words] = database.prepare(`select count(*) as n from "notes" where "text#words" = ' hay '`).all()
    assert.equal(words?.['n'], 10_001)
    database.close()
    assert.equal(ask('--apply').stdout, '-- nothing to do\n')
    write('text: t.string()', "search: ['text', 'id']")
    const [filled] = ask('--apply', '--json').stdout.split('\n')
    assert.deepEqual(JSON.parse(filled ?? ''), { filled: 'words of notes', rows: 10_001 })
  })

  test('G16: a max below stored values is reported, with its place, the rows and the cure', () => {
    const at = join(folder, 'long.sqlite')
    const ask = (...words: string[]) => diglot('migrate', file, '--data', at, ...words)
    write('text: t.string({ max: 9 }), more: t.int().optional()')
    assert.equal(ask('--apply').status, 0)
    const database = new DatabaseSync(at)
    database.exec(
      `insert into "notes" ("id", "_version", "_created", "_modified", "text") values ('n-1', 1, 1, 1, 'too long')`,
    )
    database.close()
    write('text: t.string({ max: 5 }), more: t.int().optional()')
    const { status, stdout } = ask('--plan')
    assert.equal(status, 0, 'no step would cure it')
    assert.match(stdout, /^-- warning: notes\.text: 1 row has a value longer than its max of 5 \(the longest: 8\)/)
    assert.match(stdout, /raise max to 8, or shorten the values: select "id" from "notes" where/)
    assert.match(String(JSON.parse(ask('--apply', '--json').stdout).warning), /notes\.text: 1 row/)
  })
})
