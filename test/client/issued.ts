/** A certificate of one's own. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Key and certificate in PEM, for a name and 127.0.0.1; undefined if there is no openssl. */
export function issueCertificate(name: string): { readonly key: string; readonly cert: string } | undefined {
  if (spawnSync('openssl', ['version'], { stdio: 'ignore' }).status !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const more = [
    'subjectAltName=IP:127.0.0.1',
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature',
  ]
  const words = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert]
  try {
    const added = more.flatMap(each => ['-addext', each])
    execFileSync('openssl', ['req', '-x509', ...words, ...added], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
