import { z } from 'zod'
import type { Answers, Route } from './route.ts'

/** A route with its place in the reference. */
export interface Described {
  plane: 'open' | 'founder' | 'client'
  section: string
  route: Pick<Route<never>, 'method' | 'path' | 'summary' | 'role' | 'query' | 'body' | 'answers'>
}

export interface OpenApiDocument {
  openapi: string
  info: Record<string, unknown>
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: Record<string, unknown>; schemas: Record<string, Schema> }
}

export interface Operation {
  summary: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }>; required?: boolean }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: Schema
}

export type Schema = Record<string, unknown>

/** The reference, made from the same schemas that judge requests, so that it cannot say anything else. */
export function openApi(version: string, described: Described[]): OpenApiDocument {
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
      description: 'Errors are `{"error": "a lower-case sentence"}`. Lists are `{"data": […], "next_cursor": …}`.',
    },
    tags: [...new Set(described.map(({ section }) => section))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        founder: { type: 'http', scheme: 'bearer', description: 'An API key (svc_key_…) or a session (svc_fst_…)' },
        client: { type: 'http', scheme: 'bearer', description: 'A client session (svc_cst_…)' },
      },
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

const hasDefinitions = (value: unknown): value is Schema & { $defs: Schema } =>
  typeof value === 'object' && value !== null && '$defs' in value

const ERROR: Schema = { type: 'object', required: ['error'], properties: { error: { type: 'string' } } }

function operation({ plane, section, route }: Described): Operation {
  const parameters = [...pathParameters(route.path), ...queryParameters(route.query)]
  return {
    summary: route.summary,
    tags: [section],
    ...(plane !== 'open' && { security: [{ [plane]: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: { content: { 'application/json': { schema: schemaOf(route.body) } } } }),
    responses: {
      ...responses(route.answers),
      default: {
        description: 'an error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(query: z.ZodType | null): Parameter[] {
  if (!query) return []
  const { properties = {}, required = [] } = schemaOf(query) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function responses(answers: Answers): Operation['responses'] {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      {
        description: status === '204' ? 'done' : 'the answer',
        ...(status !== '204' && { content: content(answer) }),
      },
    ]),
  )
}

function content(answer: z.ZodType | string): Record<string, { schema: Schema }> {
  if (typeof answer === 'string') return { [answer]: { schema: { type: 'string' } } }
  return { 'application/json': { schema: schemaOf(answer) } }
}

function schemaOf(schema: z.ZodType): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  })
  return rest
}
