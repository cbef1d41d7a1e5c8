/** B4: SOAP over HTTP, the processing model, and what travels with a message. */
import type { WsdlOperation } from '../../describe/index.ts'
import type { Bench } from '../bench.ts'
import type { SoapEndpointTarget } from '../discovered-service.ts'
import type { CheckRule } from '../rule.ts'
import {
  findSafeOperations,
  isSafe,
  listProbeOperations,
  type ProbeOperation,
  sendMessage,
  writeOperationBody,
} from '../soap-discovery.ts'
import {
  isAnswer,
  type ReadFaultMessage,
  type ReadMessage,
  readSoapMessage,
  soapFields,
  writeSoapMessage,
} from '../soap-message.ts'
import type { Trial } from '../trial.ts'
import { readBlockText, sendAddressed, sendAddressedFailures } from './addressing-checks.ts'
import { unknownBody } from './envelope-checks.ts'
import { sendChanged, writeBlock } from './message-rules.ts'
import { findPackageFlaw } from './package-checks.ts'

export const bindingRules: readonly CheckRule[] = [
  {
    id: 'B4.1',
    says: 'SOAP over HTTP is POST to a service endpoint; anything else is refused with its proper status',
    how: 'GET, PUT and DELETE without a query at each endpoint are answered 4xx or 501, and none performs anything; HEAD and OPTIONS are not answered as faults of the service',
    probe: async (trial: Trial) => {
      for (const { endpoint, as } of await listProbeOperations(trial.bench)) {
        for (const method of ['GET', ...(trial.bench.options.allowChanges ? ['PUT', 'DELETE'] : [])]) {
          const refused = await trial.send(method, endpoint.path, { as })
          const isProper = (refused.status >= 400 && refused.status < 500) || refused.status === 501
          trial.expect(
            isProper,
            `${method} of an endpoint is refused${isProper ? '' : `, not answered ${refused.status}`}`,
            refused,
          )
          if (refused.status === 405)
            trial.expect(/\bPOST\b/.test(refused.fields['allow'] ?? ''), 'its Allow has POST', refused)
        }
        for (const method of ['HEAD', 'OPTIONS']) {
          const outcome = await trial.send(method, endpoint.path, { as })
          const isProper = outcome.status < 500 || [501, 503].includes(outcome.status)
          trial.expect(isProper, `${method} of an endpoint is answered${isProper ? '' : ` ${outcome.status}`}`, outcome)
        }
      }
    },
  },
  {
    id: 'B4.2',
    says: '1.1: Content-Type text/xml; charset=utf-8; 1.2: application/soap+xml; charset=utf-8',
    how: 'the media type of every response with an Envelope of the run is that of the Envelope’s version; its charset is utf-8; a message whose charset is in quotes and capitals is accepted',
    isPassive: true,
    probe: async (trial: Trial) => {
      for (const { endpoint, as, operation, body } of await listProbeOperations(trial.bench)) {
        const usual = soapFields(endpoint.words, operation.action)
        // RFC 9110 §8.3.1, §8.3.2: the same charset.
        const type = (usual['content-type'] ?? '').replace('=utf-8', '="UTF-8"')
        const fields = { ...usual, 'content-type': type }
        const quoted = await sendMessage(trial.bench, endpoint, { body }, { as, fields })
        trial.expect(isAnswer(quoted), `a message of the type ${type} is accepted`, quoted)
      }
      for (const exchange of trial.bench.exchanges.filter(({ mediaType }) => mediaType !== 'multipart/related')) {
        const message = readSoapMessage(exchange)
        if (!message) continue
        const contentType = exchange.fields['content-type'] ?? ''
        const isRight = exchange.mediaType === message.words.mediaType && /charset="?utf-8"?/i.test(contentType)
        trial.expect(
          isRight,
          `SOAP ${message.words.number} comes as ${message.words.mediaType}; charset=utf-8${isRight ? '' : `, not ${contentType}`}`,
          exchange,
        )
      }
    },
  },
  {
    id: 'B4.3',
    says: '1.1: SOAPAction header, an action URI in quotes; 1.2: the action parameter of Content-Type',
    how: 'a message with the described action is accepted; one with an action that nothing has, and one with that of another safe operation, are refused; one of SOAP 1.2 without an action is accepted, or refused as the fault of its sender',
    probe: async (trial: Trial) => {
      for (const { endpoint, as, operation, body } of await listProbeOperations(trial.bench)) {
        if (operation.action === '') trial.skip(`the binding of ${operation.name} has no action`)
        const right = await sendMessage(trial.bench, endpoint, { body }, { as, action: operation.action })
        trial.expect(isAnswer(right), 'the described action is accepted', right)
        const wrong = await sendMessage(trial.bench, endpoint, { body }, { as, action: 'urn:example:another-action' })
        trial.expect(!isAnswer(wrong), 'an action that disagrees with the Body is refused', wrong)
        if (endpoint.words.number === '1.2') await expectWithoutAction(trial, { endpoint, as, body, answered: right })
        // A service may follow the action, so the action's operation has to be safe as well.
        const other = endpoint.port.operations.find(
          ({ name, action }) => action !== '' && action !== operation.action && isSafe(trial.bench, name),
        )
        if (!other) continue
        const spoofed = await sendMessage(trial.bench, endpoint, { body }, { as, action: other.action })
        trial.expect(!isAnswer(spoofed), 'the action of another operation is refused', spoofed)
      }
    },
  },
  {
    id: 'B4.4',
    says: 'success: 200 with an Envelope holding the response element',
    how: 'the response to a safe operation of each version',
    probe: async (trial: Trial) => {
      for (const { answered } of await listProbeOperations(trial.bench)) {
        trial.expectStatus(answered, [200], 'a successful operation')
        trial.expect(readSoapMessage(answered)?.child !== undefined, 'the Body holds an element', answered)
      }
    },
  },
  {
    id: 'B4.5',
    says: 'failure: 500 with an Envelope whose Body holds a Fault',
    how: 'a message with an element that no operation has, and every fault of the run; a fault of the Sender in SOAP 1.2 may have 400 (Part 2 Table 20); a Fault of SOAP 1.1 has faultcode and faultstring in no namespace, one of SOAP 1.2 stands alone in its Body',
    isPassive: true,
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const refused = await sendMessage(trial.bench, probe.endpoint, { body: unknownBody }, { as: probe.as })
        const fault = readSoapMessage(refused)?.fault
        const statuses = fault?.code === 'Sender' ? [500, 400] : [500]
        trial.expectStatus(refused, statuses, `a fault of SOAP ${probe.endpoint.words.number}`)
        trial.expect(fault !== undefined, 'the Body holds a Fault', refused)
      }
      for (const each of trial.bench.exchanges) {
        const message = readSoapMessage(each)
        // Other statuses are HTTP's own, for a request whose message was not processed.
        const isOdd = message?.fault && [404, 409, 410].includes(each.status)
        const isSender11 = message?.fault && message.words.number === '1.1' && each.status === 400
        if (isOdd || isSender11) trial.expect(false, `a Fault comes with 500, not ${each.status}`, each)
        const flaw = message?.fault && findFaultFlaw(message, message.fault)
        if (flaw !== undefined) trial.expect(false, flaw, each)
      }
    },
  },
  {
    id: 'B4.6',
    says: 'the operation is found in the message (Body child or action), not in method or path',
    how: 'two safe operations at one address have two answers',
    probe: async (trial: Trial) => {
      for (const { endpoint } of await listProbeOperations(trial.bench)) {
        const [one, two] = await findSafeOperations(trial.bench, endpoint)
        if (!one || !two) trial.skip('an endpoint with two operations that change nothing')
        const names = [one, two].map(({ answered }) => readSoapMessage(answered)?.child?.name.local)
        trial.expect(names[0] !== names[1], 'two operations have two response elements', one.answered, two.answered)
      }
    },
  },
  {
    id: 'B4.7',
    says: 'XML that is not an Envelope is not a SOAP message and is refused',
    how: 'POST of the Body’s child alone',
    probe: async (trial: Trial) => {
      for (const { endpoint, as, operation, body } of await listProbeOperations(trial.bench)) {
        const refused = await sendMessage(trial.bench, endpoint, {}, { as, action: operation.action, text: body })
        trial.expect(refused.status >= 400, 'XML without an Envelope is refused', refused)
      }
    },
  },
  {
    id: 'B4.8',
    says: 'processing order: bytes, XML, version, Envelope, headers for this node, mandatory headers, Body, application',
    how: 'of two mistakes in one message, the earlier one is named: an unknown version before an unknown block, an unknown block before an unknown Body',
    probe: async (trial: Trial) => {
      for (const probe of await listProbeOperations(trial.bench)) {
        const unknown = writeBlock('Unknown', ' s:mustUnderstand="1"')
        const second = await sendChanged(trial, probe, unknown, { body: unknownBody })
        const code = readSoapMessage(second)?.fault?.code
        trial.expect(code === 'MustUnderstand', 'mandatory blocks come before the Body', second)
        const first = await sendChanged(trial, probe, unknown, { namespace: 'urn:example:soap-9.9' })
        trial.expect(
          readSoapMessage(first)?.fault?.code !== 'MustUnderstand',
          'the version comes before the blocks',
          first,
        )
      }
    },
  },
  {
    id: 'B4.9',
    says: 'an intermediary processes only the headers meant for its role, and forwards the message',
    how: 'not probed: the check is a sender, and would also have to be the next node',
    probe: (trial: Trial) => trial.lack('an intermediary that forwards to an address of the check'),
  },
  {
    id: 'B4.10',
    says: 'Request-Response and One-Way; further patterns can be added',
    how: 'an operation without output, in each version, is answered 202, 204 or 200 without an Envelope; it is not refused by an error without a Fault',
    probe: async (trial: Trial) => {
      const found = listOneWays(trial.bench)
      const [first] = found
      if (!first) trial.skip('no described operation is one-way')
      trial.bench.requireChanges()
      for (const each of found) await expectOneWay(trial, each)
      if (trial.findings.length > 0) return
      trial.lack(`a caller that may send ${first.operation.name}, or its content in \`messages\` of the profile`)
    },
  },
  {
    id: 'B4.11',
    says: 'a reply is correlated to its request by RelatesTo, also when it goes to a ReplyTo endpoint later',
    how: 'the response to a message with MessageID has RelatesTo with the same value, and so has a Fault',
    probe: async (trial: Trial) => {
      for (const { id, answered } of await sendAddressed(trial)) {
        if (!isAnswer(answered)) trial.skip('the endpoint does not accept WS-Addressing')
        trial.expect(readBlockText(answered, 'RelatesTo') === id, 'RelatesTo is the MessageID of the request', answered)
      }
      for (const { id, answered } of await sendAddressedFailures(trial))
        trial.expect(readBlockText(answered, 'RelatesTo') === id, 'a Fault has RelatesTo as well', answered)
    },
  },
  {
    id: 'B4.12',
    says: 'binary content: base64 in the XML, or MTOM outside it',
    how: 'a message as an MTOM package (XOP 1.0, multipart/related) is accepted where the description offers it; a package of the run that answers says what its root is, and each Include in it names a part',
    isPassive: true,
    probe: async (trial: Trial) => {
      await expectPackages(trial)
      for (const each of trial.bench.exchanges) {
        const flaw = findPackageFlaw(each)
        if (flaw !== undefined) trial.expect(false, flaw, each)
      }
    },
  },
]

