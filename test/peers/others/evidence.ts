/** How each failure of the table shows without the checker: what curl sends, and what it prints. */
import type { StackName } from './verdicts.ts'

export interface Evidence {
  /** Words of curl behind `-s -i`, without the address. */
  readonly words: readonly string[]
  /** Default: that of the endpoint, or of a note. */
  readonly path?: string
  /** A request as octets, for what curl does not send by itself; it goes by `telnet:`. */
  readonly octets?: string
  readonly shows: RegExp
}

/** What is printed lacks this. */
const without = (what: string, status = ''): RegExp => new RegExp(`^(?![\\s\\S]*${what})HTTP/1\\.[01] ${status}`, 'i')
const status = (code: number): RegExp => new RegExp(`^HTTP/1\\.[01] ${code}\\b`)
const json = ['-H', 'Content-Type: application/json']
const get: Pick<Evidence, 'words'> = { words: [] }
const post = (content: string, shows: RegExp, type = json): Evidence => ({
  words: [...type, '-d', content],
  path: '/notes',
  shows,
})
const put = (field: string, shows: RegExp): Evidence => ({
  words: ['-X', 'PUT', ...json, '-H', field, '-d', '{"title":"Second","done":true}'],
  path: '/notes/2',
  shows,
})
const patch = (type: string, content: string, shows: RegExp): Evidence => ({
  words: ['-X', 'PATCH', '-H', `Content-Type: ${type}`, '-d', content],
  shows,
})
const plainText = ['-H', 'Content-Type: application/x-no-such-type']

const ofRest: Readonly<Record<string, Evidence>> = {
  'A1.3': { ...get, shows: without('\\n(cache-control|expires):', '200') },
  'A2.5': {
    words: ['-H', 'Accept: application/problem+json'],
    path: '/notes/987654321',
    shows: without('application/problem', '40[46]'),
  },
  'A4.2': post('{"title":"Third"}', without('\\nlocation:', '201')),
  'A4.3': { ...get, shows: without('\\netag:', '200') },
  'A4.5': patch('application/merge-patch+json', '{"title":"First"}', status(415)),
  'A4.17': { words: ['-H', 'Accept: application/x-no-such-type'], shows: status(200) },
  'A4.20': put('If-Match: "no-such-version"', status(200)),
  'A7.2': post('{"title":"Third"}', without('\\nlocation:', '201')),
  'A7.7': {
    words: [],
    octets: 'GET /notes HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\nConnection: close\r\n\r\n',
    shows: status(200),
  },
  'A7.12': put('If-None-Match: *', /^HTTP\/1\.1 20[04]/),
  'A7.13': post('{"title":{"unexpected":true}}', status(400)),
}

type Envelope = Readonly<{ header?: string; body?: string; late?: string; namespace?: string; text?: string }>

const getNote = '<GetNote xmlns="urn:example:notes"><id>1</id></GetNote>'
const unknownOperation = '<x:NoSuchOperation xmlns:x="urn:example:else"/>'
const mandatory = '<x:Unknown xmlns:x="urn:example:else" s:mustUnderstand="1"/>'
const messageId =
  '<a:MessageID xmlns:a="http://www.w3.org/2005/08/addressing" s:mustUnderstand="1">urn:example:1</a:MessageID>'
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd'
const security = `<w:Security xmlns:w="${wsse}" s:mustUnderstand="1"><w:UsernameToken><w:Username>nobody</w:Username></w:UsernameToken></w:Security>`
const answered = /<[^>]*GetNoteResponse/

/** A message by POST, spelled here and not by the checker. */
function message(version: string, shows: RegExp, envelope: Envelope, action = '"urn:example:notes/GetNote"'): Evidence {
  const { header, body = getNote, late = '' } = envelope
  const own =
    version === '1.2' ? 'http://www.w3.org/2003/05/soap-envelope' : 'http://schemas.xmlsoap.org/soap/envelope/'
  const head = header === undefined ? '' : `<s:Header>${header}</s:Header>`
  const whole = `<s:Envelope xmlns:s="${envelope.namespace ?? own}">${head}<s:Body>${body}</s:Body>${late}</s:Envelope>`
  const type =
    version === '1.2'
      ? ['-H', `Content-Type: application/soap+xml; charset=utf-8${action === '""' ? '' : `; action=${action}`}`]
      : ['-H', 'Content-Type: text/xml; charset=utf-8', '-H', `SOAPAction: ${action}`]
  return { words: [...type, '-d', envelope.text ?? whole], shows }
}

