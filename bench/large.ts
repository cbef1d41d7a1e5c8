/** One message of 50 MB that comes or goes in pieces: what it takes of memory above that of the idle server, and of CPU. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { cpu, inFolder, median, quick, type Row, start, stayOff, stopped, type Target } from './harness.ts'

const most = { megabytes: 40, seconds: 1 }
const size = 50 * 2 ** 20
const piece = Buffer.alloc(64 * 1024, 'A piece of what is sent. ')
const digest = digestOf(Array.from({ length: size / piece.length }, () => piece))

interface Way {
  readonly what: string
  readonly head: string
  /** What stands around the octets. */
  readonly around: readonly [string, string]
  readonly status: readonly number[]
  /** The way back: how it is asked for, and what ends before it begins. */
  readonly back: string
  readonly asks: { readonly path: string; readonly by?: RequestInit; readonly behind?: string }
}

const boundary = '----=_part'
const envelope = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><PutPaperScan xmlns="urn:diglot:papers:v1"><id>p-1</id><scan><x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:scan"/></scan><mediaType>application/pdf</mediaType></PutPaperScan></e:Body></e:Envelope>`
const ways: readonly Way[] = [
  {
    what: 'PUT of a file of 50 MB in chunks',
    head: 'PUT /api/papers/p-1/scan HTTP/1.1\r\nContent-Type: application/pdf\r\n',
    around: ['', ''],
    status: [201, 204],
    back: 'GET of a file of 50 MB',
    asks: { path: '/api/papers/p-1/scan' },
  },
  {
    what: 'MTOM upload of 50 MB by SOAP, in chunks',
    head: `POST /soap/v1 HTTP/1.1\r\nContent-Type: multipart/related; type="application/xop+xml"; start-info="text/xml"; start="<root>"; boundary="${boundary}"\r\nSOAPAction: "urn:diglot:papers:v1/PutPaperScan"\r\n`,
    around: [
      `--${boundary}\r\nContent-Type: application/xop+xml; type="text/xml"; charset=utf-8\r\nContent-ID: <root>\r\n\r\n${envelope}\r\n--${boundary}\r\nContent-Type: application/pdf\r\nContent-ID: <scan>\r\n\r\n`,
      `\r\n--${boundary}--\r\n`,
    ],
    status: [200],
    back: 'MTOM answer of 50 MB by SOAP',
    asks: {
      path: '/soap/v1',
      by: {
        method: 'POST',
        headers: { 'content-type': 'text/xml', accept: 'multipart/related; type="application/xop+xml", text/xml' },
        body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetPaperScan xmlns="urn:diglot:papers:v1"><id>p-1</id></GetPaperScan></e:Body></e:Envelope>`,
      },
      behind: 'Content-ID: <1@diglot>\r\n\r\n',
    },
  },
]

export async function large(): Promise<Row[]> {
  stayOff()
  const rows: Row[] = []
  for (const way of ways) {
    const found: Both[] = []
    for (let round = 0; round < (quick ? 1 : 3); round++) found.push(await once50(way))
    rows.push(
      ...rowsOf(
        way.what,
        found.map(each => each.sent),
      ),
      ...rowsOf(
        way.back,
        found.map(each => each.back),
      ),
    )
  }
  return rows
}

interface Taken {
  readonly memory: number
  readonly time: number
}
interface Both {
  readonly sent: Taken
  readonly back: Taken
}

function rowsOf(what: string, found: readonly Taken[]): readonly Row[] {
  const [memory, time] = [median(found.map(each => each.memory)), median(found.map(each => each.time))]
  const above = { what, against: `${most.megabytes} MB above idle`, ratio: most.megabytes / memory }
  const used = { what, against: `${most.seconds} s of CPU`, ratio: most.seconds / time }
  return [
    { ...above, goal: '≥ 1', note: `+ ${memory.toFixed(0)} MB` },
    { ...used, goal: '≥ 1', note: `${time.toFixed(2)} s` },
  ]
}

/** On a server of its own, for what one message has left behind another would not take again. */
const once50 = (way: Way): Promise<Both> =>
  inFolder(async folder => {
    const target = await start('diglot', 'papers.ts', [join(folder, 'papers.sqlite')])
    try {
      for (let i = 0; i < 20; i++) await send(target, way, 1)
      await pause(500)
      const idle = resident(target)
      const taken = async (work: () => Promise<void>): Promise<Taken> => {
        const used = await cpu(target)
        forgetPeak(target)
        await work()
        return { memory: peak(target) - idle, time: ((await cpu(target)) - used) / 1e6 }
      }
      const sent = await taken(() => send(target, way, size / piece.length))
      return { sent, back: await taken(() => sameOctets(target, way)) }
    } finally {
      await stopped(target)
    }
  })

async function send({ port }: Target, { head, around, status }: Way, pieces: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  await once(socket, 'connect')
  const answer = once(socket.setEncoding('latin1'), 'data') as Promise<[string]>
  socket.write(`${head}Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`)
  const [before, after] = around.map(text => Buffer.from(text))
  for (const octets of [before!, ...Array<Buffer>(pieces).fill(piece), after!]) await chunk(socket, octets)
  socket.write('0\r\n\r\n')
  const [said] = await answer
  socket.destroy()
  if (!status.some(each => said.startsWith(`HTTP/1.1 ${each} `))) throw new Error(`not the answer: ${said}`)
}

async function chunk(socket: Socket, octets: Buffer): Promise<void> {
  if (octets.length === 0) return
  socket.write(`${octets.length.toString(16)}\r\n`)
  socket.write(octets)
  if (!socket.write('\r\n')) await once(socket, 'drain')
}

/** What was sent is what stands: what comes back, without what is around it. */
async function sameOctets({ port }: Target, { asks }: Way): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${asks.path}`, asks.by)
  const all: Uint8Array[] = []
  for await (const each of answer.body ?? []) all.push(each)
  const [octets, from] = [
    Buffer.concat(all),
    asks.behind ? Buffer.concat(all).indexOf(asks.behind) + asks.behind.length : 0,
  ]
  if (digestOf([octets.subarray(from, from + size)]) !== digest) throw new Error('the file is another')
}

function digestOf(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const each of pieces) hash.update(each)
  return hash.digest('hex')
}

const status = (target: Target, name: string): number =>
  Number(new RegExp(`${name}:\\s+([0-9]+) kB`).exec(readFileSync(`/proc/${target.process.pid}/status`, 'utf8'))?.[1]) /
  1024

/** Megabytes in memory now. */
export const resident = (target: Target): number => status(target, 'VmRSS')
/** Megabytes at most since `forgetPeak`. */
export const peak = (target: Target): number => status(target, 'VmHWM')
/** proc(5): 5 resets the peak of the resident set. */
export const forgetPeak = ({ process: { pid } }: Target): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')
