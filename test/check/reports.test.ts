/** Each report says what failed, with its exchange, and tells no secret. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type CheckReport,
  createMemoryTransport,
  findNewFailures,
  findRule,
  parseCaller,
  readBaseline,
  runCheck,
  writeBadge,
  writeHtmlReport,
  writeJsonReport,
  writeJunitReport,
  writeSarifReport,
  writeTerminalReport,
} from '../../src/check/index.ts'
import { Malformed, parseXml } from '../../src/xml/index.ts'

const items = { items: [{ id: '1', name: 'lamp <&"\u0007' }], _links: { self: { href: '/things' } } }
/** A service that knows one collection, and answers every condition with 200. */
const serve = ({ target }: { readonly target: string }) => ({
  status: target === '/nothing' ? 404 : 200,
  fields: { 'content-type': 'application/json', etag: '"1"' },
  content: JSON.stringify(
    target === '/'
      ? { _links: { self: { href: '/' }, things: { href: '/things' } } }
      : target === '/things'
        ? items
        : items.items[0],
  ),
})

describe('reports', () => {
  let report: CheckReport
  before(async () => {
    const rules = ['A1.3', 'A1.5', 'A4.3', 'A4.8'].flatMap(id => findRule(id) ?? [])
    const callers = [parseCaller('alice:top:secret')]
    report = await runCheck(createMemoryTransport(serve), { rules, callers, rate: 100_000 })
  })

  it('a service that ignores If-None-Match fails A4.3, and the report shows the exchange', () => {
    const verdict = report.verdicts.find(({ rule }) => rule.id === 'A4.3')
    assert.equal(verdict?.status, 'fail')
    assert.match(verdict.reason, /GET with If-None-Match: "1" is answered 304, not 200/)
    assert.match(writeTerminalReport(report), /FAIL {2}A4\.3[\s\S]*> if-none-match: "1"[\s\S]*< 200/)
  })

  it('JSON has each finding with its evidence', () => {
    const { verdicts, counts } = JSON.parse(writeJsonReport(report))
    assert.deepEqual(counts, { pass: 1, fail: 2, 'not applicable': 0, 'not observable': 1 })
    assert.match(verdicts[2].findings[1].evidence[0].request, /^GET \/things\/1 HTTP\/1\.1\n.*if-none-match/s)
  })

  it('the badge is an image that counts the judged rules, and is green only if none fails', () => {
    const drawBadge = (verdicts: CheckReport['verdicts']) => writeBadge({ ...report, verdicts })
    assert.match(drawBadge(report.verdicts), /<title>diglot check: 2 of 3 fail<.*fill="#b42318"/s)
    const passed = report.verdicts.filter(({ status }) => status === 'pass')
    assert.match(drawBadge(passed), /<title>diglot check: 1 of 1 pass<.*fill="#1a7f37"/s)
    assert.match(drawBadge([]), /<title>diglot check: nothing judged<.*fill="#595959"/s)
    assert.ok(!(parseXml(new TextEncoder().encode(drawBadge(passed))) instanceof Malformed))
  })

  it('JUnit is well-formed XML whatever the content, with a case for each rule', () => {
    const text = writeJunitReport(report)
    assert.ok(!(parseXml(new TextEncoder().encode(text)) instanceof Malformed))
    assert.match(text, /tests="4" failures="2" errors="0" skipped="1"/)
  })

  it('SARIF 2.1.0 has a result for each failure, at the address that shows it', () => {
    const { version, runs } = JSON.parse(writeSarifReport(report))
    assert.equal(version, '2.1.0')
    assert.deepEqual(
      runs[0].results.map((each: { ruleId: string }) => each.ruleId),
      ['A1.3', 'A4.3'],
    )
    const [{ physicalLocation }] = runs[0].results[1].locations
    assert.equal(physicalLocation.artifactLocation.uri, 'http://memory.test/things/1')
  })

  it('HTML is one page without scripts or other files, and escapes the exchanges', () => {
    const html = writeHtmlReport(report)
    assert.doesNotMatch(html, /<script|<link|<img|src=|lamp <&/)
    assert.match(html, /lamp &lt;&amp;/)
  })

  it('HTML states the remarks of the run, and which items it has not removed', () => {
    const html = writeHtmlReport({ ...report, remarks: ['/a was left out: <closed>'], leftBehind: ['/things/3'] })
    assert.match(html, /<p>Of this run:<\/p><ul><li>\/a was left out: &lt;closed&gt;<\/li><\/ul>/)
    assert.match(html, /<p>Not removed:<\/p><ul><li>\/things\/3<\/li><\/ul>/)
  })

  it('no report has a control character of a response, which a terminal would obey (ECMA-48)', async () => {
    const odd = '\x1b[31m\x9b2J\u202e'
    const transport = createMemoryTransport(request => {
      const answer = serve(request)
      return { ...answer, fields: { ...answer.fields, 'x-note': odd, 'content-type': `application/json;a="${odd}"` } }
    })
    const rules = ['A1.3', 'A4.3'].flatMap(id => findRule(id) ?? [])
    const run = await runCheck(transport, { rules, rate: 100_000 })
    const marked = { ...run, remarks: [odd], leftBehind: [odd] }
    assert.doesNotMatch(writeTerminalReport(marked), /[^\P{C}\n\t]/u)
    for (const text of [writeJsonReport(run), writeHtmlReport(run), writeSarifReport(run), writeJunitReport(run)])
      assert.doesNotMatch(text, /[^\P{C}\n\t]|\\u001b|\\u009b/u)
  })

  it('no report contains a password', () => {
    for (const text of [writeJsonReport(report), writeHtmlReport(report), writeSarifReport(report)])
      assert.doesNotMatch(text, /top:secret|YWxpY2U6dG9wOnNlY3JldA/)
  })

  it('a baseline accepts its known failures, and a new failure counts', () => {
    const known = readBaseline(writeJsonReport(report))
    assert.deepEqual([...(known ?? [])], ['A1.3', 'A4.3'])
    assert.deepEqual(findNewFailures(report.verdicts, known ?? new Set()), [])
    assert.deepEqual(
      findNewFailures(report.verdicts, new Set(['A1.3'])).map(({ rule }) => rule.id),
      ['A4.3'],
    )
    assert.equal(readBaseline('{}'), undefined)
  })
})
