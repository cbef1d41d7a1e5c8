/** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as curl and Node read them (docs/client.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsEnvironmentProxy, type Environment, findProxyRoute } from '../../src/http/proxy-route.ts'

const proxied = { HTTP_PROXY: 'http://p:3128', HTTPS_PROXY: 'http://s:3129' }
const routeOf = (target: string, env: Environment): string => {
  const found = findProxyRoute(new URL(target), env)
  return found ? `${found.protocol}//${found.host}:${found.port}` : 'none'
}

const routes: readonly (readonly [target: string, env: Environment, route: string])[] = [
  ['http://a.example/x', proxied, 'http://p:3128'],
  ['https://a.example/x', proxied, 'http://s:3129'],
  ['https://a.example/x', { HTTP_PROXY: 'http://p:3128' }, 'none'],
  ['http://a.example/x', { ...proxied, http_proxy: 'https://lower' }, 'https://lower:443'],
  ['http://a.example/x', { ...proxied, http_proxy: '' }, 'http://p:3128'],
  ['http://a.example/x', { HTTP_PROXY: 'http://[::1]' }, 'http://::1:80'],
  ['http://a.example/x', {}, 'none'],
]
for (const [target, env, route] of routes)
  test(`${target} by ${JSON.stringify(env)}: ${route}`, () => assert.equal(routeOf(target, env), route))

const exceptions: readonly (readonly [list: string, target: string, isExcepted: boolean])[] = [
  ['*', 'http://a.example/', true],
  ['a.example', 'http://a.example/', true],
  ['A.example', 'http://a.EXAMPLE/', true],
  ['a.example', 'http://b.a.example/', false],
  ['.a.example', 'http://b.a.example/', true],
  ['*.a.example', 'http://b.a.example/', true],
  ['.a.example', 'http://a.example/', false],
  ['.a.example', 'http://ba.example/', false],
  ['x, b.example ,y', 'http://b.example/', true],
  ['a.example:8080', 'http://a.example:8080/', true],
  ['a.example:8080', 'http://a.example/', false],
  ['a.example:80', 'http://a.example/', true],
  ['a.example:443', 'https://a.example/', true],
  ['10.0.0.1-10.0.0.9', 'http://10.0.0.9/', true],
  ['10.0.0.1-10.0.0.9', 'http://10.0.0.10/', false],
  ['[::1]', 'http://[::1]/', true],
  ['[::1]:81', 'http://[::1]/', false],
  ['my-host', 'http://my-host/', true],
  [',, ', 'http://a.example/', false],
]
for (const [list, target, isExcepted] of exceptions)
  test(`NO_PROXY=${list} ${isExcepted ? 'names' : 'does not name'} ${target}`, () => {
    assert.equal(routeOf(target, { ...proxied, NO_PROXY: list }) === 'none', isExcepted)
  })

test('RFC 9110 §11.7.2 credentials in the address are sent as Proxy-Authorization, and an invalid address is named', () => {
  const route = findProxyRoute(new URL('http://a.example'), { HTTP_PROXY: 'http://u%40x:p%3A@p' })
  assert.equal(route?.authorization, `Basic ${Buffer.from('u@x:p:').toString('base64')}`)
  for (const address of ['p:3128', 'socks5://p', 'http://%zz:x@p', 'nothing'])
    assert.throws(
      () => findProxyRoute(new URL('http://a.example'), { HTTP_PROXY: address }),
      /HTTP_PROXY is not the http or https address of a proxy: give one such as/,
    )
})

test('the environment is used where Node itself uses it', () => {
  assert.equal(allowsEnvironmentProxy(proxied, []), false)
  assert.equal(allowsEnvironmentProxy({ NODE_USE_ENV_PROXY: '1' }, []), true)
  assert.equal(allowsEnvironmentProxy({ NODE_USE_ENV_PROXY: '0' }, []), false)
  assert.equal(allowsEnvironmentProxy({}, ['--use-env-proxy']), true)
  assert.equal(allowsEnvironmentProxy({ NODE_OPTIONS: '--no-warnings --use-env-proxy' }, []), true)
})
