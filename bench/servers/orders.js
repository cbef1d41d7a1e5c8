/** The orders service by the package as it is published: `orders.js PORT FILE`. */
import { serve } from 'diglot'
import app from '../../examples/orders/service.ts'

const [port, data] = process.argv.slice(2)
const logger = { info() {}, warn: console.error, error: console.error }
await serve(app, { port: Number(port), data, logger })
