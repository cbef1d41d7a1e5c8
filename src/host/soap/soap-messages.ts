/** Calls as messages for people: those that REST pages show, and those that forms send. */
import type { Fields } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { namespaceOf } from '../../contract/service.ts'
import { compileMessages, type Message } from '../../contract/xml-message.ts'
import { writeShownRows } from '../../html/indent.ts'
import type { RestOptions } from '../../rest/compiled-face.ts'
import type { FaceContext } from '../../service/face-context.ts'
import type { Outcome } from '../../service/outcome.ts'
import { compileAttributesWriter, compileRowWriter } from '../../soap/codecs/literal-write.ts'
import { inlineWriting } from '../../soap/codecs/values.ts'
import { writeEnvelope } from '../../soap/envelope.ts'
import { bindOperations, responseValues } from '../../soap/operations/contract-operation.ts'
import { soap12 } from '../../soap/version.ts'
import { writeAttribute } from '../../xml/index.ts'

type MessageWriter = NonNullable<RestOptions['messages']>

/** The child of Body that requests an operation, in document style. */
export function writeRequestBody(namespace: string, { request: { name, fields } }: Message, row: Values): string {
  const attributes = compileAttributesWriter(fields)?.(row) ?? ''
  return `<${name} xmlns=${writeAttribute(namespace)}${attributes}>${compileRowWriter(fields, '')(row, inlineWriting)}</${name}>`
}

export function createMessageView(context: FaceContext): MessageWriter {
  const { contract } = context.app
  const views = new Map(
    Object.keys(contract.versions).map(version => {
      const bound = new Map(bindOperations(context, version, 'document').map(each => [each.name, each]))
      const messages = new Map(compileMessages(contract, version).map(each => [each.operation.name, each]))
      return [version, { bound, messages, namespace: namespaceOf(contract, version) }] as const
    }),
  )
  return (version, operation, source, outcome) => {
    const view = views.get(version)
    const message = view?.messages.get(operation.name)
    const boundOperation = view?.bound.get(operation.name)
    if (!view || !message?.response || !boundOperation) return undefined
    const row = requestValues(message.request, source)
    return {
      address: `/soap/${version}`,
      action: message.action,
      request: writeEnvelope(soap12, writeRequestBody(view.namespace, message, row)),
      response: writeShown(source.shownCharacters, outcome, shown =>
        writeEnvelope(
          soap12,
          boundOperation.write(responseValues(message, source.query, shown), inlineWriting, soap12),
        ),
      ),
    }
  }
}

/** The visible part of a page. */
const writeShown = (characters: number, outcome: Outcome, write: (outcome: Outcome) => string): string =>
  outcome.kind === 'page'
    ? writeShownRows(characters, outcome.page.items, items => write({ ...outcome, page: { ...outcome.page, items } }))
    : write(outcome)

type PageSource = Parameters<MessageWriter>[2]

/** The request that the address of a page stands for, as far as a message can express it. */
function requestValues({ fields, main }: Message['request'], { id, query }: PageSource): Values {
  if (!query) return id === undefined || !('id' in fields) ? {} : { id }
  const { size, words, filters, sort } = query
  const where = Object.fromEntries(filters.filter(({ is }) => is === 'eq').map(({ field, value }) => [field, value]))
  const order = sort.map(({ field, descending }) => (descending ? `-${field}` : field)).join(',')
  return knownValues(fields, {
    size,
    ...(words && { q: words.join(' ') }),
    ...(order !== '' && { sort: order }),
    ...(main === undefined ? where : Object.keys(where).length > 0 && { [main]: where }),
  })
}

const knownValues = (fields: Fields, row: Values): Values =>
  Object.fromEntries(Object.entries(row).filter(([name]) => Object.hasOwn(fields, name)))
