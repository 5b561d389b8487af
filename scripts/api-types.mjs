// Turns the OpenAPI document into the API types of the console and of the clients.
//   npm run api-types     writes console/src/api/openapi.ts and the generated parts of clients/
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { writeClientTypes } from './client-types.ts'
import { describeApi } from './openapi-document.ts'

export const API_TYPES_FILE = fileURLToPath(new URL('../console/src/api/openapi.ts', import.meta.url))

const HEADER = `// Generated from /openapi.json by \`npm run api-types\`. Do not edit.
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

`

/** Schemas that stand for any JSON, by their description, and the type that the console uses for them. */
const JSON_TYPES = new Map([
  ['Any JSON value.', 'Json'],
  ['Any JSON object.', 'JsonObject'],
])

/**
 * The console's API types as source text. Only schemas: the console names paths itself.
 * @param {object} document
 */
export async function generateApiTypes(document) {
  const nodes = await openapiTS(JSON.stringify({ ...document, paths: {} }), {
    alphabetize: true,
    silent: true,
    transform: ({ description }) => {
      const name = JSON_TYPES.get(description ?? '')
      return name === undefined ? undefined : ts.factory.createTypeReferenceNode(name)
    },
  })
  return HEADER + astToString(nodes)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const document = describeApi()
  writeFileSync(API_TYPES_FILE, await generateApiTypes(document))
  writeClientTypes(document)
}
