// Turns the OpenAPI document into the types of the official clients, in the folder clients/.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Json } from '../src/platform/base/json.ts'
import { toPythonDeclarations } from '../src/programs/cli/wedge/python-types.ts'
import { toSchemaShape } from '../src/programs/cli/wedge/schema-shape.ts'
import { toTypeScript } from '../src/programs/cli/wedge/typescript-types.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from '../src/platform/http/openapi.ts'
import type { NamedSchemas, OpenApiSchema } from '../src/platform/http/openapi-schemas.ts'

const clientFile = (path: string) => fileURLToPath(new URL(`../clients/${path}`, import.meta.url))

export const TYPESCRIPT_CLIENT_TYPES_FILE = clientFile('typescript/src/openapi.ts')
export const PYTHON_CLIENT_FILE = clientFile('python/agent_work_service_client.py')

const GENERATED = 'Generated from /openapi.json by `npm run api-types`. Do not edit'
const PYTHON_PART = /(?<=# --- Generated from .* ---\n)[^]*(?=# --- End of the generated part\. ---\n)/

/** The schemas that Python has types for, with all that they refer to. */
const PYTHON_ROOTS = ['Approval', 'CreateTaskRequest', 'Event', 'Task']

export function writeClientTypes(document: OpenApiDocument): void {
  writeFileSync(TYPESCRIPT_CLIENT_TYPES_FILE, generateTypeScriptClientTypes(document))
  const python = readFileSync(PYTHON_CLIENT_FILE, 'utf8')
  writeFileSync(PYTHON_CLIENT_FILE, replacePythonClientTypes(python, document))
}

/** Every schema that an operation refers to, and for each operation its route, parameters and result. */
export function generateTypeScriptClientTypes(document: OpenApiDocument): string {
  const operations = clientOperations(document)
  const roots = [...referencedNames(operations.map(({ operation }) => operation)), ...PYTHON_ROOTS]
  const types = collectSchemas(document.components.schemas, roots).map(
    ([name, schema]) => `export type ${name} = ${toTypeScript(shapeOf(schema))}`,
  )
  const routes = operations.map(({ id, route }) => `  ${id}: '${route}',`)
  const signatures = operations.map(
    ({ id, operation }) => `  ${id}: { params: ${paramsType(operation)}; result: ${resultType(operation)} }`,
  )
  return [
    `// ${GENERATED}.`,
    ...types,
    `export const OPERATIONS = {\n${routes.join('\n')}\n} as const`,
    `export interface Operations {\n${signatures.join('\n')}\n}\n`,
  ].join('\n\n')
}

/** The text of the Python client with new types and routes between its two markers. */
export function replacePythonClientTypes(client: string, document: OpenApiDocument): string {
  const schemas = collectSchemas(document.components.schemas, PYTHON_ROOTS)
  const usedNames = new Set(schemas.map(([name]) => name))
  const types = schemas.flatMap(([name, schema]) => toPythonDeclarations(name, shapeOf(schema), usedNames))
  const routes = clientOperations(document).map(({ id, route }) => `    "${id}": "${route}",`)
  const table = `OPERATIONS = {\n${routes.join('\n')}\n}`
  return client.replace(PYTHON_PART, () => `\n\n${[...types, table].join('\n\n\n')}\n\n\n`)
}

interface ClientOperation {
  id: string
  route: string
  operation: OpenApiOperation
}

/** The operations of a founder's program whose bodies are JSON. Streams and files have methods of their own. */
function clientOperations({ paths }: OpenApiDocument): ClientOperation[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
  return operations
    .filter(({ route, operation }) => isForFounders(operation) && isJsonOnly(operation) && !route.endsWith(' /mcp'))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

const isForFounders = ({ security }: OpenApiOperation) => security.some((scheme) => 'founder' in scheme)

function isJsonOnly({ requestBody, responses }: OpenApiOperation): boolean {
  const contents = [requestBody, ...successes(responses)].map((part) => part?.content ?? {})
  return contents.every((content) => Object.keys(content).every((type) => type === 'application/json'))
}

function successes(responses: OpenApiOperation['responses']) {
  return Object.entries(responses).flatMap(([status, response]) =>
    status.startsWith('2') && 'description' in response ? [response] : [],
  )
}

/** Path and query parameters by name, and the body as `body`. */
function paramsType({ parameters = [], requestBody }: OpenApiOperation): string {
  const named = parameters.filter((one): one is OpenApiParameter => 'in' in one && one.in !== 'header')
  const fields = named.map(({ name, required, schema }) => field(name, required, schema))
  const body = requestBody?.content['application/json']?.schema
  if (body) fields.push(field('body', requestBody.required, body))
  return fields.length === 0 ? 'object' : `{ ${fields.join('; ')} }`
}

const field = (name: string, isRequired: boolean, schema: OpenApiSchema) =>
  `${name}${isRequired ? '' : '?'}: ${toTypeScript(shapeOf(schema), '  ')}`

function resultType({ responses }: OpenApiOperation): string {
  const types = successes(responses).map((response) => {
    const schema = response.content?.['application/json']?.schema
    return schema ? toTypeScript(shapeOf(schema), '  ') : 'undefined'
  })
  return [...new Set(types)].join(' | ')
}

/** These schemas and all that they refer to, by name. */
function collectSchemas(schemas: NamedSchemas, roots: string[]): [string, OpenApiSchema][] {
  const found = new Set<string>()
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    open.push(...referencedNames(schemas[name]))
  }
  return [...found].toSorted().map((name) => [name, schemas[name] ?? {}])
}

function referencedNames(part: unknown): string[] {
  const references = JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
  return [...references].map(([, name = '']) => name)
}

const shapeOf = (schema: OpenApiSchema) => toSchemaShape(schema as Json)
