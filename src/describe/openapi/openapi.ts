/**
 * OpenAPI of a service, with all its versions in one document (rule A9.1). Addresses and media
 * types are arguments, taken from the tables with which the REST face serves them.
 */

import { type Json, omitUndefined } from '../../base/objects.ts'
import { newestVersion, type Service } from '../../contract/service.ts'
import { viewOfVersion } from '../../contract/version-view.ts'
import { writeJsonText } from '../json-text.ts'
import { feedSchemas } from './openapi-changes.ts'
import {
  errorResponses,
  headerComponents,
  linkSchema,
  parameterComponents,
  problemSchema,
} from './openapi-components.ts'
import { openApiReleases } from './openapi-releases.ts'
import { credentialSchemes, VersionDocument } from './version-document.ts'
import type { OpenApiOptions } from './version-facts.ts'

/** The document of `describeOpenApi` as JSON. */
export function writeOpenApi(service: Service, options: OpenApiOptions): string {
  return writeJsonText(describeOpenApi(service, options))
}

/** The REST face of a contract as an OpenAPI document. */
export function describeOpenApi(service: Service, options: OpenApiOptions): { readonly [name: string]: Json } {
  const release = openApiReleases[options.release ?? '3.1']
  const served = Object.entries(service.versions).filter(([, rule]) => !rule.retired)
  const parts = served.map(([version]) => new VersionDocument(viewOfVersion(service, version), version, options))
  const paths = Object.assign({}, ...parts.map(part => part.paths()), release.paths)
  const components = parts.map(part => part.components())
  return {
    openapi: release.version,
    info: {
      ...omitUndefined({ ...infoOf(service), contact: service.contact, license: service.license }),
      version: newestVersion(service),
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: options.address ?? '/' }],
    tags: release.tags(service),
    paths,
    components: {
      schemas: Object.assign(
        { Problem: problemSchema, Link: linkSchema, ...feedSchemas },
        ...components.map(each => each.schemas),
      ),
      responses: errorResponses,
      parameters: Object.assign({}, parameterComponents, ...components.map(each => each.parameters)),
      headers: headerComponents,
      securitySchemes: credentialSchemes,
    },
  }
}

/** OpenAPI has one text for all versions: a paragraph for each that has a text. */
function infoOf({ title, description, versions }: Service) {
  const own = Object.entries(versions).flatMap(([version, rule]) =>
    rule.description === undefined || rule.retired ? [] : [`${version}: ${rule.description}`],
  )
  const all = [...(description === undefined ? [] : [description]), ...own]
  return { title, description: all.length === 0 ? undefined : all.join('\n\n') }
}
