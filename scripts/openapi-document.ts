// The OpenAPI document, without starting the service.
import type { OpenApiDocument } from '../src/platform/http/openapi.ts'
import { createApiDocument, listPublicRoutes } from '../src/server/planes/api-document.ts'

export function describeApi(): OpenApiDocument {
  const neverStarted = new Promise<never>(() => {})
  return createApiDocument(
    listPublicRoutes(neverStarted, () => 'running'),
    null,
  )
}
