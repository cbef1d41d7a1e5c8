/**
 * Apache CXF beside Diglot on the same messages: a signed request verified, its answer signed, CPU of the whole server. CXF
 * is the peer of `test/peers/cxf`, by the WSDL and its policies alone; it answers with constant content, Diglot reads the
 * order from its store. Every message is signed anew, since neither takes one twice.
 */

import { execFileSync } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOneCertificate } from '../src/security/crypto/key-source.ts'
import { protectMessage } from '../src/security/protect/protect.ts'
import { writeEnvelope } from '../src/soap/envelope.ts'
import { soap12 } from '../src/soap/version.ts'
import { bankRoot, issueBank, issuePartner, partnerRoot } from '../test/host/partner-keys.ts'
import {
  type Ask,
  answerTo,
  compare,
  freePort,
  has,
  inFolder,
  launch,
  type Row,
  row,
  skipped,
  start,
  stayOff,
  stop,
} from './harness.ts'

const sources = join(import.meta.dirname, '..', 'test', 'peers', 'cxf')
const jars = join(sources, 'lib')
const namespace = 'urn:diglot:orders:v2'
const path = '/soap/signed'
const what = 'signed request verified and answer signed, RSA-2048'
const against = 'Apache CXF 4.0.6, after 30 s of load'

/** The row of `npm run bench soap`. */
export async function signedBesideCxf(): Promise<Row[]> {
  if (!has('sh', ['-c', `command -v javac && ls ${jars}/cxf-core-*.jar`]))
    return [skipped(what, against, 'CXF is not there (mvn -f test/peers/cxf dependency:copy-dependencies)')]
  stayOff()
  return inFolder(async folder => {
    const partner = writeKeys(folder)
    const ask = signedAsk(partner)
    const ours = await start('diglot', 'partner.ts', [folder])
    try {
      const theirs = await startCxf(folder, ours.port, ask)
      try {
        const found = await compare({ target: ours, ask }, { target: theirs, ask, warm: 30 }, { connections: 4 })
        return [row(what, against, '≥ 4', found)]
      } finally {
        stop(theirs)
      }
    } finally {
      stop(ours)
    }
  })
}

/** The key pairs, PEM for Diglot and PKCS#12 for CXF. @returns that of the partner, who calls */
function writeKeys(folder: string): ReturnType<typeof issuePartner> {
  const service = issueBank('O=Shop/CN=shop.example')
  const files = {
    'service.key': service.key,
    'service.pem': service.certificate,
    'partners.pem': partnerRoot,
    'root.pem': bankRoot,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  execFileSync(
    'javac',
    ['-encoding', 'UTF-8', '-nowarn', '-proc:none', '-cp', `${jars}/*`, '-d', folder, ...javaSources()],
    {
      stdio: 'ignore',
    },
  )
  const file = (name: string): string => join(folder, name)
  const entries = ['service', file('service.key'), file('service.pem'), 'partners', '-', file('partners.pem')]
  execFileSync('java', ['-cp', `${folder}:${jars}/*`, 'Store', file('service.p12'), ...entries])
  return issuePartner('CN=maria')
}

/** Those of the peers that a constant answer needs. */
const javaSources = (): readonly string[] => ['Constant', 'Keys', 'Store'].map(name => join(sources, `${name}.java`))

/** GetOrder, signed when it is sent. */
function signedAsk({ key, certificate }: ReturnType<typeof issuePartner>): Ask {
  const by = { certificate: readOneCertificate(certificate, 'certificate'), refer: 'direct' } as const
  const signature = { key: createPrivateKey(key), by, parts: ['Headers', 'Timestamp', 'Body'] } as const
  const plain = writeEnvelope(soap12, `<GetOrder xmlns="${namespace}"><id>o-1</id></GetOrder>`)
  const type = `application/soap+xml; charset=utf-8; action="${namespace}/GetOrder"`
  return {
    contains: 'SignatureConfirmation',
    status: 200,
    get request() {
      const { envelope } = protectMessage(plain, { timestamp: {}, signature }, Date.now())
      return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(envelope)}\r\n\r\n${envelope}`
    },
  }
}

async function startCxf(folder: string, diglot: number, ask: Ask) {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}${path}`
  const described = await fetch(`http://127.0.0.1:${diglot}${path}?wsdl=1.2`)
  const wsdl = (await described.text()).replaceAll(`http://127.0.0.1:${diglot}${path}`, address)
  const file = (name: string): string => join(folder, name)
  writeFileSync(file('orders.wsdl'), wsdl)
  const answer = await answerTo(diglot, ask)
  const [, content = ''] = /Body[^>]*>(.*)<\/\w+:Body>/s.exec(answer) ?? []
  writeFileSync(file('answer.xml'), content)
  const words = [`file:${file('orders.wsdl')}`, '1.2', file('service.p12'), address, namespace, file('answer.xml')]
  const quiet = `-Djava.util.logging.config.file=${file('quiet.properties')}`
  writeFileSync(file('quiet.properties'), '.level=OFF\n')
  const flags = [quiet, '-XX:-UseDynamicNumberOfCompilerThreads'] // a thread that has ended is not counted any more
  execFileSync('mkfifo', [file('input')]) // the server runs until its input ends
  const java = ['java', ...flags, '-cp', `${folder}:${jars}/*`, 'Constant', ...words]
  return launch('CXF', port, ['sh', '-c', 'exec "$@" 0<>input', 'sh', ...java], { cwd: folder })
}
