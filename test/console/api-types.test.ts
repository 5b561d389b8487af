import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { API_TYPES_FILE, generateApiTypes } from '../../scripts/api-types.mjs'
import { createApiDocument, listPublicRoutes } from '../../src/planes/api-document.ts'

describe('the OpenAPI document', () => {
  const neverStarted = new Promise<never>(() => {})
  const document = createApiDocument(
    listPublicRoutes(neverStarted, () => false),
    null,
  )

  test("the console's API types are those that `npm run api-types` generates", async () => {
    expect(readFileSync(API_TYPES_FILE, 'utf8')).toBe(await generateApiTypes(document))
  })

  test("it breaks none of Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })
})
