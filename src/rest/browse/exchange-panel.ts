/** The response that programs get, over HTTP and as a SOAP message, next to its page. */
import { escapeMarkup } from '../../base/markup.ts'
import { chain, type Maybe } from '../../base/maybe.ts'
import { buildElement, type PageMarkup, writeSection } from '../../html/element.ts'
import { indentJson, indentXml, shortenText, writeShownRows } from '../../html/indent.ts'
import { writeDate } from '../../http/date.ts'
import { writeQuery } from '../../http/uri.ts'
import { finishSteps } from '../../service/turns.ts'
import type { MessagePair } from '../compiled-face.ts'
import type { Exchange } from '../exchange.ts'
import { documentContextOf, type RepresentationDocument, writeItemsInSteps } from '../formats/document.ts'
import { halWriter } from '../formats/hal.ts'
import type { Offer } from '../media-types.ts'
import { representationTag } from '../tags.ts'

/** Characters of one message; a longer one is cut, and says so. */
const shownCharacters = 20_000

export function writeExchangePanel(exchange: Exchange, document: RepresentationDocument): Maybe<PageMarkup> {
  const http = writeHttpFace(exchange, document, writeShownJson(exchange, document))
  return chain(findMessages(exchange), messages => http + writeSoapFace(messages))
}

/** Only the part that is shown. */
function writeShownJson(exchange: Exchange, document: RepresentationDocument): string {
  const context = documentContextOf(exchange)
  const write = (shown: RepresentationDocument): string =>
    halWriter.write(shown, context, finishSteps(writeItemsInSteps(halWriter, shown, context)))
  const { items } = document
  return items ? writeShownRows(shownCharacters, items, rows => write({ ...document, items: rows })) : write(document)
}

function writeHttpFace(exchange: Exchange, document: RepresentationDocument, json: string): PageMarkup {
  const { links } = document
  const { entry, edition, base, face, operation } = exchange
  const self = links.find(({ rel }) => rel === 'self')?.href ?? base
  const target =
    entry.request.method === 'GET' && exchange.form === undefined
      ? `${face.api.prefix}${entry.path}${queryOf(exchange)}`
      : self
  const request = [
    `GET ${target} HTTP/1.1`,
    'Accept: application/hal+json',
    ...(exchange.caller.subject === undefined ? [] : ['Authorization: Bearer …']),
  ].join('\n')
  const { all, types } = edition.offers(operation)
  const hal = all.find(({ type }) => type === 'application/hal+json')
  const answer = [
    'HTTP/1.1 200 OK',
    'Content-Type: application/hal+json',
    ...writeValidators(exchange, document, hal),
  ].join('\n')
  return writeSection(
    'As HTTP',
    { class: 'face', id: 'as-http' },
    writeMessagePane('Request', escapeMarkup(request), true),
    writeMessagePane(
      'Answer',
      linkAddresses(
        document,
        escapeMarkup(`${answer}\n\n${shortenText(indentJson(json, shownCharacters), shownCharacters)}`),
      ),
      true,
    ),
    buildElement(
      'p',
      { class: 'hint' },
      escapeMarkup(`Also available by Accept: ${types.filter(each => each !== 'application/hal+json').join(', ')}.`),
    ),
  )
}

/** The validators that programs get for the item: the page has another tag. */
function writeValidators(exchange: Exchange, document: RepresentationDocument, hal: Offer | undefined): string[] {
  const { shown } = exchange
  if (shown?.document !== document) return []
  const { version, modified } = shown.of
  const etag = representationTag(exchange, version, shown.mask, 'identity', hal)
  const dated = Number.isNaN(modified) ? [] : [`Last-Modified: ${writeDate(modified, exchange.entry.now)}`]
  return [`ETag: ${etag}`, ...dated]
}

const queryOf = ({ entry: { pairs } }: Exchange): string => (pairs.length === 0 ? '' : `?${writeQuery(pairs)}`)

const writeMessagePane = (title: string, content: PageMarkup, isOpen: boolean): PageMarkup =>
  buildElement(
    'details',
    { open: isOpen },
    buildElement('summary', {}, title),
    buildElement('div', { class: 'inside' }, buildElement('pre', { tabindex: 0 }, content)),
  )

/** Addresses of pages become links. The text is already escaped. */
function linkAddresses({ links, items = [] }: RepresentationDocument, markup: PageMarkup): PageMarkup {
  const all = [...links, ...items.flatMap(item => item.links)]
  const pages = new Set(all.flatMap(({ href, form, templated }) => (form || templated ? [] : [escapeMarkup(href)])))
  return markup.replace(
    /(&quot;href&quot;: &quot;)(\/[^&]*(?:&amp;[^&]*)*)(?=&quot;)/g,
    (text, before: string, href: string) => (pages.has(href) ? `${before}<a href="${href}">${href}</a>` : text),
  )
}

const findMessages = (exchange: Exchange): Maybe<MessagePair | undefined> => {
  const { face, edition, operation, outcome, id, parameters } = exchange
  if (!operation?.safe || !outcome) return undefined
  return face.options.messages?.(edition.version, operation, { id, query: parameters.query, shownCharacters }, outcome)
}

function writeSoapFace(messages: MessagePair | undefined): PageMarkup {
  if (!messages) return ''
  const { address, action, request, response } = messages
  const head = `POST ${address} HTTP/1.1\nContent-Type: application/soap+xml; action="${action}"\n\n`
  return writeSection(
    'The same as SOAP',
    { class: 'face soap', id: 'as-soap' },
    writeMessagePane(
      'Request',
      escapeMarkup(head + shortenText(indentXml(request, shownCharacters), shownCharacters)),
      false,
    ),
    writeMessagePane('Answer', escapeMarkup(shortenText(indentXml(response, shownCharacters), shownCharacters)), true),
  )
}
