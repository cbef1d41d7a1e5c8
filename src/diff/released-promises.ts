/** Compares the promises of an earlier release with a service's current descriptions. */
import type { EarlierRelease, LostPromises } from '../describe/earlier-release.ts'
import { compareServices, isBreaking, type ServiceDifference } from './compare-services.ts'
import { type ContractLoader, loadDescriptions, parseDocument } from './diff-sources.ts'
import { readRestDescription } from './read-openapi.ts'
import { readSoapDescription } from './read-soap.ts'
import { DiffImpossible, type ServiceDescription } from './service-description.ts'

/**
 * The descriptions of one earlier release. Throws `DiffImpossible` for a source that cannot be
 * read.
 *
 * @param sources as for `loadDescriptions`
 */
export async function loadReleasedPromises(
  sources: readonly string[],
  loadContract: ContractLoader,
): Promise<EarlierRelease> {
  const all = await Promise.all(sources.map(source => loadDescriptions(source, loadContract)))
  return readReleasedPromises(all.flat())
}

const servedDocument = 'the OpenAPI document of the service'

/** @param descriptions the descriptions of all faces and versions */
export function readReleasedPromises(descriptions: readonly ServiceDescription[]): EarlierRelease {
  const rest = descriptions.filter(({ face }) => face === 'rest')
  const soap = descriptions.filter(({ face }) => face === 'soap')
  const readPublished: EarlierRelease['findRestBreaks'] = openapi =>
    findLost(rest, async () => {
      const json = 'json' in openapi ? openapi.json : await parseDocument(openapi.text, servedDocument)
      return [readRestDescription(json, servedDocument)]
    })
  return {
    findRestBreaks: rest.length === 0 ? undefined : readPublished,
    findSoapBreaks:
      soap.length === 0
        ? undefined
        : documents =>
            findLost(soap, async () =>
              documents.map(each => readSoapDescription(each.octets, each.location, each.find)),
            ),
  }
}

async function findLost(
  before: readonly ServiceDescription[],
  readPublished: () => Promise<readonly ServiceDescription[]>,
): Promise<LostPromises> {
  try {
    const after = await readPublished()
    const pairs = before.flatMap(old => pairDescriptions(old, after))
    if (pairs.length === 0)
      return { needs: 'descriptions of two releases of one service: these have nothing in common' }
    return {
      breaks: [...new Set(pairs.flatMap(([old, now]) => compareServices(old, now).filter(isBreaking).map(writeBreak)))],
      remarks: listMissing(before, after).map(
        uri => `not compared: the messages of ${uri}, which no WSDL that was read describes`,
      ),
    }
  } catch (thrown) {
    if (thrown instanceof DiffImpossible) return { needs: `a description that can be compared: ${thrown.message}` }
    throw thrown
  }
}

/** Undefined for a REST operation. */
const readNamespace = (operation: string): string | undefined =>
  /^(?:SOAP \S+ \S+|element) \{(.+)\}/.exec(operation)?.[1]
const listNamespaces = (all: readonly ServiceDescription[]): ReadonlySet<string | undefined> =>
  new Set(all.flatMap(({ operations }) => [...operations.keys()].map(readNamespace)))

/**
 * A namespace that nothing describes now, such as that of a version to which the service does not
 * link, proves nothing: its current description was not found.
 */
const listMissing = (before: readonly ServiceDescription[], after: readonly ServiceDescription[]): readonly string[] =>
  [...listNamespaces(before).difference(listNamespaces(after))].filter(uri => uri !== undefined)

/**
 * The operations in groups, each with the document that describes them now, or that could. Two
 * documents of one version, such as for two styles, have types with the same names.
 */
function pairDescriptions(
  old: ServiceDescription,
  after: readonly ServiceDescription[],
): readonly (readonly [old: ServiceDescription, now: ServiceDescription])[] {
  const related = after
    .filter(each => old.face === 'soap' || hasOperationIn(old, each))
    .map(now => ({ now, namespaces: listNamespaces([now]) }))
  const described = [...old.operations].flatMap(([name, operation]) => {
    const found =
      related.find(({ now }) => now.operations.has(name)) ??
      related.find(({ namespaces }) => namespaces.has(readNamespace(name)))
    return found ? [{ now: found.now, entry: [name, operation] as const }] : []
  })
  return [...Map.groupBy(described, ({ now }) => now)].map(([now, each]) => [
    { ...old, operations: new Map(each.map(({ entry }) => entry)) },
    now,
  ])
}

const hasOperationIn = (old: ServiceDescription, now: ServiceDescription): boolean =>
  old.operations.keys().some(name => now.operations.has(name))

const writeBreak = ({ place, text, cure }: ServiceDifference): string =>
  `${place}: ${text}${cure === '' ? '' : `; ${cure}`}`
