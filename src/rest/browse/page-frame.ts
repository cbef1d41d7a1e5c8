/** The frame of a page of the REST face: the service, its collections, its reader. */
import { escapeMarkup } from '../../base/markup.ts'
import { singularOf } from '../../contract/operation.ts'
import { describeVersionLife, newestVersion } from '../../contract/service.ts'
import { labelOf, type PageMarkup, writeAnchor } from '../../html/element.ts'
import type { Crumb, PageFrame, PageVisitor } from '../../html/frame.ts'
import type { Exchange } from '../exchange.ts'
import { fillTemplate } from '../route.ts'

/** Credentials are read at row 15: an exchange that ended earlier does not know its caller. */
const rowOfCredentials = 15

export function describeFrame(exchange: Exchange, title: string): PageFrame {
  const { edition, base, face } = exchange
  return {
    title,
    service: edition.service.title,
    prefix: face.api.prefix,
    home: base,
    places: listPlaces(exchange),
    trail: exchange.page === 'entry' ? [] : [{ href: base, text: 'Start' }, ...trailOf(exchange)],
    visitor: exchange.row >= rowOfCredentials ? describeVisitor(exchange) : undefined,
    notice: edition.isEnding ? describeEnd(exchange) : undefined,
  }
}

/**
 * RFC 9745, RFC 8594: the same facts that programs find in the fields Deprecation, Sunset and Link.
 */
function describeEnd({ edition, face }: Exchange): PageMarkup {
  const newest = newestVersion(face.context.app.contract)
  const life = escapeMarkup(`${edition.version} is ${describeVersionLife(edition.rule)}. `)
  if (newest === edition.version) return life
  return `${life}The current version is ${writeAnchor(`${face.api.prefix}/api/${newest}`, newest)}.`
}

/** The frame of a page whose content is the same for everyone. */
export const describeSharedFrame = (exchange: Exchange, title: string): PageFrame => ({
  ...describeFrame(exchange, title),
  trail: [{ href: exchange.base, text: 'Start' }],
})

function listPlaces({ edition, base, face }: Exchange): readonly Crumb[] {
  const collections = edition.routes.all
    .filter(
      ({ template, methods }) => /^\/[^/]+$/.test(template) && /^(?:list|get)$/.test(methods.get('GET')?.kind ?? ''),
    )
    .map(({ template }) => ({ href: base + template, text: labelOf(template.slice(1)) }))
  const soap = face.options.links?.(edition.version).find(({ rel }) => rel === 'soap')
  return [...collections, ...(soap ? [{ href: face.api.prefix + soap.href, text: 'SOAP' }] : [])]
}

/**
 * The way to the target, from the outermost parent: for each step its collection, then its item.
 */
function trailOf({ operation, route, base, id, parents, edition }: Exchange): readonly Crumb[] {
  const steps = (route?.template ?? '').split('/').slice(1, -1)
  if (operation && 'job' in operation) return []
  if (steps[0] === 'searches') return []
  const ids = [...parents, id ?? '']
  let known = 0
  return steps.map((step, at) => {
    const href = base + fillTemplate(`/${steps.slice(0, at + 1).join('/')}`, ids)
    if (!step.startsWith('{')) return { href, text: labelOf(step) }
    const name = steps[at - 1] ?? ''
    const resource = edition.service.resources.find(each => each.name === name)
    return { href, text: `${labelOf(resource ? singularOf(resource) : name)} ${ids[known++]}` }
  })
}

function describeVisitor({ caller, face, entry, edition }: Exchange): PageVisitor {
  const { prefix } = face.api
  const login = face.options.links?.(edition.version).find(({ rel }) => rel === 'login')
  const here = returnPath(prefix, entry)
  return {
    name: caller.subject,
    roles: caller.roles,
    ...(login && {
      signIn: `${prefix}${login.href}?to=${encodeURIComponent(here)}`,
      signOut: { href: `${prefix}/logout`, back: here },
    }),
  }
}

/** Where to return to after signing in: a page, not a form that was sent. */
export function returnPath(prefix: string, { request, path, query }: Exchange['entry']): string {
  if (request.method !== 'GET') return `${prefix}${path}`
  return `${prefix}${path}${query === '' ? '' : `?${query}`}`
}
