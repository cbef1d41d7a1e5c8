import { after } from 'node:test'
import { storeCases } from './battery.ts'
import { server } from './postgres.ts'

const running = await server()
after(() => running.stop())
storeCases(running.name, () => running.place())
