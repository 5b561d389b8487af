import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { API_TYPES_FILE, generateApiTypes } from '../../scripts/api-types.mjs'
import {
  PYTHON_CLIENT_FILE,
  generateTypeScriptClientTypes,
  replacePythonClientTypes,
  TYPESCRIPT_CLIENT_TYPES_FILE,
} from '../../scripts/client-types.ts'
import { describeApi } from '../../scripts/openapi-document.ts'

describe('the OpenAPI document', () => {
  const document = describeApi()

  test("the console's API types are those that `npm run api-types` generates", async () => {
    expect(readFileSync(API_TYPES_FILE, 'utf8')).toBe(await generateApiTypes(document))
  })

  test('the API types of the clients are those that `npm run api-types` generates', () => {
    expect(readFileSync(TYPESCRIPT_CLIENT_TYPES_FILE, 'utf8')).toBe(generateTypeScriptClientTypes(document))
    const python = readFileSync(PYTHON_CLIENT_FILE, 'utf8')
    expect(replacePythonClientTypes(python, document)).toBe(python)
    expect(python).toContain('class TaskFinishedEvent(TypedDict):')
  })

  test("it breaks none of Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })
})
