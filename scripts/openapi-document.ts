// Prints the OpenAPI document without starting the service.
import { createApiDocument, listPublicRoutes } from '../src/planes/api-document.ts'

const neverStarted = new Promise<never>(() => {})
process.stdout.write(
  JSON.stringify(
    createApiDocument(
      listPublicRoutes(neverStarted, () => false),
      null,
    ),
  ),
)
