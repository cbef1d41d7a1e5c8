/**
 * The commands of any service: by an argument, DIGLOT_SERVICE or diglot.config.ts; development;
 * completions; a page that names every command and option.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import { listCommands } from '../../src/cli/complete-words.ts'
import { createProgram } from '../../src/cli/program.ts'

const root = join(import.meta.dirname, '..', '..')
const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts')]
const entry = JSON.stringify(join(root, 'src', 'index.ts'))

const writeService = (file: string, name: string, title = 'note') =>
  writeFileSync(
    file,
    `import { anyone, implement, resource, role, service, t } from ${entry}
const visits = resource('visits', { fields: { id: t.id('v'), ${title}: t.string() } }).rules({ allow: { read: [anyone] } })
const notes = resource('notes', { within: 'visit', fields: { id: t.id('n'), visit: t.ref('visits') } }).rules({ allow: { read: [anyone] } })
export default implement(service('${name}', { namespace: 'urn:${name}', resources: [visits, notes] }), {}, {
  seed: () => ({ people: [{ subject: 'dora', password: 'dora', roles: ['desk'], claims: { floor: 'f-2' } }] }),
})
`,
  )
function makeFolder(t: TestContext, config?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-any-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeService(join(folder, 'clinic.ts'), 'clinic')
  writeService(join(folder, 'other.ts'), 'other')
  if (config !== undefined)
    writeFileSync(
      join(folder, 'diglot.config.ts'),
      `import { defineConfig } from ${entry}\nexport default defineConfig(${config} as never)\n`,
    )
  return folder
}
const runIn = (folder: string, words: readonly string[], env: Readonly<Record<string, string>> = {}, input = '') =>
  spawnSync(process.execPath, [...cli, ...words], {
    encoding: 'utf8',
    cwd: folder,
    timeout: 120_000,
    input,
    env: { ...process.env, ...env },
  })
const audienceOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).aud

test('diglot.config.ts names the service of each command and its defaults; a flag comes first', t => {
  const folder = makeFolder(t, `{ service: './clinic.ts', data: 'kept/own.sqlite' }`)
  assert.match(runIn(folder, ['describe', '--wsdl']).stdout, /urn:clinic/)
  const token = runIn(folder, ['token', '--subject', 'dora'])
  assert.equal(audienceOf(token.stdout), 'clinic', token.stderr)
  assert.ok(existsSync(join(folder, 'kept', 'own.sqlite.key')))
  assert.equal(runIn(folder, ['people', 'add', 'emil'], {}, 'a long pass phrase of emil\n').stderr, '')
  assert.match(runIn(folder, ['people', 'list']).stdout, /"emil"/)
  assert.equal(runIn(folder, ['jobs']).status, 0)
  assert.equal(runIn(folder, ['backup', 'copy.sqlite']).stderr, '')
  assert.ok(existsSync(join(folder, 'copy.sqlite')))
  assert.equal(runIn(folder, ['audit', '--data', 'copy.sqlite']).stderr, '')
  assert.match(runIn(folder, ['audit', '--data', 'flag.sqlite']).stderr, /database file flag\.sqlite not found/)
})

test('DIGLOT_SERVICE comes before diglot.config.ts, an argument before both; neither uses the defaults of the config', t => {
  const folder = makeFolder(t, `{ service: './clinic.ts', data: 'kept/own.sqlite' }`)
  const wsdl = ['describe', '--wsdl']
  assert.match(runIn(folder, wsdl, { DIGLOT_SERVICE: 'other.ts' }).stdout, /urn:other/)
  assert.match(runIn(folder, ['describe', 'clinic.ts', '--wsdl'], { DIGLOT_SERVICE: 'other.ts' }).stdout, /urn:clinic/)
  assert.match(runIn(folder, ['audit', 'other.ts']).stderr, /database file \.\/data\/other\.sqlite not found/)
  assert.ok(!existsSync(join(folder, 'kept')))
})

for (const [config, says] of [
  [
    undefined,
    /^diglot: the service is not known: give the file [^\n]*, set DIGLOT_SERVICE, or name it in diglot.config.ts\n$/,
  ],
  ['{ port: 1 }', /^diglot: diglot\.config\.ts names no service: write export default/],
  [`{ service: './clinic.ts', prot: 1 }`, /^diglot: diglot\.config\.ts: prot is not known: use service, data/],
  [`{ service: './clinic.ts', port: 70000 }`, /^diglot: diglot\.config\.ts: port must be a port from 0 to 65535\n$/],
  [`{ service: './none.ts' }`, /^diglot: \.\/none\.ts not found: give the file/],
] as const)
  test(`an unusable config is reported in one line: ${config ?? 'none'}`, t => {
    const { status, stderr } = runIn(makeFolder(t, config), ['describe', '--wsdl'])
    assert.match(stderr, says)
    assert.equal(status, config === undefined ? 2 : 1)
  })

const allCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(allCommands)]

test('docs/command-line.md names every command and every option of it', () => {
  const page = readFileSync(join(root, 'docs', 'command-line.md'), 'utf8')
  const sections = new Map(page.split(/^##+ /m).map(each => [each.split('\n')[0]?.replaceAll('`', '') ?? '', each]))
  const missing = allCommands(createProgram())
    .slice(1)
    .flatMap(command => {
      const names = [command.name()]
      for (let above = command.parent; above; above = above.parent) names.unshift(above.name())
      const section = sections.get(names.join(' '))
      if (section === undefined) return [names.join(' ')]
      return command.options.filter(({ flags }) => !section.includes(`| \`${flags}\` |`)).map(({ flags }) => flags)
    })
  assert.deepEqual(missing, [])
})

test('diglot completion bash completes commands, those below them, and options', t => {
  const folder = makeFolder(t)
  const complete = (...words: string[]) =>
    spawnSync(
      'bash',
      [
        '-c',
        `${runIn(folder, ['completion', 'bash']).stdout}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _diglot; echo "\${COMPREPLY[@]}"`,
        'bash',
        'diglot',
        ...words,
      ],
      { encoding: 'utf8' },
    ).stdout.trim()
  assert.equal(complete('se'), 'serve')
  assert.equal(complete('people', 'dis'), 'disable')
  assert.equal(complete('serve', 'clinic.ts', '--tls-'), '--tls-key --tls-certificate')
  assert.equal(complete('people', 'add', '--dig'), '--digests')
})

test('completions of zsh and fish include every command', t => {
  const folder = makeFolder(t)
  const printed = (shell: string) => runIn(folder, ['completion', shell]).stdout
  const [zsh, fish] = [printed('zsh'), printed('fish')]
  for (const { path } of listCommands(createProgram()).slice(1)) {
    assert.ok(zsh.includes(`'${path}') words=`), path)
    assert.match(fish, new RegExp(` -a ${path.split(' ').at(-1)}$`, 'm'))
  }
  assert.equal(runIn(folder, ['completion', 'tcsh']).status, 2)
})

test('diglot dev prints links and tokens, serves each change, and ends on Ctrl-C', {
  timeout: 120_000,
}, async t => {
  const folder = makeFolder(t, `{ service: './clinic.ts', port: 0 }`)
  const child = spawn(process.execPath, [...cli, 'dev', '--data', 'dev.sqlite'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  const hears = (pattern: RegExp) =>
    new Promise<RegExpExecArray>(resolve => {
      const look = () => {
        const found = pattern.exec(said)
        if (!found) return
        child.stdout.off('data', look)
        said = said.slice(found.index + found[0].length)
        resolve(found)
      }
      child.stdout.on('data', look)
      look()
    })
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
  })
  await hears(/types: not checked: install typescript/)
  const [, url] = await hears(/listening on (\S+)\n/)
  await hears(/REST: \S+\/api\/visits\nREST: \S+\/api\/visits\/\{visit\}\/notes\n/)
  const [, wsdl] = await hears(/WSDL: (\S+)\n/)
  const [, token] = await hears(/dora \(desk\): Bearer (\S+)\n/)
  assert.match(await (await fetch(String(wsdl))).text(), /urn:clinic/)
  const asked = await fetch(`${url}/api/visits`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(asked.status, 200)
  const claims = JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString())
  assert.match(JSON.stringify(claims), /"floor":"f-2"/)
  writeService(join(folder, 'clinic.ts'), 'renamed')
  const [, again] = await hears(/WSDL: (\S+)\n/)
  assert.match(await (await fetch(String(again))).text(), /urn:renamed/)
  let last = again
  for (const name of ['once-more', 'and-again']) {
    // As sed -i and many editors save: a new file takes the place of the old one.
    writeService(join(folder, 'clinic.ts.new'), name)
    renameSync(join(folder, 'clinic.ts.new'), join(folder, 'clinic.ts'))
    await hears(/listening on \S+\n/)
    last = (await hears(/WSDL: (\S+)\n/))[1]
    assert.match(await (await fetch(String(last))).text(), new RegExp(`urn:${name}`))
  }
  child.kill('SIGINT')
  const [status] = await once(child, 'close')
  assert.equal(status, 0)
  await assert.rejects(fetch(String(last)), 'nothing serves any more')
})

for (const signal of ['SIGHUP', 'SIGKILL'] as const)
  test(`diglot dev leaves no service behind when it gets ${signal}`, { timeout: 60_000 }, async t => {
    const folder = makeFolder(t, `{ service: './clinic.ts', port: 0 }`)
    const child = spawn(process.execPath, [...cli, 'dev', '--no-types', '--data', 'dev.sqlite'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    let [said, failed] = ['', '']
    child.stderr.on('data', piece => {
      failed += piece
    })
    const closed = once(child.stdout, 'close') // the service has it, too
    const listening = Promise.withResolvers<string>()
    child.stdout.on('data', piece => {
      said += piece
      const [, url] = /WSDL: (\S+)\n/.exec(said) ?? []
      if (url !== undefined) listening.resolve(url)
    })
    const wsdl = await listening.promise
    child.kill(signal)
    await closed
    await assert.rejects(fetch(wsdl), 'nothing serves any more')
    assert.doesNotMatch(failed, /\n {4}at /)
    if (signal === 'SIGHUP') assert.equal(child.exitCode ?? (await once(child, 'close'))[0], 0)
  })

test('diglot bridge --role admits callers by API keys that are created while it runs', {
  timeout: 120_000,
}, async t => {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'clinic.wsdl'), runIn(folder, ['describe', 'clinic.ts', '--wsdl']).stdout)
  const words = ['bridge', 'clinic.wsdl', '--to', 'http://127.0.0.1:9/', '--role', 'desk', '--port', '0']
  const child = spawn(process.execPath, [...cli, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for await (const piece of child.stdout.setEncoding('utf8')) if (/bridging \S+ to/.test((said += piece))) break
  const [, keys = ''] = /diglot key --keys (\S+) /.exec(said) ?? assert.fail(said)
  const [, address = ''] = /bridging (\S+)\/api to/.exec(said) ?? []
  const described = (await (await fetch(`${address}/openapi.json`)).json()) as { paths: Record<string, object> }
  const [path] = Object.entries(described.paths).find(([, methods]) => 'post' in methods) ?? []
  const ask = async (headers: Record<string, string>) =>
    (
      await fetch(address + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      })
    ).status
  const apiKey = (role: string) =>
    runIn(folder, ['key', '--keys', keys, '--subject', 'dora', '--role', role]).stdout.trim()
  assert.equal(await ask({}), 401)
  const [admitted, other] = [apiKey('desk'), apiKey('door')]
  await setTimeout(1100) // a key counts within a second
  assert.equal(await ask({ 'api-key': other }), 403)
  assert.equal(await ask({ 'api-key': admitted }), 422, 'admitted: what it sends is looked at')
})

test('diglot bridge reads a published WSDL of several documents, from the named host only', {
  timeout: 120_000,
}, async t => {
  const folder = makeFolder(t)
  const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
  const documents: Record<string, string> = {
    '/stock.svc?wsdl': `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:n="urn:n" targetNamespace="urn:n"
        xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"><types><xs:schema ${xs} targetNamespace="urn:n/imports">
      <xs:import namespace="urn:n" schemaLocation="?xsd=xsd0"/></xs:schema></types>
      <message name="In"><part name="in" element="n:Ask"/></message>
      <portType name="Stock"><operation name="Ask"><input message="n:In"/></operation></portType>
      <binding name="Stock" type="n:Stock"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
        <operation name="Ask"><soap:operation soapAction=""/><input><soap:body use="literal"/></input></operation></binding>
      <service name="Stock"><port name="Stock" binding="n:Stock"><soap:address location="http://h/"/></port></service>
      </definitions>`,
    '/stock.svc?xsd=xsd0': `<xs:schema ${xs} targetNamespace="urn:n"><xs:element name="Ask"><xs:complexType><xs:sequence>
      <xs:element name="count" type="xs:int"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  }
  const asked: string[] = []
  const published = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end(documents[request.url ?? ''])
  })
  t.after(() => published.close())
  await once(published.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(published.address() as AddressInfo).port}`
  const words = ['bridge', `http://${host}/stock.svc?wsdl`, '--to', 'http://127.0.0.1:9/', '--anyone', '--port', '0']
  const refused = runIn(folder, words)
  assert.match(refused.stderr, new RegExp(`is not fetched: name its host, --fetch ${host}`))
  assert.deepEqual(asked, [])
  const child = spawn(process.execPath, [...cli, ...words, '--fetch', host], { cwd: folder })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for await (const piece of child.stdout.setEncoding('utf8')) if (/bridging \S+ to/.test((said += piece))) break
  const [, address = ''] = /bridging (\S+) to/.exec(said) ?? []
  const send = (body: string) =>
    fetch(`${address}/v1/Stock/Ask`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  assert.equal((await send('{"count":"x"}')).status, 422, 'the imported schema counts')
  assert.equal((await send('{"count":1}')).status, 503)
})
