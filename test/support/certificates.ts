/** Certificates of a test, made by openssl. */
import { execFileSync } from 'node:child_process'

/** A client's certificate: the names of its files, its subject, and extensions. */
type ClientCertificate = readonly [name: string, subject: string, extensions?: string]

/**
 * An authority (`ca`), a server, clients of the authority, and `selfmade`, which nobody has signed,
 * each as NAME.key and NAME.pem in the folder; false without openssl.
 */
export function makeCertificates(folder: string, clients: readonly ClientCertificate[]): boolean {
  const run = (words: string) => execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' })
  const fresh = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2'
  try {
    run(`req -x509 ${fresh} -subj /CN=authority -keyout ca.key -out ca.pem`)
    run(`req -x509 ${fresh} -subj /CN=server -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.pem`)
    run(`req -x509 ${fresh} -subj /CN=clara -keyout selfmade.key -out selfmade.pem`)
    for (const [name, subject, extensions = ''] of clients)
      run(
        `req -x509 -CA ca.pem -CAkey ca.key ${fresh} -subj ${subject}${extensions} -keyout ${name}.key -out ${name}.pem`,
      )
    return true
  } catch {
    return false
  }
}
