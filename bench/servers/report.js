/** What a measured server says to the bench: its port once, its use of CPU when asked. It ends with the bench. */
export function ready(port) {
  process.on('message', () => process.send(process.cpuUsage()))
  process.on('disconnect', () => process.exit())
  process.send({ port })
}
