/** A REST service of files, as OpenAPI describes it. */
import { anyone } from '../../src/contract/policy.ts'
import { type RestPort, readRestPort } from '../../src/import/openapi/rest-port.ts'

const octets = { type: 'string', contentMediaType: 'application/octet-stream', format: 'binary' }
const raw = { content: { 'application/octet-stream': { schema: octets } } }
const parameters = [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }]
const form = {
  type: 'object',
  required: ['title', 'one'],
  properties: { title: { type: 'string' }, one: octets, two: octets },
}
const sum = {
  description: 'It.',
  content: { 'application/json': { schema: { type: 'object', properties: { sum: { type: 'integer' } } } } },
}
const description = {
  openapi: '3.0.3',
  info: { title: 'Files', version: '1' },
  paths: {
    '/files/{id}': {
      get: { operationId: 'getFile', parameters, responses: { 200: { description: 'It.', ...raw } } },
      put: { operationId: 'putFile', parameters, requestBody: { required: true, ...raw }, responses: { 200: sum } },
    },
    '/files': {
      post: {
        operationId: 'addFiles',
        requestBody: { content: { 'multipart/form-data': { schema: form } } },
        responses: { 200: sum },
      },
    },
  },
}

export const readFileApi = (): RestPort =>
  readRestPort(JSON.stringify(description), 'files.json', [anyone], {
    find: () => undefined,
    parse: source => ({ value: JSON.parse(source) }),
  })
