/**
 * The pages of a port. Another party designed its messages, so each operation begins with an
 * example.
 */
import { needsPackage } from '../../contract/attached-parts.ts'
import { type Port, type PortExchange, portPath } from '../../contract/exchange.ts'
import { newestVersion } from '../../contract/service.ts'
import type { AnyRootElement, QualifiedName } from '../../contract/xml-type.ts'
import { makeMessage } from '../../describe/example-message.ts'
import { NoExample } from '../../describe/example-text.ts'
import { type Entry, originOf, prefixOf } from '../../front/entry.ts'
import { buildElement, type PageMarkup, writeAnchor, writeParagraph, writeSection } from '../../html/element.ts'
import { indentXml } from '../../html/indent.ts'
import { writeQuery } from '../../http/uri.ts'
import type { FaceContext } from '../../service/face-context.ts'
import { createPortMessageCodecs } from '../../soap/codecs/port-message-codec.ts'
import { createElementCodecs } from '../../soap/codecs/schema-codec.ts'
import { createEncodedCodecs } from '../../soap/codecs/schema-encoded.ts'
import { inlineWriting, loneWriting } from '../../soap/codecs/values.ts'
import { writeEnvelope } from '../../soap/envelope.ts'
import type { SoapEndpoint } from '../../soap/http/binding.ts'
import type { SoapVersion } from '../../soap/version.ts'
import {
  isForPage,
  listSpoken,
  type SoapTrial,
  servePage,
  writeAbout,
  writeAddress,
  writeAnswer,
  writeDescriptions,
  writeEnvelopeForm,
  writeOperations,
  writeOtherEndpoints,
  writeSecureNote,
} from './endpoint-page.ts'

interface PagedExchange {
  readonly name: string
  readonly exchange: PortExchange
}

/** The endpoint of a port with its pages: all other requests reach the endpoint as before. */
export function addPortPage(context: FaceContext, port: Port, served: SoapEndpoint): SoapEndpoint {
  const path = portPath(port)
  const operations = Object.entries(port.exchanges).map(([name, exchange]): PagedExchange => ({ name, exchange }))
  const paged = {
    context,
    served,
    path,
    title: `${port.port} as SOAP`,
    home: context.app.contract.hasRest ? `/api/${newestVersion(context.app.contract)}` : '/',
    spoken: port.soap,
    find: (name: string) => operations.find(each => each.name === name),
    nameOf: ({ name }: PagedExchange) => name,
    actionOf: ({ exchange }: PagedExchange) => exchange.action,
    writeEndpoint: (entry: Entry) => writePort(context, port, operations, entry),
    writeTrial: (entry: Entry, operation: PagedExchange, trial: SoapTrial) =>
      writeMessagePage(port, entry, operation, trial),
    begin: (entry: Entry, operation: PagedExchange) => beginTrial(port, entry, operation),
    readTyped: (entry: Entry, operation: PagedExchange) => beginTrial(port, entry, operation),
  }
  return { ...served, serve: entry => (isForPage(path, entry) ? servePage(paged, entry) : served.serve(entry)) }
}

function writePort(context: FaceContext, port: Port, operations: readonly PagedExchange[], entry: Entry): PageMarkup {
  const path = portPath(port)
  const at = prefixOf(context.settings) + path
  const lines = operations.map(({ name, exchange }) => ({
    name,
    isOneWay: exchange.output === undefined,
    isSafe: exchange.isSafe,
    faults: Object.keys(exchange.faults),
    grants: exchange.allow,
  }))
  const security = port.security === undefined ? '' : ' Each message proves its sender by WS-Security.'
  return [
    writeParagraph(port.description),
    writeAddress(port.soap, originOf(entry) + path, `, as its WSDL describes them.${security}`),
    writeSection('Operations', { class: 'face soap' }, writeOperations(at, lines)),
    writeSection('Descriptions', {}, writeDescriptions(at, { wsdl: 'WSDL 1.1, with all its types' })),
    writeSection('Other endpoints', {}, writeOtherEndpoints(context, newestVersion(context.app.contract), path)),
  ].join('\n')
}

function writeMessagePage(port: Port, entry: Entry, { name, exchange }: PagedExchange, trial: SoapTrial): PageMarkup {
  const { input, output, action, faults } = exchange
  const request = input === 'empty' ? 'an empty Body' : nameElement(input.name)
  const answer =
    output === undefined
      ? 'without an answer'
      : `answered by ${output === 'empty' ? 'an empty Body' : nameElement(output.name)}`
  const about =
    writeParagraph(exchange.description) +
    writeAbout(
      `Its message is ${request}, ${answer}.${action === '' ? '' : ` Action ${action}.`}`,
      Object.entries(faults).map(([fault, root]) => [fault, nameElement(root.name)]),
    )
  if (port.security !== undefined) return about + writeSecureNote()
  if (needsPackage(input)) return about + writeNote('Parts travel with its message, which a page cannot send.')
  const form =
    trial.envelope === undefined
      ? writeNote('No example of its message can be generated, for instance because a text has a rare pattern.')
      : writeEnvelopeForm(entry, trial)
  return [about, writeAnswer(trial), writeExampleLinks(port, name), form].join('\n')
}

const nameElement = ({ uri, local }: QualifiedName): string => `element ${local}${uri === '' ? '' : ` of ${uri}`}`
const writeNote = (text: string): PageMarkup => buildElement('p', { class: 'panel' }, text)

/** Links that write the example again, in a version of SOAP. */
function writeExampleLinks(port: Port, name: string): PageMarkup {
  const links = listSpoken(port.soap).map(({ number }) =>
    buildElement(
      'li',
      {},
      writeAnchor(
        `?${writeQuery([
          ['operation', name],
          ['version', number],
        ])}`,
        `An example in SOAP ${number}`,
      ),
    ),
  )
  return buildElement('ul', { class: 'links' }, ...links)
}

function beginTrial(port: Port, { pairs }: Entry, { name, exchange }: PagedExchange): SoapTrial {
  const spoken = listSpoken(port.soap)
  const requested = new Map(pairs).get('version')
  const version = spoken.find(({ number }) => number === requested) ?? spoken[0]
  const envelope = needsPackage(exchange.input) ? undefined : writeExampleEnvelope(port, name, exchange, version)
  return { version, isDraft: true, ...(envelope !== undefined && { envelope }) }
}

/** Undefined where no example of a type can be generated. */
function writeExampleEnvelope(
  port: Port,
  name: string,
  { input, style, requestHeaders }: PortExchange,
  version: SoapVersion,
): string | undefined {
  const codecOf = createElementCodecs([port])
  const messageOf = createPortMessageCodecs(codecOf, createEncodedCodecs([port]))
  const make = (root: AnyRootElement): unknown =>
    makeMessage(root, { seed: 1, name, item: 1, idOf: () => undefined, given: {} })
  try {
    const body = messageOf(input, style).write(input === 'empty' ? undefined : make(input), inlineWriting, version)
    const blocks = Object.values(requestHeaders).map(root => codecOf(root).write(make(root), loneWriting))
    return indentXml(writeEnvelope(version, body, blocks))
  } catch (thrown) {
    if (thrown instanceof NoExample) return undefined
    throw thrown
  }
}
