import { z } from 'zod'

export type OpenApiSchema = Record<string, unknown>

/** The named schemas of a document. A schema with an id is defined once here and referred to everywhere else. */
export type NamedSchemas = Record<string, OpenApiSchema>

/** A zod schema as JSON Schema. Schemas with an id, also inner ones, go into `named`. */
export function toOpenApiSchema(schema: z.ZodType, io: 'input' | 'output', named: NamedSchemas): OpenApiSchema {
  const { $schema: _dialect, ...converted } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      markTimes(jsonSchema.properties)
      removeSafeIntegerBounds(jsonSchema)
      hideLooseness(jsonSchema)
    },
  })
  // Zod's references count from the schema; OpenAPI's count from the document.
  const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')
  const { $defs, ...rest } = JSON.parse(text) as OpenApiSchema & { $defs?: NamedSchemas }
  Object.assign(named, $defs)
  return rest
}

/** Gives an object without an id a name, so that generated clients have a type for every body. */
export function nameSchema(schema: OpenApiSchema, name: string, named: NamedSchemas): OpenApiSchema {
  if (schema.$ref !== undefined || schema.type !== 'object') return schema
  named[name] = schema
  return { $ref: `#/components/schemas/${name}` }
}

/**
 * `ts`, `at` and every field that ends in `_at` are times: the rule replaces a format on each of them. A text with a
 * pattern of its own, such as the time of day `digest_at`, is none.
 */
function markTimes(properties: Record<string, unknown> | undefined): void {
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (!/^(ts|at|.*_at)$/.test(name)) continue
    const schema = property as OpenApiSchema
    for (const form of (schema.anyOf as OpenApiSchema[] | undefined) ?? [schema]) {
      if ([form.type].flat().includes('string') && form.pattern === undefined) form.format = 'date-time'
    }
  }
}

/** Zod bounds every integer by what JavaScript can count to, which says nothing about the field. */
function removeSafeIntegerBounds(schema: OpenApiSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

/** An object keeps unknown fields only so that a route can name what it ignores. */
function hideLooseness(schema: OpenApiSchema): void {
  const { additionalProperties: more } = schema
  if (typeof more === 'object' && more !== null && Object.keys(more).length === 0) delete schema.additionalProperties
}
