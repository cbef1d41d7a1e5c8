/** The orders service with everything on, limits so high that the load never meets them, answering in memory of one file. */
import pino from 'pino'
import app from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { ready } from './report.js'

const plenty = { count: 1e9, seconds: 60 }
const contract = { ...app.contract, limits: { reads: plenty, changes: plenty } }
/** Lines of changes are made, and written where they are not kept. */
const logger = pino({ base: null }, pino.destination({ dest: '/dev/null', sync: true }))
const options = { port: 0, data: process.argv[2] ?? ':memory:', flood: 1e9, logger }
const server = await startService({ ...app, contract }, options)
ready(server.port)
