/**
 * The frame of every page: its place, its reader, the way back. What it guards:
 *  (1) Nothing is loaded from elsewhere, and nothing is inline: the policy of pages forbids both.
 *  (2) A page works without its script.
 */
import { escapeMarkup } from '../base/markup.ts'
import { buildElement, type PageMarkup, writeAnchor } from './element.ts'

export interface Crumb {
  readonly href: string
  readonly text: string
}

/** The reader, and where to sign in or out; a missing address: there is no such page. */
export interface PageVisitor {
  readonly name: string | undefined
  readonly roles: readonly string[]
  readonly signIn?: string | undefined
  readonly signOut?: { readonly href: string; readonly back: string } | undefined
}

export interface PageFrame {
  readonly title: string
  /** The service, in the head of each page. */
  readonly service: string
  /** The path in front of all our paths. */
  readonly prefix: string
  /** The address of the entry. */
  readonly home: string
  /** The way from the entry, without the page itself. */
  readonly trail?: readonly Crumb[]
  readonly visitor?: PageVisitor | undefined
  /** A notice on every page of its kind, such as that its version will end. */
  readonly notice?: PageMarkup | undefined
  /** It needs the whole width: an aside goes below it. */
  readonly isWide?: boolean
  /** Other pages of the service, in its head. */
  readonly places?: readonly Crumb[]
  /** A file that a browser may open by itself: it has its policy inside, and no script. */
  readonly isFile?: boolean
  /** The footer; by default, what serves the page. */
  readonly footer?: string | undefined
}

/** What a page in a file may load: its own style and icon, also from `file:`. */
const filePolicy =
  "default-src 'none'; style-src 'self' file:; img-src 'self' file:; form-action 'none'; base-uri 'none'"

/** Addresses of the stylesheet and the script. */
export const lookPaths = { style: '/look/page.css', script: '/look/page.js', icon: '/look/icon.svg' } as const

/** @param aside shown next to the page if there is room, otherwise below it */
export function writePage(frame: PageFrame, main: PageMarkup, aside: PageMarkup = ''): string {
  const {
    title,
    service,
    prefix,
    isFile = false,
    footer = `${service}, served by Diglot: one contract, two faces.`,
    notice,
  } = frame
  const policy = isFile ? `<meta http-equiv="Content-Security-Policy" content="${filePolicy}">` : ''
  const script = isFile ? '' : `<script src="${escapeMarkup(prefix + lookPaths.script)}" defer></script>`
  const name = title === service ? service : `${title} · ${service}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">${policy}<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeMarkup(name)}</title>
<link rel="stylesheet" href="${escapeMarkup(prefix + lookPaths.style)}"><link rel="icon" href="${escapeMarkup(prefix + lookPaths.icon)}">${script}</head>
<body><a class="skip" href="#main">Skip to the content</a>
${writeFrameHeader(frame)}
<div class="page${layoutOf(frame, aside)}"><main id="main" tabindex="-1">${writeTrail(frame)}<h1>${escapeMarkup(title)}</h1>${notice === undefined ? '' : buildElement('p', { class: 'hint', role: 'note' }, notice)}
${isFile ? '' : '<p id="done" class="done">Done. This is the current state.</p>\n'}${main}
</main>${aside === '' ? '' : `\n<aside aria-label="For programs">${aside}</aside>`}</div>
<footer><p>${escapeMarkup(footer)}</p></footer></body></html>
`
}

const layoutOf = ({ isWide }: PageFrame, aside: PageMarkup): string =>
  aside === '' ? '' : isWide ? ' wide' : ' with-aside'

/** Two circles that share their middle: one service, two faces. */
const mark =
  '<svg class="mark" viewBox="0 0 40 28" width="40" height="28" aria-hidden="true"><circle class="one" cx="14" cy="14" r="11"></circle><circle class="two" cx="26" cy="14" r="11"></circle></svg>'

function writeFrameHeader(frame: PageFrame): PageMarkup {
  const { service, home, places = [], visitor } = frame
  return buildElement(
    'header',
    { class: 'top' },
    buildElement('a', { href: home, class: 'home' }, mark, buildElement('span', {}, escapeMarkup(service))),
    places.length === 0
      ? ''
      : buildElement('nav', { 'aria-label': 'Service' }, ...places.map(({ href, text }) => writeAnchor(href, text))),
    visitor ? writeVisitor(visitor) : '',
  )
}

function writeVisitor({ name, roles, signIn, signOut }: PageVisitor): PageMarkup {
  if (name === undefined)
    return buildElement('div', { class: 'visitor' }, signIn === undefined ? '' : writeAnchor(signIn, 'Sign in'))
  const rights = roles.length === 0 ? '' : buildElement('span', { class: 'roles' }, escapeMarkup(roles.join(', ')))
  return buildElement(
    'div',
    { class: 'visitor' },
    buildElement('span', { class: 'name' }, escapeMarkup(name)),
    rights,
    signOut
      ? buildElement(
          'form',
          { method: 'post', action: signOut.href },
          buildElement('input', { type: 'hidden', name: 'to', value: signOut.back }),
          buildElement('button', { class: 'minor' }, 'Sign out'),
        )
      : '',
  )
}

function writeTrail({ trail = [] }: PageFrame): PageMarkup {
  if (trail.length === 0) return ''
  const steps = trail.map(({ href, text }) => buildElement('li', {}, writeAnchor(href, text)))
  return buildElement('nav', { 'aria-label': 'Way back', class: 'trail' }, buildElement('ol', {}, ...steps))
}
