/** The orders service in each host that can mount it, on a free port of loopback. */
import { createServer, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import orders from '../../../examples/orders/service.ts'
import { type HandlerOptions, handler, type MountableService, serve } from '../../../src/index.ts'
import type { Line } from '../hosted-service.ts'

export interface Hosted {
  /** Scheme, authority and the path where the service is mounted. */
  readonly base: string
  readonly port: number
  readonly prefix: string
  readonly lines: readonly Line[]
  close(): Promise<void>
}

export interface Host {
  readonly name: string
  /** What a request of this host cannot show, by the words of docs/mounting.md. */
  readonly hides: readonly ('dot segments' | 'expect' | 'asterisk')[]
  start(options?: HandlerOptions): Promise<Hosted>
}

function watchLog() {
  const lines: Line[] = []
  const line = (level: Line['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, logger: { info: line('info'), warn: line('warn'), error: line('error') } }
}

const listen = async (server: NodeServer): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function createHost(
  name: string,
  prefix: string,
  hides: Host['hides'],
  mount: (service: MountableService, given: HandlerOptions) => Promise<{ port: number; close(): Promise<unknown> }>,
): Host {
  return {
    name,
    hides,
    start: async (options = {}) => {
      const { lines, logger } = watchLog()
      const given = { data: ':memory:', insecure: true, prefix, logger, ...options }
      const service = await handler(orders, given)
      const { port, close } = await mount(service, given)
      return {
        base: `http://127.0.0.1:${port}${prefix}`,
        port,
        prefix,
        lines,
        close: async () => {
          await close()
          await service.close(0)
        },
      }
    },
  }
}

const closeNode = (server: NodeServer) => async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
}

const served = (name: string, http: 'own' | 'node', hides: Host['hides']): Host => ({
  name,
  hides,
  start: async ({ prefix: _, caller: _caller, address: _address, ...options } = {}) => {
    const { lines, logger } = watchLog()
    const server = await serve(orders, { port: 0, data: ':memory:', logger, http, ...options })
    return { base: server.url, port: server.port, prefix: '', lines, close: () => server.close(0) }
  },
})

export const hosts: readonly Host[] = [
  served('serve', 'own', []),
  served('serve --http node', 'node', []),
  createHost('node:http', '/shop', [], async service => {
    const server = createServer(service.node).on('checkContinue', service.node)
    return { port: await listen(server), close: closeNode(server) }
  }),
  createHost('express', '/shop', ['expect'], async service => {
    const app = express().disable('x-powered-by').set('trust proxy', 'loopback')
    app.use((request, response, next) => {
      response.setHeader('host-saw', request.path)
      next()
    })
    app.use(service.express)
    app.get('/other', (_request, response) => void response.send('the host'))
    const server = createServer(app)
    return { port: await listen(server), close: closeNode(server) }
  }),
  createHost('fastify', '/shop', ['expect', 'asterisk'], async service => {
    const app = fastify({ trustProxy: 'loopback', forceCloseConnections: true })
    app.addHook('onRequest', async (request, reply) => void reply.header('host-saw', request.url.split('?', 1)[0]))
    await app.register(service.fastify, { prefix: '/shop' })
    app.get('/other', async () => 'the host')
    await app.listen({ host: '127.0.0.1', port: 0 })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  }),
  createHost('hono', '/shop', ['dot segments', 'expect', 'asterisk'], async service => {
    const app = new Hono()
    app.use(async (c, next) => {
      await next()
      c.header('host-saw', c.req.path)
    })
    app.all('/shop/*', c => service.fetch(c.req.raw, c.env))
    app.get('/other', c => c.text('the host'))
    const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
    return { port: await listen(server), close: closeNode(server) }
  }),
]
