import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/platform/base/json.ts'
import { parseOperations } from '../../src/connections/operations/connection-operations.ts'
import { inputSchemaOf } from '../../src/connections/operations/operation-schema.ts'
import { schemaErrors } from '../../src/platform/contract/output-schema.ts'
import { respondJson } from '../fake-upstream.ts'
import { exampleArguments, examplePresetConfig, loadPreset, openPresetConnection } from './preset-connection.ts'
import { openUpstreamServer } from './test-context.ts'

interface DescribedParameter {
  name: string
  in: 'path' | 'query'
  required?: boolean
  schema: JsonObject
}

interface DescribedOperation {
  parameters: DescribedParameter[]
  requestBody?: { content: { 'application/json': { schema: JsonObject } } }
}

const FIXTURE = fileURLToPath(new URL('fixtures/github-openapi.json', import.meta.url))
const description: { paths: Record<string, Record<string, DescribedOperation>> } = JSON.parse(
  readFileSync(FIXTURE, 'utf8'),
)
const preset = loadPreset('github')
const { operations } = parseOperations(examplePresetConfig(preset))

/** The choices that a property of a schema allows; null if it allows every value. */
const choicesOf = (schema: JsonObject | undefined): Json[] | null => (Array.isArray(schema?.enum) ? schema.enum : null)

describe.each(operations)("$name matches GitHub's OpenAPI description", (operation) => {
  const described = description.paths[operation.path]?.[operation.method.toLowerCase()]
  const ours = inputSchemaOf(operation)
  const properties = (ours.properties ?? {}) as Record<string, JsonObject>

  test('has the described parameters', () => {
    const inQuery = (described?.parameters ?? []).filter((parameter) => parameter.in === 'query')
    for (const name of Object.keys(operation.query ?? {})) {
      const parameter = inQuery.find((one) => one.name === name)
      expect(parameter, name).toBeDefined()
      const allowed = choicesOf(parameter?.schema)
      if (allowed) expect(allowed).toEqual(expect.arrayContaining(choicesOf(properties[name]) ?? ['missing choices']))
    }
    const required = described?.parameters.filter((parameter) => parameter.required).map(({ name }) => name) ?? []
    expect(ours.required ?? []).toEqual(expect.arrayContaining(required))
  })

  test('sends a body that the description accepts', async () => {
    const server = await openUpstreamServer((_, response) => respondJson(response, 200, {}))
    const connection = await openPresetConnection(preset, server)
    await connection.call(operation.name, exampleArguments(ours))
    const schema = described?.requestBody?.content['application/json'].schema
    const body = server.received[0]?.body ?? ''
    if (!schema) return expect(body).toBe('')
    const sent: JsonObject = JSON.parse(body)
    expect(schemaErrors(schema, sent)).toEqual([])
    const known = [schema, ...((schema.oneOf ?? []) as JsonObject[])].flatMap((one) =>
      Object.keys(one.properties ?? {}),
    )
    expect(known).toEqual(expect.arrayContaining(Object.keys(sent)))
    expect(ours.required ?? []).toEqual(expect.arrayContaining((schema.required ?? []) as string[]))
  })
})
