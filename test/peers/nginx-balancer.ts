/** deploy/nginx.conf itself, with the addresses of this machine in the place of those in compose.yaml. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, root } from './peer.ts'
import { freePort, started } from './proxies.ts'

/** nginx in front of these instances; answers its address. */
export async function nginxOf(urls: readonly string[]): Promise<string> {
  const at = folder()
  const port = await freePort()
  const hosts = urls.map(url => new URL(url).host)
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(each => `${each}_temp_path ${at}/${each};`)
  const config = readFileSync(join(root, 'deploy', 'nginx.conf'), 'utf8')
    .replace(/server diglot-(\d):8080/g, (_, number: string) => `server ${hosts[Number(number) - 1]}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace('http {', `http { ${kept.join(' ')}`)
    .replace('worker_processes auto;', `worker_processes 1; daemon off; pid ${at}/pid; error_log ${at}/errors;`)
  const file = join(at, 'nginx.conf')
  writeFileSync(file, config)
  const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  await started('nginx', ['-p', at, '-e', 'stderr', '-c', file, ...user], port)
  return `http://127.0.0.1:${port}`
}