function ofSoap(version: string): Readonly<Record<string, Evidence>> {
  const own =
    version === '1.2' ? 'http://www.w3.org/2003/05/soap-envelope' : 'http://schemas.xmlsoap.org/soap/envelope/'
  const cut = { text: `<s:Envelope xmlns:s="${own}"><s:Body>` }
  return {
    'B2.2': message(version, answered, { late: '<s:Header/>' }),
    'B2.4': message(version, answered, { header: mandatory }),
    'B2.9': message(version, without('xml:lang', '500'), { header: mandatory }),
    'B2.10': message(version, /Value>rpc:ProcedureNotPresent</, { body: unknownOperation }),
    'B2.11': message(version, without('<[^>]*Action[ >]', '200'), { header: messageId }),
    'B4.1': { ...get, shows: status(200) },
    'B4.2': { words: ['-X', 'PUT'], shows: /content-type: .*charset=iso-8859-1/i },
    'B4.3': message(version, answered, {}, '"urn:example:another-action"'),
    'B4.5': message(version, without('Fault>'), { body: unknownOperation }, '""'),
    'B4.7': message(version, answered, { text: getNote }),
    'B4.8': message(version, without('MustUnderstand', '[45]'), { header: mandatory, body: unknownOperation }),
    'B4.11': message(version, without('RelatesTo', '200'), { header: messageId }),
    'B5.1': message(version, answered, { header: security }),
    'B7.1': { words: [...plainText, '-d', 'probe'], shows: status(500) },
    'B7.2': message(version, without('VersionMismatch'), { namespace: 'urn:example:soap-9.9' }),
    'B7.3': message(version, /faultcode>[^<]*Server</, { body: unknownOperation }),
    'B7.4': message(version, without('<detail', '500'), { body: getNote.replace('>1<', '>none<') }),
    'B7.5': message(version, /<soap:NoteNotFound/, { body: getNote.replace('>1<', '>none<') }),
    '(cut)': message(version, /(?:Server|Receiver)</, cut),
    '(lang of a cut one)': message(version, without('xml:lang', '500'), cut),
  }
}

const notAllowed: Evidence = { words: ['-X', 'PUT'], shows: without('\\nallow:[^\\n]*post', '405') }

/** Its WSDL has `<xs:complexType name="NoteNotFound"/>`. */
const foundDetail = (version: string): Evidence =>
  message(version, /NoteNotFound[^>]*><[^>]*id>/, { body: getNote.replace('>1<', '>none<') })
const forReceiver =
  '<x:Unknown xmlns:x="urn:example:else" s:mustUnderstand="1" s:role="http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"/>'

/** Nothing is printed: curl ends with 52. */
const unanswered: Evidence = { words: [...plainText, '-d', 'probe'], shows: /^$/ }

