import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import * as clientTypes from '../../clients/typescript/src/openapi.ts'
import * as consoleTypes from '../../console/src/api/openapi.ts'
import * as portalTypes from '../../console/src/portal/operations.ts'
import { PYTHON_CLIENT_FILE, replacePythonClientTypes } from '../../scripts/api-types.ts'
import { describeApi } from '../../scripts/openapi-document.ts'

describe('the OpenAPI document', () => {
  const document = describeApi()

  test('the API types of the Python client are those that `npm run api-types` generates', () => {
    const python = readFileSync(PYTHON_CLIENT_FILE, 'utf8')
    expect(replacePythonClientTypes(python, document)).toBe(python)
    expect(python).toContain('class TaskFinishedEvent(TypedDict):')
  })

  test('the console has all operations with JSON, and the TypeScript client those that an API key may call', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, security }]) => ({
        id: operationId,
        route: `${method.toUpperCase()} ${path}`,
        forKeys: security.some((scheme) => 'founder' in scheme),
      })),
    )
    const routesOf = (ids: object) =>
      Object.fromEntries(operations.flatMap(({ id, route }) => (id in ids ? [[id, route]] : [])))
    expect(consoleTypes.OPERATIONS).toEqual(routesOf(consoleTypes.OPERATIONS))
    expect(clientTypes.OPERATIONS).toEqual(routesOf(clientTypes.OPERATIONS))
    expect(portalTypes.OPERATIONS).toEqual(routesOf(portalTypes.OPERATIONS))
    expect(portalTypes.OPERATIONS).toMatchObject({ getPortalThread: 'GET /v1/portal/threads/{id}' })
    const keyIds = operations.filter(({ forKeys }) => forKeys).map(({ id }) => id)
    expect(keyIds.filter((id) => id in consoleTypes.OPERATIONS).toSorted()).toEqual(Object.keys(clientTypes.OPERATIONS))
    expect(consoleTypes.OPERATIONS).toMatchObject({ signIn: 'POST /v1/auth/login' })
    expect(consoleTypes.OPERATIONS).not.toHaveProperty('followTask')
  })

  test("it breaks none of Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })
})
