/**
 * `npm run prepare` makes dist/, what the package has: declarations by tsc, and here the programs.
 * Modules that entries share are bundled, since a service that loads four hundred files starts 60 ms
 * later and keeps 13 MB more. The maps beside them lead to src/, which the package has, too.
 */
import { globSync, readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'

const { exports, engines } = JSON.parse(readFileSync('package.json', 'utf8'))

/** What package.json exports to Node, by the name of its file in dist/. */
const exported = Object.values(exports)
  .filter(entry => typeof entry === 'object')
  .map(entry => [basename(entry.default, '.js'), entry['diglot-source']])
/** A read thread has its program beside whatever bundle starts it: all files of dist/ are in one folder. */
const programs = { cli: './src/cli.ts', 'read-thread-main': './src/store/read-thread-main.ts' }
/** Pages load what is free of Node; copies of their own keep their bundler from seeing the rest. */
const browser = { contract: './src/contract/index.ts', 'rest-client': './src/client/rest/index.ts' }

const shared = {
  bundle: true,
  splitting: true,
  format: 'esm',
  packages: 'external',
  metafile: true,
  sourcemap: true,
  sourcesContent: false,
  chunkNames: '[name]-[hash]',
}

const forNode = await build({
  ...shared,
  entryPoints: { ...Object.fromEntries(exported), ...programs },
  outdir: 'dist',
  platform: 'node',
  target: `node${engines.node.replace('>=', '')}`,
})
const forBrowsers = await build({
  ...shared,
  entryPoints: browser,
  outdir: 'dist/browser',
  platform: 'browser',
  target: 'es2024',
})
/** What is still made stays all the time: a process that runs from dist/ meanwhile goes on. */
const made = new Set([forNode, forBrowsers].flatMap(({ metafile }) => Object.keys(metafile.outputs)))
for (const file of globSync('dist/**/*.{js,js.map}')) if (!made.has(file.replaceAll('\\', '/'))) rmSync(file)
