#!/usr/bin/env node
/** `npm create diglot <folder>` is `diglot new <folder>`, with the same options. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
const manifest = require.resolve('diglot/package.json')
const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
process.argv.splice(2, 0, 'new')
await import(new URL(bin.diglot, pathToFileURL(manifest)).href)
