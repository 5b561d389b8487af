// Turns the OpenAPI document into the API types of the console and of the clients.
//   npm run api-types                    writes all of them
//   api-types.ts --not-committed         only the files for TypeScript, which are not committed; every build runs this
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Json } from '../src/platform/base/json.ts'
import { toPythonDeclarations } from '../src/programs/cli/wedge/python-types.ts'
import { toSchemaShape } from '../src/programs/cli/wedge/schema-shape.ts'
import { toTypeScript } from '../src/programs/cli/wedge/typescript-types.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from '../src/platform/http/openapi.ts'
import type { NamedSchemas, OpenApiSchema } from '../src/platform/http/openapi-schemas.ts'
import { describeApi } from './openapi-document.ts'

const fileInRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const CONSOLE_TYPES_FILE = fileInRoot('console/src/api/openapi.ts')
const PORTAL_OPERATIONS_FILE = fileInRoot('console/src/portal/operations.ts')
const TYPESCRIPT_CLIENT_TYPES_FILE = fileInRoot('clients/typescript/src/openapi.ts')
export const PYTHON_CLIENT_FILE = fileInRoot('clients/python/agent_work_service_client.py')

const GENERATED = 'Generated from /openapi.json by `npm run api-types`. Do not edit'
const PYTHON_PART = /(?<=# --- Generated from .* ---\n)[^]*(?=# --- End of the generated part\. ---\n)/

/** The schemas that Python has types for, with all that they refer to. */
const PYTHON_ROOTS = ['Approval', 'CreateTaskRequest', 'Event', 'Task']

/** Unchanged files keep their time, so that the console is not built again. */
function writeApiTypes(document: OpenApiDocument, { withPython }: { withPython: boolean }): void {
  const operations = listOperations(document)
  writeIfChanged(CONSOLE_TYPES_FILE, toTypeScriptModule(document, operations))
  // A file of its own, so that the portal does not load the routes of the console.
  writeIfChanged(PORTAL_OPERATIONS_FILE, `// ${GENERATED}.\n\n${toRouteTable(operations.filter(isOfPortal))}`)
  writeIfChanged(TYPESCRIPT_CLIENT_TYPES_FILE, toTypeScriptModule(document, listFounderOperations(document)))
  if (!withPython) return
  const python = readFileSync(PYTHON_CLIENT_FILE, 'utf8')
  writeIfChanged(PYTHON_CLIENT_FILE, replacePythonClientTypes(python, document))
}

function writeIfChanged(file: string, text: string): void {
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}

/** Every schema that an operation refers to, and for each operation its route, parameters and result. */
function toTypeScriptModule(document: OpenApiDocument, operations: ListedOperation[]): string {
  const roots = [...referencedNames(operations.map(({ operation }) => operation)), ...PYTHON_ROOTS]
  const types = collectSchemas(document.components.schemas, roots).map(
    ([name, schema]) => `export type ${name} = ${toTypeScript(shapeOf(schema))}`,
  )
  const signatures = operations.map(
    ({ id, operation }) => `  ${id}: { params: ${paramsType(operation)}; result: ${resultType(operation)} }`,
  )
  return [
    `// ${GENERATED}.`,
    ...types,
    toRouteTable(operations.filter((operation) => !isOfPortal(operation))),
    `export interface Operations {\n${signatures.join('\n')}\n}\n`,
  ].join('\n')
}

const toRouteTable = (operations: ListedOperation[]) =>
  `export const OPERATIONS = {\n${operations.map(({ id, route }) => `  ${id}: '${route}',`).join('\n')}\n} as const\n`

const isOfPortal = ({ route }: ListedOperation) => route.includes(' /v1/portal/')

/** The text of the Python client with new types and routes between its two markers. */
export function replacePythonClientTypes(client: string, document: OpenApiDocument): string {
  const schemas = collectSchemas(document.components.schemas, PYTHON_ROOTS)
  const usedNames = new Set(schemas.map(([name]) => name))
  const types = schemas.flatMap(([name, schema]) => toPythonDeclarations(name, shapeOf(schema), usedNames))
  const routes = listFounderOperations(document).map(({ id, route }) => `    "${id}": "${route}",`)
  const table = `OPERATIONS = {\n${routes.join('\n')}\n}`
  return client.replace(PYTHON_PART, () => `\n\n${[...types, table].join('\n\n\n')}\n\n\n`)
}

interface ListedOperation {
  id: string
  route: string
  operation: OpenApiOperation
}

/** The operations whose bodies are JSON. Streams and files have methods of their own; redirects are for browsers. */
function listOperations({ paths }: OpenApiDocument): ListedOperation[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
  return operations
    .filter(({ route, operation }) => route.includes(' /v1/') && isJsonOnly(operation))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** The operations of a program that holds an API key. */
const listFounderOperations = (document: OpenApiDocument) =>
  listOperations(document).filter(({ operation }) => operation.security.some((scheme) => 'founder' in scheme))

function isJsonOnly({ requestBody, responses }: OpenApiOperation): boolean {
  const results = successes(responses)
  const contents = [requestBody, ...results].map((part) => part?.content ?? {})
  return (
    results.length > 0 && contents.every((content) => Object.keys(content).every((type) => type === 'application/json'))
  )
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

function field(name: string, isRequired: boolean, schema: OpenApiSchema): string {
  const type = toTypeScript(shapeOf(schema), '  ')
  return isRequired ? `${name}: ${type}` : `${name}?: ${type} | undefined`
}

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeApiTypes(describeApi(), { withPython: !process.argv.includes('--not-committed') })
}
