/** What a measured server says to the bench: its port once, its use of CPU when asked. */
export function ready(port) {
  process.on('message', () => process.send(process.cpuUsage()))
  process.send({ port })
}
