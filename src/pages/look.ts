/** `/look/page.css`, `/look/page.js` and `/look/icon.svg`: everything that pages load. */
import type { Coding } from '../front/compression.ts'
import type { Mount } from '../front/entry.ts'
import { createPages, type PageContext } from '../front/page.ts'
import { replyWithText, type StaticText } from '../front/static-text.ts'
import { lookPaths } from '../html/frame.ts'
import { pageScript } from '../html/script.ts'
import { pageIcon, stylesheet } from '../html/stylesheet.ts'

const style: StaticText = { mediaType: 'text/css;charset=utf-8', content: stylesheet }
const icon: StaticText = { mediaType: 'image/svg+xml', content: pageIcon }
const script: StaticText = { mediaType: 'text/javascript;charset=utf-8', content: pageScript }

export function createLookPages(context: PageContext, codings: Readonly<Record<string, Coding>>): Mount {
  return createPages(context, {
    [lookPaths.style]: { GET: entry => replyWithText(entry, style, codings) },
    [lookPaths.icon]: { GET: entry => replyWithText(entry, icon, codings) },
    [lookPaths.script]: { GET: entry => replyWithText(entry, script, codings) },
  })
}
