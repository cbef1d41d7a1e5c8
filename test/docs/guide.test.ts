/** The guide as a site: every page has a place, every link leads somewhere, nothing comes from elsewhere. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { describe, test } from 'node:test'
import { buildGuide } from './guide/build-guide.ts'
import { guideKinds } from './guide/guide-places.ts'
import { writeMarkdown } from './guide/markdown.ts'
import { readGuideSources, writeGuide } from './guide.ts'
import { pages } from './pages.ts'

const sources = readGuideSources()
const files = buildGuide(sources)
const written = [...files].filter(([path]) => path.endsWith('.html'))
const pictures = sources.pictures.map(path => posix.basename(path))
const pageOf = (path: string): string => files.get(path) ?? assert.fail(`there is no ${path}`)

const withPage = (source: string, text: string): typeof sources => ({
  ...sources,
  pages: new Map([...sources.pages, [source, text]]),
})

test('every link and every anchor of the site resolves, and no page loads other files', () => {
  let links = 0
  for (const [path, page] of written) {
    assert.doesNotMatch(page, /<script|<form|\sstyle=|<[^>]+\son\w+=/, path)
    assert.match(
      page,
      /<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;|default-src 'none'/,
    )
    for (const [, attribute, to = ''] of page.matchAll(/ (href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(to)) {
        assert.equal(attribute, 'href', `${path} loads ${to}`)
        continue
      }
      links++
      const [file = '', place] = to.split('#')
      const target = file === '' ? path : posix.join(posix.dirname(path), file)
      assert.ok(files.has(target) || pictures.includes(target), `${path} → ${to}`)
      if (place) assert.ok(files.get(target)?.includes(` id="${place}"`), `${path} → ${to}`)
    }
    const ids = [...page.matchAll(/<[^>]* id="([^"]*)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, path)
  }
  assert.ok(links > 1000)
})

test('each document has a page, and each page links to all others', () => {
  const start = pageOf('index.html')
  const places = [...start.matchAll(/<li class="card"><a href="([^"#]+)"/g)].map(([, href = '']) => href)
  assert.equal(places.length, pages.length)
  for (const kind of guideKinds) assert.match(start, new RegExp(`<section id="${kind}">`))
  const contents = /<nav class="all"[\s\S]*?<\/nav>/.exec(pageOf('tutorial.html'))?.[0] ?? ''
  for (const place of places) assert.ok(contents.includes(`href="${place}"`), place)
  assert.match(contents, /href="tutorial\.html" aria-current="page"[\s\S]*?href="#rest">REST</)
})

test('the cards summarize their pages in the words of the README and of the reference', () => {
  const start = pageOf('index.html')
  assert.match(start, /href="diff\.html">What a release breaks<\/a><p><code>diglot diff<\/code>: what a release breaks/)
  const silent = [...start.matchAll(/<li class="card"><a href="([^"]+)">[^<]*<\/a><\/li>/g)].map(([, href]) => href)
  assert.deepEqual(silent, ['readme.html'], 'the README says nothing of itself')
})

test('the start page leads to REST and to SOAP', () => {
  const start = pageOf('index.html')
  const wayOf = (name: string): string =>
    new RegExp(`<h2>You know ${name}</h2>[\\s\\S]*?</section>`).exec(start)?.[0] ?? ''
  assert.match(wayOf('REST'), /href="tutorial\.html#rest"/)
  assert.match(wayOf('SOAP'), /href="tutorial\.html#soap"[\s\S]*href="message-security\.html"/)
})

test('a linked file is a page with the text of the file', () => {
  assert.match(pageOf('how-to.html'), /href="examples\/clinic\/directory-ts\.html"/)
  const text = pageOf('examples/clinic/directory-ts.html')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  assert.ok(text.includes(sources.readShownFile('examples/clinic/directory.ts') ?? assert.fail()))
})

describe('what prevents the writing of a site is reported', () => {
  const refusals = [
    ['a page without a place', 'docs/new.md', '# New\n', /docs\/new\.md has no place in the guide: list it in/],
    ['a link to a page that is not there', 'docs/mock.md', '# M\n\n[a](lost.md)\n', /docs\/mock\.md links to lost\.md/],
    [
      'a link to a heading that is not there',
      'docs/mock.md',
      '# M\n\n## How it misbehaves\n\n[a](diff.md#no)\n',
      /mock\.html links to diff\.html#no/,
    ],
    ['a page without a title', 'docs/mock.md', 'M\n', /a page begins with its title/],
  ] as const
  for (const [title, source, text, error] of refusals)
    test(title, () => assert.throws(() => buildGuide(withPage(source, text)), error))

  test('a listed page that does not exist is an error', () => {
    const fewer = new Map([...sources.pages].filter(([source]) => source !== 'docs/diff.md'))
    assert.throws(() => buildGuide({ ...sources, pages: fewer }), /docs\/diff\.md is listed as how-to/)
  })
})

describe('Markdown', () => {
  const write = (text: string): string => writeMarkdown(`# Title\n\n${text}`, href => href).main

  test('markup in text and in code is shown as text', () => {
    assert.equal(write('a <b onclick="x">b</b>'), '<p>a &lt;b onclick=&quot;x&quot;&gt;b&lt;/b&gt;</p>\n')
    assert.equal(write('<script>x</script>\n').trim(), '&lt;script&gt;x&lt;/script&gt;')
    assert.match(
      write('```ts\nconst a = <b>(1) // "c"\n```'),
      /<span class="word">const<\/span> a = &lt;b&gt;\(1\) <span class="note">/,
    )
    assert.match(write('`<i>`'), /<code>&lt;i&gt;<\/code>/)
  })

  test('headings have the identifiers of GitHub, and two with one name differ', () => {
    const main = write('## … do what takes long\n\n## Is it `so`?\n\n## Is it so\n')
    assert.deepEqual(
      [...main.matchAll(/id="([^"]*)"/g)].map(([, id]) => id),
      ['-do-what-takes-long', 'is-it-so', 'is-it-so-1'],
    )
  })

  test('a cell of a table states its column on a narrow screen', () => {
    const main = write('| a | `b` |\n|---|---|\n| 1 | x \\| y |\n')
    assert.match(main, /<td role="cell" data-label="b"><span>x \| y<\/span><\/td>/)
  })

  test('a diff shows removed and added lines', () => {
    const main = write('```diff service.ts\n-old\n+new\n same\n```')
    assert.match(main, /<p class="file">service\.ts<\/p>/)
    assert.match(main, /<span class="word">-old<\/span>\n<span class="text">\+new<\/span>\n same/)
  })
})

test('npm run guide writes a folder, replaces a guide, and leaves other files alone', t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.equal(writeGuide(folder), files.size + 1 + pictures.length)
  assert.equal(readFileSync(join(folder, 'tutorial.html'), 'utf8'), files.get('tutorial.html'))
  for (const picture of pictures) assert.ok(existsSync(join(folder, picture)), picture)
  writeFileSync(join(folder, 'old.html'), '')
  writeGuide(folder)
  assert.ok(!existsSync(join(folder, 'old.html')))
  rmSync(join(folder, 'look'), { recursive: true })
  assert.throws(() => writeGuide(folder), /has files that are not of the guide/)
  assert.ok(existsSync(join(folder, 'tutorial.html')))
})
