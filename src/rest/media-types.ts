/**
 * Media types of each kind of response, in our order of preference, with their writers (rule A1.6).
 */

import type { PortExchange } from '../contract/exchange.ts'
import type { ErasedHandlers } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import { splitElements } from '../http/grammar.ts'
import { csvWriter } from './formats/csv.ts'
import type { DocumentWriter } from './formats/document.ts'
import { halFormsWriter, halWriter } from './formats/hal.ts'
import { xmlWriter } from './formats/xml.ts'

export interface Offer {
  /** The type as in Accept. */
  readonly type: string
  /** The type as in Content-Type. */
  readonly sent: string
  /** A page depends on more than its document, so the exchange writes it. */
  readonly write: DocumentWriter | 'page'
  /** Whether it is text, which a content coding makes smaller. */
  readonly coded: boolean
  /** Whether it depends only on its document: the same document gives the same text. */
  readonly steady: boolean
}
export interface Offers {
  readonly all: readonly Offer[]
  readonly types: readonly string[]
  /** The types with their parameters, which Accept may also name (RFC 9110 §12.5.1). */
  readonly sent: readonly string[]
}

const textOffer = (type: string, write: Offer['write'], sent = type): Offer => ({
  type,
  sent,
  write,
  coded: true,
  steady: true,
})

const hal = textOffer('application/hal+json', halWriter)
const json = textOffer('application/json', halWriter)
const xml = textOffer('application/xml', xmlWriter, 'application/xml;charset=utf-8')
const textXml = textOffer('text/xml', xmlWriter, 'text/xml;charset=utf-8')
const html: Offer = { ...textOffer('text/html', 'page', 'text/html;charset=utf-8'), steady: false }
const forms = textOffer('application/prs.hal-forms+json', halFormsWriter)
const csv = textOffer('text/csv', csvWriter, 'text/csv;charset=utf-8;header=present')

/** The media type that names a service and its version (rule A9.2). */
export const vendorType = (service: string, version: string): string =>
  `application/vnd.diglot.${service}.${version}+json`
/** The version in a vendor type. */
export function vendorVersion(service: string, type: string): string | undefined {
  const start = `application/vnd.diglot.${service}.`
  return type.startsWith(start) && type.endsWith('+json') ? type.slice(start.length, -'+json'.length) : undefined
}

const listOffers = (all: readonly Offer[]): Offers => ({
  all,
  types: all.map(offer => offer.type),
  sent: all.map(offer => offer.sent),
})

/**
 * Media types that the implementation's `formats` add; only text types among them are compressed.
 */
const applicationOffers = (formats: ErasedHandlers['formats']): Offer[] =>
  Object.entries(formats ?? {}).map(([type, write]) => ({
    type,
    sent: type.startsWith('text/') ? `${type};charset=utf-8` : type,
    // The document of an item or an output: its value is the row.
    write: { write: ({ value }) => write(value) },
    coded: type.startsWith('text/'),
    steady: false,
  }))

/** Empty for a response without content, or if stored octets determine its media type. */
export function compileOffers(
  operation: Operation | undefined,
  vendor: string,
  handlers: ErasedHandlers | undefined,
): Offers {
  const basic = [hal, json, xml, html, forms, textXml]
  const versioned = textOffer(vendor, halWriter)
  switch (operation?.kind) {
    case 'remove':
    case 'putFile':
    case 'getFile':
      return listOffers([])
    case 'list':
    case 'search':
    case 'getSearch':
      return listOffers([...basic, csv, versioned])
    case 'getResult':
      return listOffers([...mergeOffers(applicationOffers(handlers?.formats), [...basic, csv]), versioned])
    case 'get':
    case 'create':
    case 'replace':
    case 'patch':
      return listOffers([...mergeOffers(applicationOffers(handlers?.formats), basic), versioned])
    case 'act':
      return listOffers(
        operation.action.output
          ? [...basic, versioned]
          : [...mergeOffers(applicationOffers(handlers?.formats), basic), versioned],
      )
    case 'exchange':
      return listOffers(operation.exchange.later ? [...basic, versioned] : offersOfOutput(operation.exchange, vendor))
    case 'getAnswer':
      return listOffers(offersOfOutput(operation.exchange, vendor))
    default:
      return listOffers([...basic, versioned])
  }
}

/** The text of a port's document is already written (`port-call.ts`). */
const writtenWriter: DocumentWriter = { write: ({ value }) => String(value['text']) }
const offersOfOutput = ({ output }: PortExchange, vendor: string): Offer[] =>
  typeof output === 'object' ? writtenOffers(vendor) : []
const writtenOffers = (vendor: string): Offer[] => [
  textOffer('application/json', writtenWriter),
  textOffer('application/xml', writtenWriter, 'application/xml;charset=utf-8'),
  textOffer('text/xml', writtenWriter, 'text/xml;charset=utf-8'),
  textOffer(vendor, writtenWriter),
]

/** A writer of the application replaces Diglot's. */
const mergeOffers = (added: readonly Offer[], ours: readonly Offer[]): Offer[] => [
  ...ours.filter(offer => !added.some(each => each.type === offer.type)),
  ...added,
]

/** Without the problem types, which only choose among errors. */
export function acceptForContent(accept: string | undefined): string | undefined {
  if (!accept?.includes('problem+')) return accept
  const others = splitElements(accept).filter(each => !/^application\/problem\+(json|xml)/i.test(each))
  return others.join(', ') // an Accept without elements accepts anything
}
