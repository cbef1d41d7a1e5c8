/** A problem in a browser: what is wrong, where, at which decision, and what to do next. */
import { escapeMarkup } from '../../base/markup.ts'
import { buildElement, type PageMarkup, writeAnchor, writeSection } from '../../html/element.ts'
import { writePage } from '../../html/frame.ts'
import { indentJson } from '../../html/indent.ts'
import { type Problem, writeProblemJson } from '../../http/problem.ts'
import type { Exchange } from '../exchange.ts'
import { describeFrame, returnPath } from './page-frame.ts'

/** The part of the page after the problem: the form as it was sent, and its item. */
export interface ProblemContext {
  /** Problems that belong to a control of the form, with its identifier. */
  readonly places?: readonly { readonly control: string; readonly detail: string }[]
  readonly after?: PageMarkup
}

export function writeProblemView(
  exchange: Exchange,
  problem: Problem,
  { places = [], after = '' }: ProblemContext = {},
): string {
  const { title = '' } = problem
  const frame = describeFrame(exchange, title)
  return writePage(frame, writeAlert(exchange, problem, places, after !== '') + after, writeRaw(problem))
}

/** The part of the page that is focused and read aloud first. */
function writeAlert(
  exchange: Exchange,
  problem: Problem,
  places: NonNullable<ProblemContext['places']>,
  hasForm: boolean,
): PageMarkup {
  const { type = '', detail = '', status = 0 } = problem
  const errors = places.map(({ control, detail: text }) =>
    buildElement('li', {}, control === '' ? escapeMarkup(text) : writeAnchor(`#${control}`, text)),
  )
  const signIn = status === 401 ? signInAddress(exchange) : undefined
  return buildElement(
    'div',
    { class: 'alert', role: 'alert', tabindex: -1, autofocus: true },
    buildElement('h2', {}, escapeMarkup(`${status}`)),
    errors.length === 0 ? buildElement('p', {}, escapeMarkup(sentenceOf(detail))) : buildElement('ul', {}, ...errors),
    writePossible(problem),
    status === 412 && hasForm ? buildElement('p', {}, lateHint) : '',
    signIn === undefined ? '' : buildElement('p', {}, writeAnchor(signIn, 'Sign in', { class: 'button' })),
    buildElement(
      'p',
      {},
      writeAnchor(type, 'About this problem'),
      ' · ',
      writeAnchor(
        `${exchange.face.api.prefix}/decisions#row-${exchange.endedAt}`,
        `Decided at row ${exchange.endedAt}`,
      ),
    ),
  )
}

const lateHint =
  'The current state is below. If your change is still possible, the form keeps what you sent: sending it again overwrites the other change.'

const sentenceOf = (text: string): string => {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

/** The transitions that the state allows. */
function writePossible({ state, possible }: Problem): PageMarkup {
  if (typeof state !== 'string') return ''
  const verbs = Array.isArray(possible) ? possible.map(String) : []
  const text = verbs.length === 0 ? 'No transition leads on from there.' : `Possible now: ${verbs.join(', ')}.`
  return buildElement('p', {}, escapeMarkup(`It is ${state}. ${text}`))
}

/** Where a person may sign in and come back; only a host has such a page. */
function signInAddress({ face, entry, edition }: Exchange): string | undefined {
  const login = face.options.links?.(edition.version).find(({ rel }) => rel === 'login')
  const { prefix } = face.api
  return login && `${prefix}${login.href}?to=${encodeURIComponent(returnPath(prefix, entry))}`
}

const writeRaw = (problem: Problem): PageMarkup =>
  writeSection(
    'As HTTP',
    { class: 'face', id: 'as-http' },
    buildElement(
      'pre',
      { tabindex: 0 },
      escapeMarkup(
        `HTTP/1.1 ${problem.status ?? ''}\nContent-Type: application/problem+json\n\n${indentJson(writeProblemJson(problem))}`,
      ),
    ),
  )