/** Throws `NotApplicable` if the description does not offer packages. */
async function expectPackages(trial: Trial): Promise<void> {
  for (const { endpoint, as, operation, body } of await listProbeOperations(trial.bench)) {
    const described = trial.bench.service.soap.find(each => each.document === endpoint.document)
    if (!/OptimizedMimeSerialization|\bMTOM\b/.test(described?.described.text ?? ''))
      trial.skip('the description does not offer MTOM')
    const { mediaType, number } = endpoint.words
    const fields = {
      ...(number === '1.1' && soapFields(endpoint.words, operation.action)),
      'content-type': `multipart/related; type="application/xop+xml"; start="<root@probe>"; start-info="${mediaType}"; boundary="probe-boundary"`,
    }
    const root = `Content-Type: application/xop+xml; charset=utf-8; type="${mediaType}"\r\nContent-Transfer-Encoding: 8bit\r\nContent-ID: <root@probe>`
    const text = `--probe-boundary\r\n${root}\r\n\r\n${writeSoapMessage(endpoint.words, { body })}\r\n--probe-boundary--\r\n`
    const answered = await sendMessage(trial.bench, endpoint, {}, { as, text, fields })
    trial.expect(isAnswer(answered), 'an MTOM package is accepted', answered)
  }
}

/** SOAP 1.1 §4.4; SOAP 1.2 Part 1 §5.4. */
function findFaultFlaw({ words, body }: ReadMessage, { element }: ReadFaultMessage): string | undefined {
  if (words.number === '1.2')
    return body.elements().length > 1 ? 'a Fault of SOAP 1.2 stands alone in its Body' : undefined
  const names = element.elements().map(({ name }) => `${name.uri}${name.local}`)
  const missing = ['faultcode', 'faultstring'].find(each => !names.includes(each))
  return missing && `a Fault of SOAP 1.1 has ${missing} in no namespace`
}

