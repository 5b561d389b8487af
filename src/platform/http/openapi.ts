import type { z } from 'zod'
import { describeCall } from './describe-call.ts'
import { type NamedSchemas, nameSchema, type OpenApiSchema, toOpenApiSchema } from './openapi-schemas.ts'
import type { Route, RouteHeaders, RouteResponses } from './route.ts'

/** A route with its plane and its section of the reference. */
export interface DescribedRoute {
  plane: 'open' | 'founder' | 'client'
  section: string
  route: Pick<
    Route<never>,
    | 'operation'
    | 'method'
    | 'path'
    | 'summary'
    | 'description'
    | 'role'
    | 'headers'
    | 'query'
    | 'body'
    | 'streamsBody'
    | 'responses'
  >
}

/** The part of the document that describes the deployment. */
export interface ApiInfo {
  version: string
  /** The base of all paths. */
  url: string
  /** A sentence for each section. */
  sections: Record<string, string>
}

export interface OpenApiDocument {
  openapi: string
  info: Record<string, unknown>
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    securitySchemes: Record<string, unknown>
    parameters: Record<string, OpenApiParameter>
    headers: Record<string, OpenApiHeader>
    responses: Record<string, OpenApiResponse>
    schemas: NamedSchemas
  }
}

export interface OpenApiOperation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: (OpenApiParameter | OpenApiReference)[]
  requestBody?: { content: Record<string, { schema: OpenApiSchema }>; required: boolean }
  responses: Record<string, OpenApiResponse | OpenApiReference>
}

export interface OpenApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  required: boolean
  schema: OpenApiSchema
}

export interface OpenApiResponse {
  description: string
  headers: Record<string, OpenApiHeader | OpenApiReference>
  content?: Record<string, { schema: OpenApiSchema }>
}

interface OpenApiHeader {
  description: string
  schema: OpenApiSchema
}

export interface OpenApiReference {
  $ref: string
}

