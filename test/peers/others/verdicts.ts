/**
 * What the checker says of services that others wrote: what passes, and what fails, with the reason.
 * `check-others.peer.ts` holds it against the services; docs/check-others.md is made of it.
 */

type Rest = 'Express' | 'Fastify' | 'FastAPI' | 'Django REST framework' | 'Spring Data REST' | 'json-server'
type Soap = 'npm soap' | 'Spyne' | 'PHP SoapServer' | 'JAX-WS RI' | 'Apache CXF' | 'gSOAP'
export type StackName = Rest | `${Soap} ${'1.1' | '1.2'}` | 'Spring-WS 1.1'

export interface StackVerdicts {
  /** Identifiers of rules. */
  readonly pass: string
  /** By rule: why it fails. */
  readonly fail: Readonly<Record<string, string>>
}

const noCaching = { 'A1.3': 'no response has Cache-Control or Expires: caches guess' }
const noProblem = { 'A2.5': 'errors have a form of their own, whatever Accept asks for' }
const noTag = { 'A4.3': 'items have no entity tag' }
const anyAccept = { 'A4.17': 'Accept is not looked at, nor, but for Fastify, is the type of content' }
const noPrecondition = {
  'A4.20': 'If-Match is not looked at: a lost update is possible',
  'A7.12': 'If-None-Match is not looked at',
}
const twoHosts = { 'A7.7': 'Node accepts a request with two Host fields, against RFC 9112 §3.2' }
const badRequest = { 'A7.13': 'content of the wrong type is answered 400, as malformed content is' }
const noLocation = {
  'A4.2': 'a 201 has no Location: it needs a member `url`, which the serializer does not have',
  'A7.2': 'a 201 has no Location',
}

const lateHeader = { 'B2.2': 'a Header after the Body is accepted' }
const noMandatory = {
  'B2.4': 'mandatory blocks are not looked at: what the sender demands is passed over in silence',
  'B2.11': 'a mandatory MessageID is accepted, and the response has no Action',
  'B4.8': 'the Body is looked at alone',
  'B4.11': 'a mandatory MessageID is accepted, and the response has no RelatesTo',
  'B5.1': 'a mandatory Security block with a token that proves nothing is accepted',
}
const anyAction = { 'B4.3': 'the action is not compared with the Body' }
const bodyFirst = { 'B4.8': 'the operation is looked for before mandatory blocks are' }
const emptySuccess = { 'B4.1': 'GET, PUT and DELETE of the endpoint are answered 200 without content' }
const noAllow = { 'B4.1': 'a 405 has no Allow, against RFC 9110 §15.5.6' }
const anyType = { 'B7.1': 'content of a foreign media type is read, and answered 500' }
const noLanguage = 'the Text of Reason has no xml:lang, which Part 1 §5.4.2.1 demands'
const encodingIgnored = 'an unknown encodingStyle is not looked at'

const jaxws: Readonly<Record<string, string>> = {
  ...lateHeader,
  'B4.1': 'GET is answered with a page about the endpoint; PUT and DELETE are answered 500',
  ...anyAction,
}
const cxf: Readonly<Record<string, string>> = {
  ...lateHeader,
  'B4.1': 'GET is answered 500; the 405 of PUT and DELETE has no Allow',
  'B4.2': 'the fault that answers PUT says charset=iso-8859-1',
  ...bodyFirst,
  ...anyType,
}
const gsoap: Readonly<Record<string, string>> = {
  ...lateHeader,
  ...noAllow,
  ...anyAction,
  'B7.1': 'content of a foreign media type closes the connection without a response',
}
const spyne: Readonly<Record<string, string>> = {
  ...lateHeader,
  ...noMandatory,
  ...noAllow,
  ...anyAction,
  ...anyType,
  'B7.5': 'the type of a fault is empty in the schema, whatever its detail has',
}
const npmSoap: Readonly<Record<string, string>> = {
  ...lateHeader,
  ...noMandatory,
  ...emptySuccess,
  'B4.7': 'XML without an Envelope is taken for a message',
  ...anyType,
}

