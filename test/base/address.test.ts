import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressBlock } from '../../src/base/address.ts'

test('RFC 4291 §2.5.1 the part of an address that identifies one client: all of IPv4, 64 bits of IPv6', () => {
  const table: readonly (readonly [address: string, block: string])[] = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
    ['::1', '::1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['64:ff9b::127.0.0.1', '64:ff9b:0:0::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['2001:0DB8:0:02::1', '2001:db8:0:2::/64'],
    ['2001:db8:1:2::/64', '2001:db8:1:2::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ]
  for (const [address, block] of table) assert.equal(addressBlock(address), block, address)
})