/** The document is built from the schemas that validate requests, so the two cannot disagree. */
export function createOpenApiDocument(info: ApiInfo, described: DescribedRoute[]): OpenApiDocument {
  const named: NamedSchemas = { Error: ERROR }
  const paths: OpenApiDocument['paths'] = {}
  for (const describedRoute of described) {
    const { path, method } = describedRoute.route
    const template = path.replace(/:([a-z_]+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operationOf(describedRoute, named) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Work Service', version: info.version, description: ABOUT, license: LICENSE },
    servers: [{ url: info.url }],
    tags: [...new Set(described.map(({ section }) => section))].map((name) => ({
      name,
      description: info.sections[name] ?? name,
    })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: { Project: PROJECT },
      headers: { RequestId: REQUEST_ID, Location: LOCATION, RetryAfter: RETRY_AFTER },
      responses: ERROR_RESPONSES,
      schemas: Object.fromEntries(Object.entries(named).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

const LICENSE = { name: 'MIT', identifier: 'MIT' }

const ABOUT =
  'Self-hosted server for agent work with a human in the loop. Errors are `{"error": "a sentence"}`. ' +
  'Lists are `{"data": […], "next_cursor": …}`; pass `next_cursor` as `cursor` to read on. ' +
  'A member of several projects names one in the header `X-SVC-Project`, by id or slug: writes need it, reads are narrowed by it.'

const SECURITY_SCHEMES = {
  founder: { type: 'http', scheme: 'bearer', description: 'An API key (`svc_key_…`) or a session (`svc_fst_…`).' },
  client: { type: 'http', scheme: 'bearer', description: "A client's portal session (`svc_cst_…`)." },
}

const PROJECT: OpenApiParameter = {
  name: 'X-SVC-Project',
  in: 'header',
  description: 'A project by id or slug. A member of several projects needs it to write.',
  required: false,
  schema: { type: 'string' },
}
const REQUEST_ID: OpenApiHeader = { description: "The request's id in the server's log.", schema: { type: 'string' } }
const LOCATION: OpenApiHeader = { description: 'The path of what was created.', schema: { type: 'string' } }
const RETRY_AFTER: OpenApiHeader = { description: 'Seconds to wait, on 429 and 503.', schema: { type: 'integer' } }

const ERROR: OpenApiSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string', description: 'A sentence for developers.' } },
}

const COMMON_HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }

const errorResponse = (description: string, headers: OpenApiResponse['headers'] = {}): OpenApiResponse => ({
  description,
  headers: { ...COMMON_HEADERS, ...headers },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

const RETRY_HEADER = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

const ERROR_RESPONSES = {
  BadRequest: errorResponse('A parameter or a field is missing or wrong.'),
  Unauthorized: errorResponse('The credential is missing, wrong or revoked.'),
  Forbidden: errorResponse("The caller's role does not allow this."),
  NotFound: errorResponse('It does not exist, or it is outside of what the credential reaches.'),
  Conflict: errorResponse('The request conflicts with the current state, for example a second decision.'),
  TooManyRequests: errorResponse('A rate limit was reached.', RETRY_HEADER),
  Unexpected: errorResponse('Any other error.', RETRY_HEADER),
}

function operationOf({ plane, section, route }: DescribedRoute, named: NamedSchemas): OpenApiOperation {
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route.query),
    ...headerParameters(route.headers),
    ...(plane === 'founder' ? [{ $ref: '#/components/parameters/Project' }] : []),
  ]
  const operation = operationId(route)
  return {
    operationId: operation,
    summary: route.summary,
    description: describeCall(route, plane === 'founder'),
    tags: [section],
    security: plane === 'open' ? [] : [{ [plane]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...((route.body || route.streamsBody) && { requestBody: requestBody(route, operation, named) }),
    responses: { ...errorsOf(plane, route), ...responsesOf(route.responses, route.headers, operation, named) },
  }
}

function operationId({ operation, method, path }: DescribedRoute['route']): string {
  if (operation === undefined) throw new Error(`the route ${method} ${path} has no operation id: list it in nameRoutes`)
  return operation
}

/** If no field is required, the body may be left out. */
function requestBody(
  { body }: Pick<DescribedRoute['route'], 'body'>,
  operation: string,
  named: NamedSchemas,
): NonNullable<OpenApiOperation['requestBody']> {
  if (!body) return { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }
  const schema = toOpenApiSchema(body, 'input', named)
  const reference = nameSchema(schema, `${capitalized(operation)}Request`, named)
  return { required: Array.isArray(schema.required), content: { 'application/json': { schema: reference } } }
}

function pathParameters(path: string): OpenApiParameter[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(query: z.ZodType | null): OpenApiParameter[] {
  if (!query) return []
  const { properties = {}, required = [] } = toOpenApiSchema(query, 'input', {}) as {
    properties?: Record<string, OpenApiSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(typeof description === 'string' && { description }),
    required: required.includes(name),
    schema,
  }))
}

function headerParameters(headers: RouteHeaders): OpenApiParameter[] {
  return Object.entries(headers.read ?? {}).map(([name, { description, ...bounds }]) => ({
    name,
    in: 'header',
    description,
    required: false,
    schema: { type: 'string', ...bounds },
  }))
}

const error = (name: keyof typeof ERROR_RESPONSES) => ({ $ref: `#/components/responses/${name}` })

/** The errors that every route of the plane and method can return. */
function errorsOf(plane: DescribedRoute['plane'], route: DescribedRoute['route']): OpenApiOperation['responses'] {
  return {
    400: error('BadRequest'),
    ...(plane !== 'open' && { 401: error('Unauthorized'), 403: error('Forbidden'), 404: error('NotFound') }),
    ...(route.method !== 'GET' && { 409: error('Conflict'), 429: error('TooManyRequests') }),
    default: error('Unexpected'),
  }
}

function responsesOf(
  responses: RouteResponses,
  headers: RouteHeaders,
  operation: string,
  named: NamedSchemas,
): OpenApiOperation['responses'] {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? 'An error.',
        headers: {
          ...COMMON_HEADERS,
          ...(status === '201' && { location: { $ref: '#/components/headers/Location' } }),
          ...sentHeaders(headers),
        },
        ...(hasBody(status) && { content: contentOf(response, bodyName(operation, status), named) }),
      },
    ]),
  )
}

const DESCRIPTIONS: Record<string, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done; there is no body.',
}

const hasBody = (status: string) => status !== '204' && status !== '202'

function sentHeaders(headers: RouteHeaders): Record<string, OpenApiHeader> {
  const described = Object.entries(headers.sent ?? {})
  return Object.fromEntries(described.map(([name, description]) => [name, { description, schema: { type: 'string' } }]))
}

function contentOf(
  response: RouteResponses[number],
  name: string,
  named: NamedSchemas,
): Record<string, { schema: OpenApiSchema }> {
  if (typeof response === 'string') return { [response]: { schema: { type: 'string' } } }
  if ('eventStreamOf' in response) {
    return { 'text/event-stream': { schema: toOpenApiSchema(response.eventStreamOf, 'output', named) } }
  }
  const schema = toOpenApiSchema(response, 'output', named)
  return { 'application/json': { schema: nameSchema(schema, name, named) } }
}

/** An error with its own schema must not get the name of the success schema. */
const bodyName = (operation: string, status: string) =>
  `${capitalized(operation)}${Number(status) < 400 ? 'Response' : `Error${status}`}`

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
