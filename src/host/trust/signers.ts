/**
 * The trusted signers, and the people whom each authority may identify: from the current
 * certificates of the settings and their files. Guards: with several authorities, each has a list
 * of people, so one partner's authority cannot identify another partner's people.
 */
import type { Watching } from '../../identity/watched-file.ts'
import { watchOctets } from '../../identity/watched-file.ts'
import type { Certificate } from '../../security/crypto/certificate.ts'
import { type CertificateSource, type OneOrMore, readCertificateList } from '../../security/crypto/key-source.ts'
import { type SplitSigners, splitSigners } from '../../security/crypto/split-signers.ts'
import { type Anchors, CertificateTrust, type RevocationSources } from '../../security/crypto/trust.ts'

/** Certificates, and the people whom they may identify. */
export interface Partner extends Pick<Anchors, 'authorities' | 'intermediates' | 'certificates'> {
  /** Further files of PEM certificates, read again when they change. */
  readonly signerFiles?: readonly string[]
  /** The names of people as the service knows them; `all` allows any name. */
  readonly people: readonly string[] | 'all'
}

export type SignerSettings = Anchors & {
  readonly signerFiles?: readonly string[]
  readonly partners?: readonly Partner[]
}

export interface CurrentSigners {
  readonly trust: CertificateTrust
  /** Whether the party that certified this signer may identify this person. */
  readonly mayName: (signer: Certificate, person: string) => boolean
}

interface Group {
  readonly place: string
  /** Undefined: not stated. */
  readonly people: Partner['people'] | undefined
  readonly known: readonly Certificate[]
  readonly intermediates: readonly Certificate[]
  readonly certificates: readonly Certificate[]
  readonly files: readonly (() => readonly Certificate[])[]
}

/**
 * @param place the place of the settings, for errors
 * @throws TypeError at start; later, a mistake in changed files is reported and has no other effect
 */
export function watchSigners(
  settings: SignerSettings,
  place: string,
  sources: RevocationSources,
  watching: Watching,
): () => CurrentSigners {
  const { partners = [] } = settings
  const groups = [
    readGroup(settings, undefined, place, watching),
    ...partners.map((each, at) => readGroup(each, each.people, `${place}.partners[${at}]`, watching)),
  ]
  let former: readonly (readonly Certificate[])[] = []
  let found: CurrentSigners | undefined
  return () => {
    const now = groups.flatMap(({ files }) => files.map(read => read()))
    if (found && now.every((each, at) => each === former[at])) return found
    former = now
    try {
      found = combineGroups(groups, settings, place, sources)
    } catch (thrown) {
      if (!found) throw thrown
      watching.failed(thrown)
    }
    return found
  }
}

function readGroup(
  partner: Omit<Partner, 'people'>,
  people: Group['people'],
  place: string,
  watching: Watching,
): Group {
  const { authorities, intermediates, certificates, signerFiles = [] } = partner
  const read = (name: string, list: OneOrMore<CertificateSource> | undefined) =>
    readCertificateList(list, `${place}.${name}`)
  return {
    place,
    people,
    known: read('authorities', authorities),
    intermediates: read('intermediates', intermediates),
    certificates: read('certificates', certificates),
    files: signerFiles.map(file => watchOctets(file, octets => readCertificateList(octets, 'the file'), watching)),
  }
}

function combineGroups(
  groups: readonly Group[],
  settings: SignerSettings,
  place: string,
  sources: RevocationSources,
): CurrentSigners {
  const all = groups.map(group => ({ group, ...splitGroup(group) }))
  requirePeople(all, place)
  const anchors = {
    ...settings,
    authorities: all.flatMap(each => each.authorities),
    intermediates: all.flatMap(each => each.intermediates),
    certificates: all.flatMap(each => each.certificates),
  }
  const trust = new CertificateTrust(anchors, place, sources)
  return { trust, mayName: (signer, person) => allows(peopleOf(all, trust.findAnchor(signer)), person) }
}

type SplitGroup = SplitSigners & { readonly group: Group }

function splitGroup({ known, intermediates, certificates, files }: Group): SplitSigners {
  const split = splitSigners(
    files.flatMap(read => read()),
    known,
  )
  return {
    authorities: [...known, ...split.authorities],
    intermediates: [...intermediates, ...split.intermediates],
    certificates: [...certificates, ...split.certificates],
  }
}

function requirePeople(all: readonly SplitGroup[], place: string): void {
  const authorities = all.flatMap(each => each.authorities)
  const [silent] = all.filter(each => each.group.people === undefined && each.authorities.length > 0)
  if (authorities.length > 1 && silent)
    throw new TypeError(
      `${place} trusts ${authorities.length} authorities, each of which could identify anyone: list the people of each in ${place}.partners (--partner NAMES=FILE)`,
    )
}

/** The people of each group that has this certificate as an authority or pinned. */
function peopleOf(all: readonly SplitGroup[], anchor: Certificate | undefined): readonly Partner['people'][] {
  if (!anchor) return []
  const isAnchor = (each: Certificate) => each.der.equals(anchor.der)
  return all
    .filter(({ authorities, certificates }) => authorities.some(isAnchor) || certificates.some(isAnchor))
    .map(({ group }) => group.people ?? 'all')
}

const allows = (rules: readonly Partner['people'][], person: string): boolean =>
  rules.some(people => people === 'all' || people.includes(person))
