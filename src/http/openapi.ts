import { z } from 'zod'
import type { RouteResponses, RouteHeaders, Route } from './route.ts'

/** A route with its place in the reference. */
export interface DescribedRoute {
  plane: 'open' | 'founder' | 'client'
  section: string
  route: Pick<
    Route<never>,
    'operation' | 'method' | 'path' | 'summary' | 'role' | 'headers' | 'query' | 'body' | 'responses'
  >
}

export interface OpenApiDocument {
  openapi: string
  info: Record<string, unknown>
  tags: { name: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    securitySchemes: Record<string, unknown>
    parameters: Record<string, OpenApiParameter>
    headers: Record<string, Header>
    schemas: Record<string, OpenApiSchema>
  }
}

export interface OpenApiOperation {
  operationId: string
  summary: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: (OpenApiParameter | Reference)[]
  requestBody?: { content: Record<string, { schema: OpenApiSchema }>; required: boolean }
  responses: Record<string, Response>
}

export interface OpenApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  required: boolean
  schema: OpenApiSchema
}

interface Response {
  description: string
  headers: Record<string, Header | Reference>
  content?: Record<string, { schema: OpenApiSchema }>
}

interface Header {
  description: string
  schema: OpenApiSchema
}

interface Reference {
  $ref: string
}

export type OpenApiSchema = Record<string, unknown>

/** The reference, made from the same schemas that judge requests, so that it cannot say anything else. */
export function createOpenApiDocument(version: string, described: DescribedRoute[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  for (const one of described) {
    const path = one.route.path.replace(/:([a-z_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [one.route.method.toLowerCase()]: operation(one) }
  }
  return withNamedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Agent Work Service',
      version,
      description: ABOUT,
    },
    tags: [...new Set(described.map(({ section }) => section))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        founder: { type: 'http', scheme: 'bearer', description: 'An API key (svc_key_…) or a session (svc_fst_…)' },
        client: { type: 'http', scheme: 'bearer', description: 'A client session (svc_cst_…)' },
      },
      parameters: { Project: PROJECT },
      headers: { RequestId: REQUEST_ID, Location: LOCATION, RetryAfter: RETRY_AFTER },
      schemas: { Error: ERROR },
    },
  })
}

/** Zod puts named schemas beside each use; a reference counts from the document's root, so they belong there, once. */
function withNamedSchemas(document: OpenApiDocument): OpenApiDocument {
  const named: Record<string, unknown> = {}
  const paths = JSON.stringify(document.paths, (_, value: unknown) => {
    if (!hasDefinitions(value)) return value
    const { $defs, ...rest } = value
    Object.assign(named, $defs)
    return rest
  })
  const components = { ...document.components, schemas: { ...document.components.schemas, ...named } }
  const text = JSON.stringify({ ...document, paths: JSON.parse(paths) as unknown, components })
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as OpenApiDocument
}

const hasDefinitions = (value: unknown): value is OpenApiSchema & { $defs: OpenApiSchema } =>
  typeof value === 'object' && value !== null && '$defs' in value

const ABOUT =
  'Errors are `{"error": "a lower-case sentence"}`. Lists are `{"data": […], "next_cursor": …}`. ' +
  'A member of several projects names one on writes, by its id or slug, in the header `x-svc-project`; on reads it narrows the answer.'

const PROJECT: OpenApiParameter = {
  name: 'X-SVC-Project',
  in: 'header',
  description: 'a project by its id or slug; a member of several needs it to write',
  required: false,
  schema: { type: 'string' },
}
const REQUEST_ID: Header = { description: "also in the service's log", schema: { type: 'string' } }
const LOCATION: Header = { description: 'where what was made can be read, if it can', schema: { type: 'string' } }
const RETRY_AFTER: Header = { description: 'seconds, on 429 and 503', schema: { type: 'integer' } }

const ERROR: OpenApiSchema = { type: 'object', required: ['error'], properties: { error: { type: 'string' } } }

function operation({ plane, section, route }: DescribedRoute): OpenApiOperation {
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route.query),
    ...headerParameters(route.headers),
  ]
  const all = plane === 'founder' ? [...parameters, { $ref: '#/components/parameters/Project' }] : parameters
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [section],
    ...(plane !== 'open' && { security: [{ [plane]: [] }] }),
    ...(all.length > 0 && { parameters: all }),
    ...(route.body && { requestBody: requestBody(schemaOf(route.body)) }),
    responses: {
      ...responses(route.responses, route.headers),
      default: {
        description: 'an error',
        headers: { ...EVERYWHERE, 'retry-after': { $ref: '#/components/headers/RetryAfter' } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function operationId({ operation, method, path }: DescribedRoute['route']): string {
  if (operation === undefined) throw new Error(`the route ${method} ${path} has no operation id: list it in nameRoutes`)
  return operation
}

/** What is optional in every field may be left out as a whole. */
function requestBody(schema: OpenApiSchema): NonNullable<OpenApiOperation['requestBody']> {
  return { required: Array.isArray(schema.required), content: { 'application/json': { schema } } }
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
  const { properties = {}, required = [] } = schemaOf(query) as {
    properties?: Record<string, OpenApiSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function headerParameters(headers: RouteHeaders): OpenApiParameter[] {
  return Object.entries(headers.read ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    required: false,
    schema: { type: 'string' },
  }))
}

function responses(answers: RouteResponses, headers: RouteHeaders): OpenApiOperation['responses'] {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      {
        description: status === '204' ? 'done' : 'the answer',
        headers: {
          ...EVERYWHERE,
          ...(status === '201' && { location: { $ref: '#/components/headers/Location' } }),
          ...answeredHeaders(headers),
        },
        ...(status !== '204' && { content: content(answer) }),
      },
    ]),
  )
}

const EVERYWHERE = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }

function answeredHeaders(headers: RouteHeaders): Record<string, Header> {
  const described = Object.entries(headers.sent ?? {})
  return Object.fromEntries(described.map(([name, description]) => [name, { description, schema: { type: 'string' } }]))
}

function content(answer: z.ZodType | string): Record<string, { schema: OpenApiSchema }> {
  if (typeof answer === 'string') return { [answer]: { schema: { type: 'string' } } }
  return { 'application/json': { schema: schemaOf(answer) } }
}

function schemaOf(schema: z.ZodType): OpenApiSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  })
  return rest
}
