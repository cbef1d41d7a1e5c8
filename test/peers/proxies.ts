/** Caches and proxies in front of the service, each a process of its own with its files in a folder of its own. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { atEnd, folder, run } from './peer.ts'

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  await new Promise(resolve => server.close(resolve))
  return port
}

/** A program that listens on `port` and runs until the tests of this file are over. */
export async function started(program: string, words: readonly string[], port: number, env = {}): Promise<void> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (said = `${said}${piece}`.slice(-4000)))
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()).once('error', () => resolve()))
  atEnd(async () => {
    child.kill('SIGTERM')
    await Promise.race([ended, after(3000, undefined, { ref: false })])
    child.kill('SIGKILL')
    await ended
  })
  for (let tries = 0; tries < 200; tries++) {
    if (await listens(port)) return
    if (child.exitCode !== null) break
    await after(50)
  }
  throw new Error(`${program} does not listen on ${port}: ${said}`)
}

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** A self-signed certificate for 127.0.0.1 and localhost, in this name, and its key: paths of PEM files. */
export function certificate(name = 'localhost'): { readonly key: string; readonly certificate: string } {
  const at = folder()
  const files = { key: join(at, 'key.pem'), certificate: join(at, 'certificate.pem') }
  const names = `-subj /CN=${name} -addext subjectAltName=DNS:localhost,IP:127.0.0.1`
  const kind = `-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 ${names}`
  run('openssl', ['req', ...kind.split(' '), '-keyout', files.key, '-out', files.certificate])
  return files
}

const portOf = (url: string): string => new URL(url).port

/** Its own rules as they come (`builtin.vcl`); nothing is served beyond its age, and what is too old is asked for again. */
export async function varnish(origin: string): Promise<string> {
  const port = await freePort()
  const at = folder()
  const vcl = join(at, 'front.vcl')
  writeFileSync(vcl, `vcl 4.1;\nbackend origin { .host = "127.0.0.1"; .port = "${portOf(origin)}"; }\n`)
  const settings = ['-p', 'default_grace=0', '-p', 'default_keep=60']
  const where = ['-a', `127.0.0.1:${port}`, '-n', join(at, 'work'), '-f', vcl, '-s', 'malloc,16m']
  await started('varnishd', ['-F', '-j', 'none', ...where, ...settings], port)
  return `http://127.0.0.1:${port}`
}

export interface NginxServer {
  /** After `listen <address>`: `ssl http2`. */
  readonly listen?: string
  /** What stands in the server's block. */
  readonly block: string
}

/** One server for each block, on ports of their own, or on those that were asked for. */
export async function nginx(
  servers: readonly NginxServer[],
  given: readonly number[] = [],
): Promise<readonly string[]> {
  const at = folder()
  const ports = [...given]
  while (ports.length < servers.length) ports.push(await freePort())
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(each => `${each}_temp_path ${at}/${each};`)
  const blocks = servers.map(
    ({ listen = '', block }, i) =>
      `server { listen 127.0.0.1:${ports[i]} ${listen}; client_max_body_size 10m; ${block} }`,
  )
  const config = join(at, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; pid ${at}/pid; error_log stderr error; worker_processes 1;
    events { worker_connections 512; }
    http { access_log off; ${temporary.join(' ')} proxy_cache_path ${at}/cache keys_zone=front:1m; ${blocks.join('\n')} }`,
  )
  const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  await started('nginx', ['-p', at, '-e', 'stderr', '-c', config, ...user], ports[0] ?? 0)
  return ports.map((port, i) => `${servers[i]?.listen?.includes('ssl') ? 'https' : 'http'}://127.0.0.1:${port}`)
}

/** Passing on as its documentation advises: Host as it was asked, and who asked. */
export const passes = (origin: string): string =>
  `proxy_pass ${origin}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;`

export async function nginxCache(origin: string): Promise<string> {
  const block = `location / { ${passes(origin)} proxy_cache front; proxy_cache_revalidate on; }`
  return (await nginx([{ block }]))[0] ?? ''
}

export async function squid(origin: string): Promise<string> {
  const port = await freePort()
  const at = folder()
  const config = join(at, 'squid.conf')
  writeFileSync(
    config,
    `http_port 127.0.0.1:${port} accel defaultsite=127.0.0.1 vhost
cache_peer 127.0.0.1 parent ${portOf(origin)} 0 no-query originserver name=origin login=PASSTHRU
http_access allow all
cache_mem 16 MB
pid_filename ${at}/pid
cache_log /dev/null
access_log none
coredump_dir ${at}
pinger_enable off
shutdown_lifetime 0 seconds
`,
  )
  await started('squid', ['-N', '-f', config], port)
  return `http://127.0.0.1:${port}`
}

/** What passed a hop: the first line of a request with its fields, and the status that answered it. */
export interface Passed {
  readonly method: string
  readonly target: string
  readonly head: string
  status: number
}

export interface Hop {
  readonly url: string
  readonly passed: Passed[]
}

/** Passes octets on as they are, and writes down what was asked of the service and how it answered. */
export async function hop(origin: string): Promise<Hop> {
  const passed: Passed[] = []
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const service = connect(Number(portOf(origin)), '127.0.0.1')
    const due: Passed[] = []
    client.on('data', piece => {
      for (const found of piece
        .toString('latin1')
        .matchAll(/(?:^|\n)([A-Z]+) (\S+) HTTP\/1\.[01]\r\n(.*?)\r\n\r\n/gs)) {
        const one = { method: found[1] ?? '', target: found[2] ?? '', head: (found[3] ?? '').toLowerCase(), status: 0 }
        passed.push(one)
        due.push(one)
      }
    })
    service.on('data', piece => {
      for (const found of piece.toString('latin1').matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)) {
        const one = due.shift()
        if (one) one.status = Number(found[1])
      }
    })
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from))
      from.pipe(to)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed } // it listens on TCP
}
