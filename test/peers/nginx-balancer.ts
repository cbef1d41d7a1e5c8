/** deploy/nginx.conf itself, with the addresses of this machine in the place of those in compose.yaml. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, root } from './peer.ts'
import { certificate, freePort, started } from './proxies.ts'

export interface Balancer {
  readonly url: string
  readonly secured: { readonly url: string; readonly ca: string }
}

/** nginx in front of these instances; answers its addresses. */
export async function nginxOf(urls: readonly string[]): Promise<Balancer> {
  const at = folder()
  const port = await freePort()
  const tlsPort = await freePort()
  const own = certificate()
  const listens = [`listen 127.0.0.1:${port};`, `listen 127.0.0.1:${tlsPort} ssl;`]
  const keys = [`ssl_certificate ${own.certificate};`, `ssl_certificate_key ${own.key};`]
  const hosts = urls.map(url => new URL(url).host)
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(each => `${each}_temp_path ${at}/${each};`)
  const config = readFileSync(join(root, 'deploy', 'nginx.conf'), 'utf8')
    .replace(/server diglot-(\d):8080/g, (_, number: string) => `server ${hosts[Number(number) - 1]}`)
    .replace('listen 80;', [...listens, ...keys].join(' '))
    .replace('http {', `http { ${kept.join(' ')}`)
    .replace('worker_processes auto;', `worker_processes 1; daemon off; pid ${at}/pid; error_log ${at}/errors;`)
  const file = join(at, 'nginx.conf')
  writeFileSync(file, config)
  const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  await started('nginx', ['-p', at, '-e', 'stderr', '-c', file, ...user], port)
  const ca = readFileSync(own.certificate, 'utf8')
  return { url: `http://127.0.0.1:${port}`, secured: { url: `https://127.0.0.1:${tlsPort}`, ca } }
}
