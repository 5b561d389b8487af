import { renderDocsPage } from '../../platform/http/docs-page.ts'
import type { OpenApiDocument } from '../../platform/http/openapi.ts'
import { HttpResponse, openRoute, type Route } from '../../platform/http/route.ts'

/** The OpenAPI document and its page. The document is created at the first request, because most starts never need it. */
export function referenceRoutes(create: () => OpenApiDocument): Route<null>[] {
  let document: OpenApiDocument | undefined
  const reference = () => (document ??= create())
  return [
    openRoute('GET', '/openapi.json', {
      summary: 'This API as OpenAPI 3.1',
      responses: { 200: 'application/json' },
      handle: async () => reference(),
    }),
    openRoute('GET', '/docs', {
      summary: 'API reference as a web page',
      responses: { 200: 'text/html' },
      handle: async () => new HttpResponse(200, Buffer.from(renderDocsPage(reference())), DOCS_HEADERS),
    }),
  ]
}

const DOCS_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
}