export const verdicts: Readonly<Record<StackName, StackVerdicts>> = {
  Express: {
    pass: 'A1.2 A1.7 A1.8 A1.10 A2.1 A4.1 A4.2 A4.3 A4.4 A4.6 A4.8 A4.18 A4.19 A4.21 A7.1 A7.2 A7.4 A7.6 A7.10 A7.18',
    fail: {
      ...noCaching,
      ...noProblem,
      'A4.9': 'a method that a route does not have is answered 404; Allow comes with OPTIONS alone',
      ...anyAccept,
      ...noPrecondition,
      ...twoHosts,
      ...badRequest,
      'A7.15': 'a refusal of content that is not JSON shows a stack trace, unless NODE_ENV is production',
    },
  },
  Fastify: {
    pass: 'A1.2 A1.6 A1.7 A1.8 A1.9 A1.10 A2.1 A4.1 A4.2 A4.4 A4.6 A4.8 A4.18 A4.21 A7.1 A7.2 A7.4 A7.10 A7.15 A7.18 A8.3',
    fail: {
      ...noCaching,
      ...noProblem,
      ...noTag,
      'A4.9': 'OPTIONS is answered 404: a route answers its own method alone',
      ...anyAccept,
      ...noPrecondition,
      ...twoHosts,
      ...badRequest,
    },
  },
  FastAPI: {
    pass: 'A1.2 A1.6 A1.7 A1.8 A1.9 A1.10 A2.1 A4.1 A4.2 A4.4 A4.6 A4.18 A4.21 A7.1 A7.2 A7.4 A7.10 A7.13 A7.15 A7.18',
    fail: {
      ...noCaching,
      ...noProblem,
      ...noTag,
      'A4.8': 'HEAD is answered 405: a route answers its own method alone',
      'A4.9': 'so is OPTIONS, and Allow of a 405 has the methods of one route, not of the target',
      ...anyAccept,
      ...noPrecondition,
      'A7.7':
        'content that is not JSON is answered 422, which RFC 9110 §15.5.21 keeps for content whose syntax is correct',
    },
  },
  'Django REST framework': {
    pass: 'A1.2 A1.6 A1.7 A1.8 A1.9 A1.10 A2.1 A4.1 A4.4 A4.6 A4.9 A4.17 A4.18 A4.19 A4.25 A5.1 A5.2 A5.3 A7.1 A7.4 A7.7 A7.8 A7.9 A7.10 A7.15 A7.18',
    fail: {
      ...noCaching,
      ...noProblem,
      ...noLocation,
      ...noTag,
      'A4.5': 'PATCH takes application/json, and neither format of patches; OPTIONS has no Accept-Patch',
      'A4.8': 'Waitress sends the content of GET with the response to HEAD, against RFC 9110 §9.3.2',
      ...noPrecondition,
      ...badRequest,
    },
  },
  'Spring Data REST': {
    pass: 'A1.2 A1.4 A1.7 A1.8 A1.9 A1.10 A2.1 A2.2 A2.3 A4.1 A4.4 A4.5 A4.6 A4.9 A4.18 A4.20 A4.21 A7.1 A7.2 A7.4 A7.7 A7.10',
    fail: {
      ...noCaching,
      ...noProblem,
      'A4.2': 'a 201 has Location, and no content unless Accept asks for one',
      ...noTag,
      'A4.8': 'HEAD is answered 204, GET 200',
      'A4.17': 'content of an unknown type is answered 400',
      'A7.12': 'If-None-Match is not looked at in PUT',
      ...badRequest,
      'A7.15': 'an unknown method is answered 404',
      'A7.17': 'a JSON Patch that is not one and a test that does not hold are both answered 400',
      'A7.18': 'an identifier that is not a number is answered 500',
    },
  },
  'json-server': {
    pass: 'A1.2 A1.3 A1.6 A1.7 A1.8 A1.9 A1.10 A4.1 A4.2 A4.3 A4.4 A4.6 A4.8 A4.18 A4.19 A4.21 A7.1 A7.2 A7.4 A7.6 A7.10',
    fail: {
      'A2.1': 'an item that was made of content without a required member has none, against the description',
      ...noProblem,
      'A4.9': 'the middleware of CORS answers OPTIONS, without Allow',
      'A4.17': 'Accept is not looked at, and content that is not JSON makes an item without members',
      ...noPrecondition,
      'A7.7': `content that is not JSON is answered 500; ${twoHosts['A7.7']}`,
      'A7.13': 'there is no schema: content of any type is stored',
      'A7.15': 'errors show a stack trace, unless NODE_ENV is production',
      'A7.18': 'an identifier that is no UTF-8 is answered 500',
    },
  },
  'npm soap 1.1': {
    pass: 'B2.1 B2.3 B2.7 B2.8 B2.12 B4.2 B4.4 B4.6 B5.5 B7.4 B7.5 B9.1',
    fail: {
      ...npmSoap,
      'B4.3': 'the action of another operation is obeyed, and its answer is written under the name of the Body',
      'A7.15': 'an unknown operation is answered with a stack trace',
      'B2.10': 'its own faults have the form of SOAP 1.2, or the code 500',
      'B4.5': 'an unknown operation has no Fault',
      'B7.2': 'the namespace of the Envelope is not looked at, and XML that ends early is not the sender’s fault',
    },
  },
  'npm soap 1.2': {
    pass: 'A7.15 B2.1 B2.3 B2.7 B2.8 B2.12 B4.2 B4.4 B4.5 B4.6 B5.5 B7.4 B9.1',
    fail: {
      ...npmSoap,
      'B2.9': `its own faults have the form of SOAP 1.1, or ${noLanguage}`,
      'B2.10': 'a code has the prefix SOAP-ENV, which is not declared',
      ...anyAction,
      'B7.2': `the namespace of the Envelope is not looked at; ${encodingIgnored}`,
      'B7.5': 'the element of Detail is in the namespace of SOAP',
    },
  },
  'Spyne 1.1': {
    pass: 'A7.15 B2.1 B2.3 B2.7 B2.8 B2.10 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B5.5 B7.3 B7.4 B8.1 B9.1',
    fail: { ...spyne, 'B7.2': 'an unknown version is a fault of the Client, without VersionMismatch' },
  },
  'Spyne 1.2': {
    pass: 'A7.15 B2.1 B2.3 B2.7 B2.8 B2.9 B2.10 B2.12 B4.2 B4.4 B4.6 B4.7 B5.5 B7.4 B8.1 B9.1',
    fail: {
      ...spyne,
      'B4.5': 'an unknown operation ends in an error of the program, without a Fault',
      'B7.2': 'an unknown version is a fault of the Sender; an unknown encodingStyle ends in an error of the program',
    },
  },
  'PHP SoapServer 1.1': {
    pass: 'A7.15 B2.1 B2.3 B2.4 B2.7 B2.8 B2.10 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B5.5 B7.2 B7.4 B7.5 B9.1',
    fail: {
      ...lateHeader,
      ...emptySuccess,
      ...anyAction,
      ...bodyFirst,
      ...anyType,
      'B7.3': 'an unknown operation is a fault of the Server',
    },
  },
  'PHP SoapServer 1.2': {
    pass: 'A7.15 B2.1 B2.2 B2.3 B2.4 B2.7 B2.8 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B5.5 B7.2 B7.4 B7.5 B9.1',
    fail: {
      'B2.9': noLanguage,
      'B2.10':
        'rpc:ProcedureNotPresent stands as Code, where Part 2 §4.4 has it as Subcode; a named fault has its code in the namespace of the contract',
      ...emptySuccess,
      ...anyAction,
      ...bodyFirst,
      ...anyType,
    },
  },
  'JAX-WS RI 1.1': {
    pass: 'A7.15 B2.1 B2.3 B2.4 B2.7 B2.8 B2.10 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B4.8 B5.5 B7.1 B7.3 B7.4 B7.5 B9.1',
    fail: { ...jaxws, 'B7.2': 'XML that ends early is a fault of the Server' },
  },
  'JAX-WS RI 1.2': {
    pass: 'A7.15 B2.1 B2.3 B2.4 B2.7 B2.8 B2.9 B2.10 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B4.8 B5.5 B7.1 B7.3 B7.4 B7.5 B9.1',
    fail: { ...jaxws, 'B7.2': `XML that ends early is a fault of the Receiver; ${encodingIgnored}` },
  },
  'Apache CXF 1.1': {
    pass: 'A7.15 B2.1 B2.3 B2.4 B2.7 B2.8 B2.10 B2.12 B4.3 B4.4 B4.5 B4.6 B4.7 B5.5 B7.3 B7.4 B7.5 B9.1',
    fail: { ...cxf, 'B7.2': 'an Envelope without Body is a fault of the Server' },
  },
  'Apache CXF 1.2': {
    pass: 'A7.15 B2.1 B2.3 B2.4 B2.7 B2.8 B2.9 B2.10 B2.12 B4.3 B4.4 B4.5 B4.6 B4.7 B5.5 B7.3 B7.4 B7.5 B9.1',
    fail: { ...cxf, 'B7.2': `VersionMismatch stands as Subcode of Receiver; ${encodingIgnored}` },
  },
  'gSOAP 1.1': {
    pass: 'A7.15 B2.1 B2.3 B2.4 B2.7 B2.8 B2.10 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B4.8 B5.5 B7.3 B7.4 B7.5 B9.1',
    fail: { ...gsoap, 'B7.2': 'an unknown version is a fault of the Client, without VersionMismatch' },
  },
  'gSOAP 1.2': {
    pass: 'A7.15 B2.1 B2.3 B2.7 B2.8 B2.9 B2.10 B2.12 B4.2 B4.4 B4.5 B4.6 B4.7 B4.8 B5.5 B7.3 B7.4 B7.5 B9.1',
    fail: {
      ...gsoap,
      'B2.4': 'a mandatory block for the role ultimateReceiver is passed over',
      'B7.2': `an unknown version is a fault of the Sender; ${encodingIgnored}`,
    },
  },
  'Spring-WS 1.1': {
    pass: 'B2.1 B2.3 B2.4 B2.7 B2.8 B2.10 B2.12 B4.2 B4.4 B4.6 B4.7 B7.3 B9.1',
    fail: {
      'A7.15': 'Spring answers an unknown method of the entry 404',
      ...lateHeader,
      ...noAllow,
      ...anyAction,
      'B4.5': 'an unknown operation is answered 404 without a Fault',
      ...bodyFirst,
      ...anyType,
      'B7.2': 'an unknown version is answered 500, and XML that ends early 400, both without a Fault',
      'B7.4': 'an exception with @SoapFault has no Detail',
    },
  },
}
