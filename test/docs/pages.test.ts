/** The pages show what is there: services as they stand in examples/, and links that lead somewhere. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { listSnippets, pages, textOf } from './pages.ts'

const root = join(import.meta.dirname, '..', '..')

const shown = listSnippets('README.md').filter(snippet => snippet.mark.startsWith('examples/'))

for (const { mark, text } of shown)
  test(`README.md shows ${mark} unchanged`, () => {
    assert.equal(text, readFileSync(join(root, mark), 'utf8'))
  })

test('the service on the first screen has 20 lines at most, the one below it 12', () => {
  const counts = shown.map(({ text }) => text.split('\n').filter(line => line.trim() !== '').length)
  assert.equal(counts.length, 2)
  assert.ok((counts[0] ?? 99) <= 20 && (counts[1] ?? 99) <= 12, counts.join(', '))
})

/** As GitHub makes the identifier of a heading. */
const headingsOf = (page: string): ReadonlySet<string> =>
  new Set(
    [
      ...textOf(page)
        .replaceAll(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/^#+ (.*)$/gm),
    ].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

const links = pages.flatMap(page =>
  [
    ...textOf(page)
      .replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`/gm, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, to = '']) => to)
    .filter(to => !/^[a-z]+:/.test(to))
    .map(to => {
      const [path = '', fragment] = to.split('#')
      return { page, to, path: path === '' ? page : posix.join(dirname(page), path), fragment }
    }),
)

test('every link of a page leads to a file, and to a heading if it names one', () => {
  assert.ok(links.length > 30)
  const broken = links.filter(
    ({ path, fragment }) =>
      !existsSync(join(root, path)) ||
      (fragment !== undefined && path.endsWith('.md') && !headingsOf(path).has(fragment)),
  )
  assert.deepEqual(
    broken.map(({ page, to }) => `${page} → ${to}`),
    [],
  )
})

test('the package has the required files, and every link of its pages leads to a packed file', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const listed: object = JSON.parse(stdout)
  const [{ files }] = Object.values(listed) as [{ readonly files: readonly { readonly path: string }[] }]
  const packed = files.map(({ path }) => path)
  const isPacked = (path: string): boolean =>
    packed.some(file => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  const broken = links.filter(({ page, path }) => isPacked(page) && !isPacked(path))
  assert.deepEqual(
    broken.map(({ page, to }) => `${page} → ${to}`),
    [],
  )
  assert.deepEqual(
    packed.filter(path => !/^(?:(?:deploy|dist|docs|examples|src)\/|LICENSE$|package\.json$|[A-Z]+\.md$)/.test(path)),
    [],
  )
})
