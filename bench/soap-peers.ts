/** Servers of other SOAP stacks for the contract of `servers/shop.ts`, each made by its own tools from the WSDL that Diglot serves. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, has, launch, on, peersInstalled, start, type Target } from './harness.ts'

export interface Peer {
  readonly name: string
  readonly goal: string
  /** Why it cannot run here. */
  readonly missing: () => string | undefined
  /** Seconds of load before anything is counted: compilers at run time need them. */
  readonly warm?: number
  readonly start: (place: string) => Promise<Target>
}

const programs = join(import.meta.dirname, 'servers', 'shop')
const build = join(import.meta.dirname, '..', 'test', 'peers', 'java', 'build')
const shell = (script: string, cwd: string): string =>
  execFileSync('bash', ['-euc', script], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
const without = (name: string, there: boolean) => (): string | undefined =>
  there ? undefined : `${name} is not installed`
const fpm = globSync('/usr/sbin/php-fpm*').at(-1) ?? 'php-fpm'

/** `place` has the WSDL as `orders.wsdl`. */
export const peers: readonly Peer[] = [
  {
    name: 'npm soap 1.13, validates nothing',
    goal: '≥ 4.5',
    missing: () => void peersInstalled(),
    start: place => start('npm soap', 'soap.js', [join(place, 'orders.wsdl'), '/soap/v1']),
  },
  {
    name: 'gSOAP, generated C++ server (-O2)',
    goal: '≥ 1.3',
    missing: without('gSOAP', has('sh', ['-c', 'command -v wsdl2h soapcpp2 g++'])),
    start: async place => {
      shell(
        `wsdl2h -t /usr/share/gsoap/WS/typemap.dat -o shop.h orders.wsdl 2>wsdl2h.log
        soapcpp2 -S -L -j -x -1 -I/usr/share/gsoap/import -I/usr/share/gsoap shop.h >soapcpp2.log 2>&1
        g++ -O2 -w -I. -o shop ${programs}/shop.cpp soapShopSoap11Service.cpp soapC.cpp -lgsoap++ -lpthread`,
        place,
      )
      const port = await freePort()
      return launch('gSOAP', port, [join(place, 'shop'), String(port)])
    },
  },
  {
    name: 'PHP-FPM with opcache, behind nginx',
    goal: '≥ 5',
    missing: without('PHP-FPM with nginx', has(fpm, ['-v']) && has('nginx', ['-v']) && has('php', ['--ri', 'soap'])),
    start: phpFpm,
  },
  {
    name: 'JAX-WS RI, nodelay, after 30 s of load',
    goal: '≥ 5',
    missing: without('JAX-WS RI', has('sh', ['-c', 'command -v javac && test -f /usr/share/java/jaxws-tools.jar'])),
    warm: 30,
    start: async place => {
      const path = execFileSync(build, [place, 'jaxws'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
      shell(`javac -nowarn -proc:none -cp "${path}" -d . ${programs}/Shop.java`, place)
      const port = await freePort()
      const flags = [
        '-Dsun.net.httpserver.nodelay=true',
        '-XX:-UseDynamicNumberOfCompilerThreads', // a thread that has ended is not counted any more
        ...['endpoint', 'client'].map(each => `-Dcom.sun.xml.ws.monitoring.${each}=false`),
        '-Djavax.xml.soap.SAAJMetaFactory=com.sun.xml.messaging.saaj.soap.SAAJMetaFactoryImpl',
      ]
      return launch('JAX-WS', port, ['java', ...flags, '-cp', path, 'Shop', String(port)], { cwd: place })
    },
  },
  {
    name: 'Spyne, waitress, validates by lxml',
    goal: '≥ 20',
    missing: without('Spyne', has('/usr/bin/python3', ['-c', 'import spyne, waitress'])),
    start: async () => {
      const port = await freePort()
      return launch('Spyne', port, ['/usr/bin/python3', join(programs, 'shop.py'), String(port)])
    },
  },
]

/** The workers, and nginx, which speaks HTTP for them: both are counted. */
async function phpFpm(place: string): Promise<Target> {
  const [port, inner] = [await freePort(), await freePort()]
  chmodSync(place, 0o755)
  copyFileSync(join(programs, 'shop.php'), join(place, 'shop.php'))
  writeFileSync(
    join(place, 'fpm.conf'),
    `[global]
error_log = ${place}/fpm.log
daemonize = no
[shop]
user = ${process.getuid?.() === 0 ? 'root' : process.env['USER']}
listen = 127.0.0.1:${inner}
pm = static
pm.max_children = 16
php_admin_value[soap.wsdl_cache_dir] = ${place}
`,
  )
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    each => `${each}_temp_path ${place}/${each};`,
  )
  const asked = ['REQUEST_METHOD $request_method', 'CONTENT_TYPE $content_type', 'CONTENT_LENGTH $content_length']
  const handed = [...asked, 'HTTP_SOAPACTION $http_soapaction', `SCRIPT_FILENAME ${place}/shop.php`]
  writeFileSync(
    join(place, 'nginx.conf'),
    `daemon off; pid ${place}/pid; error_log stderr error; worker_processes 1; events { worker_connections 512; }
http { access_log off; ${temporary.join(' ')} upstream fpm { server 127.0.0.1:${inner}; keepalive 16; }
server { listen 127.0.0.1:${port}; keepalive_requests 1000000; location / { fastcgi_pass fpm; fastcgi_keep_conn on;
${handed.map(each => `fastcgi_param ${each};`).join(' ')} } } }`,
  )
  const asRoot = process.getuid?.() === 0
  const words = [
    'nginx',
    '-p',
    place,
    '-e',
    'stderr',
    '-c',
    join(place, 'nginx.conf'),
    ...(asRoot ? ['-g', 'user root;'] : []),
  ]
  const [program = '', ...rest] = on(0, words)
  const nginx = spawn(program, rest, { stdio: ['ignore', 'ignore', 'inherit'] })
  const flags = [...(asRoot ? ['-R'] : []), '-F', '-y', join(place, 'fpm.conf')]
  const workers = await launch('PHP-FPM', inner, [fpm, ...flags], { beside: [nginx] })
  return { ...workers, port }
}