/** Where a stack fails in its own way. */
const ofStack: Partial<Record<string, Readonly<Record<string, Evidence>>>> = {
  Express: {
    'A4.9': { words: ['-X', 'TRACE'], shows: status(404) },
    'A7.15': post('{"', /^HTTP\/1\.1 400[\s\S]*at parse \(/),
  },
  Fastify: { 'A4.9': { words: ['-X', 'OPTIONS'], shows: status(404) } },
  FastAPI: {
    'A4.8': { words: ['-I'], shows: status(405) },
    'A4.9': { words: ['-X', 'OPTIONS'], shows: without('\\nallow:[^\\n]*put', '405') },
    'A7.7': post('{"', status(422)),
  },
  'Django REST framework': {
    'A4.8': {
      words: [],
      octets: `HEAD /notes HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${btoa('alice:alice-secret')}\r\nConnection: close\r\n\r\n`,
      shows: /\r?\n\r?\n\{"count"/,
    },
  },
  'Spring Data REST': {
    'A4.2': post('{"title":"Third"}', /^HTTP\/1\.1 201[\s\S]*\r?\n\r?\n$/, [...json, '-H', 'Accept:']),
    'A4.8': { words: ['-I'], shows: status(204) },
    'A4.17': post('probe', status(400), plainText),
    'A7.15': { words: ['-X', 'BREW'], shows: status(404) },
    'A7.17': patch('application/json-patch+json', '[{"op":"test","path":"/title","value":"none"}]', status(400)),
    'A7.18': { words: [], path: '/notes/__proto__', shows: status(500) },
  },
  'json-server': {
    'A2.1': post('{}', /^HTTP\/1\.1 201[\s\S]*\{\s*"id": *"?\w+"?\s*\}/),
    'A4.9': { words: ['-X', 'OPTIONS'], shows: without('\\nallow:', '204') },
    'A7.7': post('{"', status(500)),
    'A7.13': post('{"title":{"unexpected":true}}', status(201)),
    'A7.15': post('{"', /\n {4}at parse \(/),
    'A7.18': { words: [], path: '/notes/%E0%80', shows: status(500) },
  },
  'npm soap 1.1': {
    'B4.3': message('1.1', /GetNoteResponse[\s\S]*Second/, {}, '"urn:example:notes/ListNotes"'),
    'A7.15': message('1.1', /index\.js:\d+:\d+/, { body: unknownOperation }, '""'),
    'B2.10': message('1.1', /<soap:Code>|faultcode>500</, { text: '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"></s:Envelope>' }), // biome-ignore format: one row
  },
  'npm soap 1.2': {
    'B2.9': ofSoap('1.2')['(lang of a cut one)'] ?? notAllowed,
    'B2.10': message('1.2', /Value>SOAP-ENV:Server</, { body: unknownOperation }, '""'),
  },
  'Spyne 1.1': { 'B4.1': notAllowed, 'B7.5': foundDetail('1.1') },
  'Spyne 1.2': { 'B4.1': notAllowed, 'B7.5': foundDetail('1.2') },
  'JAX-WS RI 1.1': { 'B7.2': ofSoap('1.1')['(cut)'] ?? notAllowed },
  'JAX-WS RI 1.2': { 'B7.2': ofSoap('1.2')['(cut)'] ?? notAllowed },
  'Apache CXF 1.1': {
    'B4.1': { ...get, shows: status(500) },
    'B7.2': message('1.1', /faultcode>soap:Server</, {
      text: '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"/>',
    }),
  },
  'Apache CXF 1.2': {
    'B4.1': { ...get, shows: status(500) },
    'B7.2': message('1.2', /Code><soap:Value>soap:Receiver</, { namespace: 'urn:example:soap-9.9' }),
  },
  'gSOAP 1.1': { 'B4.1': notAllowed, 'B7.1': unanswered },
  'gSOAP 1.2': {
    'B2.4': message('1.2', answered, { header: forReceiver }),
    'B4.1': notAllowed,
    'B7.1': unanswered,
  },
  'Spring-WS 1.1': { 'A7.15': { words: ['-X', 'BREW'], path: '/', shows: status(404) }, 'B4.1': notAllowed },
}

/** Throws where the table has a failure without evidence. */
export function evidenceOf(stack: StackName, id: string): Evidence {
  const version = /1\.[12]$/.exec(stack)?.[0]
  const found = ofStack[stack]?.[id] ?? (version === undefined ? ofRest : ofSoap(version))[id]
  if (!found) throw new Error(`${stack} has no evidence for ${id}: add it to others/evidence.ts`)
  return found
}

/** What curl is called with. */
export function curlWords(
  { words, path, octets }: Evidence,
  origin: string,
  endpoint: string,
  credentials?: string,
): readonly string[] {
  if (octets !== undefined) return ['-s', '--max-time', '5', origin.replace('http:', 'telnet:')]
  const caller = credentials === undefined ? [] : ['-u', credentials]
  return ['-s', '-i', '--max-time', '10', ...caller, ...words, origin + (path ?? endpoint)]
}
