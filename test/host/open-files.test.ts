/** If few open files are allowed, an excess connection is reported, and health responds. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { boundConnections, readOpenFiles } from '../../src/server/open-files.ts'
import { sendRequest } from './hosted-service.ts'

test('connections leave files to the rest of the process', () => {
  const rows = [
    [Infinity, undefined],
    [1_048_576, undefined],
    [17_640, undefined],
    [17_639, 16_383],
    [4096, 2840],
    [1024, 512],
  ] as const
  for (const [files, connections] of rows) assert.equal(boundConnections(files), connections, String(files))
})

test('the soft limit is read if the system reports it', t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-limits-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'limits')
  writeFileSync(
    file,
    'Max processes   63   63   processes\nMax open files            1024                 4096      files\n',
  )
  assert.equal(readOpenFiles(file), 1024)
  writeFileSync(file, 'Max open files            unlimited            unlimited  files\n')
  assert.equal(readOpenFiles(file), Infinity)
  assert.equal(readOpenFiles(join(folder, 'none')), Infinity)
})

const only = { skip: process.platform !== 'linux' && 'the system does not tell its limit' }
test('with few files an excess connection gets 503, and the log has the cause and the cure', only, async t => {
  const root = join(import.meta.dirname, '..', '..')
  const serve = [
    '--conditions=diglot-source',
    'src/cli.ts',
    'serve',
    'examples/orders/service.ts',
    '--port',
    '0',
    '--data',
    ':memory:',
  ]
  const running = spawn('sh', ['-c', 'ulimit -n 128; exec "$0" "$@"', process.execPath, ...serve], { cwd: root })
  t.after(() => running.kill())
  let log = ''
  running.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  let line = ''
  for await (const text of running.stdout.setEncoding('utf8')) {
    line += text
    if (line.includes('listening on')) break
  }
  const port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let i = 0; i < 64; i++) {
    const socket = connect(port, '127.0.0.1').resume()
    sockets.push(socket)
    await once(socket, 'connect')
  }
  const tooMany = await sendRequest(port, 'GET', '/health/live')
  assert.deepEqual([tooMany.status, tooMany.fields['retry-after']], [503, '5'])
  const closed = sockets.splice(0, 32).map(socket => once(socket.end(), 'close'))
  await Promise.all(closed)
  assert.equal((await sendRequest(port, 'GET', '/health/ready')).status, 200)
  assert.match(log, /"openFiles":128,"connections":64,"msg":"the system allows few open files.*ulimit -n/)
  assert.match(log, /the server has reached its limit of open connections.*"msg":"refused a connection"/)
})