interface OneWay {
  readonly endpoint: SoapEndpointTarget
  readonly operation: WsdlOperation
}

/** One for each version of SOAP. */
function listOneWays({ service }: Bench): readonly OneWay[] {
  const all = service.soap.flatMap(({ endpoints }) =>
    endpoints.flatMap(endpoint => {
      const operation = endpoint.port.operations.find(
        ({ input, output, style }) => !output && input && style === 'document',
      )
      return operation ? [{ endpoint, operation }] : []
    }),
  )
  return [...Map.groupBy(all, ({ endpoint }) => endpoint.words).values()].flatMap(each => each.slice(0, 1))
}

/** WS-I Basic Profile 1.1 R1112: 200 or 202; SOAP 1.2 Part 2 §7.5.1: 202. */
async function expectOneWay(trial: Trial, { endpoint, operation }: OneWay): Promise<void> {
  const { bench } = trial
  const body = writeOperationBody(bench, endpoint, operation)
  for (const as of [undefined, ...bench.callers]) {
    const sent = await sendMessage(bench, endpoint, { body }, { as, action: operation.action })
    const isBroken = sent.status >= 500 && sent.status !== 503 && !readSoapMessage(sent)
    if (isBroken) trial.expect(false, `a one-way message is not answered ${sent.status} without a Fault`, sent)
    if (!sent.isSuccess) continue
    trial.expectStatus(sent, [202, 204, 200], 'a one-way message')
    trial.expect(sent.reply.content.length === 0, 'its response has no content', sent)
    return
  }
}

/**
 * A receiver may demand the parameter (WSDL 1.1 for SOAP 1.2, soapActionRequired), but must not
 * break.
 */
async function expectWithoutAction(
  trial: Trial,
  { endpoint, as, body, answered }: Pick<ProbeOperation, 'endpoint' | 'as' | 'body' | 'answered'>,
): Promise<void> {
  const sent = await sendMessage(trial.bench, endpoint, { body }, { as })
  const [given, known] = [sent, answered].map(readSoapMessage)
  const isSame = isAnswer(sent) && given?.child?.name === known?.child?.name
  const isRefused = sent.status >= 400 && (sent.status < 500 || given?.fault?.code === endpoint.words.sender)
  trial.expect(isSame || isRefused, 'a message without an action is accepted, or at fault', sent)
}
