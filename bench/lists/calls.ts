import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from '../../src/platform/http/openapi.ts'
import { filterValues, PATH_VALUES, UNMEASURED_ROUTES } from './values.ts'

/** One request that the benchmark measures. */
export interface ListCall {
  /** The route with its parameters, such as `/v1/tasks?status=failed`. */
  path: string
  plane: 'founder' | 'client'
  /** A list, whose later pages are measured too. */
  hasPages: boolean
}

/**
 * Every route of the API that reads, as requests: without filters, with each filter, and with each pair of filters. The
 * routes come from the OpenAPI document, so that a new route without values fails the benchmark.
 */
export function listCalls(document: OpenApiDocument): ListCall[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && !Object.hasOwn(UNMEASURED_ROUTES, path) ? callsOfRoute(document, path, get) : [],
  )
}

function callsOfRoute(document: OpenApiDocument, path: string, operation: OpenApiOperation): ListCall[] {
  const plane = path.startsWith('/v1/portal/') ? 'client' : 'founder'
  const target = fillPath(path)
  const parameters = queryParameters(document, operation)
  const hasPages = parameters.some(({ name }) => name === 'cursor')
  const filters = parameters.filter(({ name }) => name !== 'cursor' && name !== 'limit')
  const choices = filters.map((parameter) =>
    filterValues(path, parameter).map((value) => `${parameter.name}=${encodeURIComponent(value)}`),
  )
  const queries = ['', ...(hasPages ? ['limit=200'] : []), ...choices.flat(), ...pairsOf(choices)]
  return queries.map((query) => ({ path: query === '' ? target : `${target}?${query}`, plane, hasPages }))
}

/** Both filters with their last value, which few or no rows have: the worst case for a list that must search. */
function pairsOf(choices: readonly string[][]): string[] {
  return choices.flatMap((first, n) => choices.slice(n + 1).map((second) => [first.at(-1), second.at(-1)].join('&')))
}

function fillPath(path: string): string {
  return path.replaceAll(/\{\w+\}/g, (parameter) => {
    const value = PATH_VALUES[path] ?? PATH_VALUES[parameter]
    if (value === undefined) throw new Error(`bench/lists/values.ts has no value for ${parameter} of ${path}`)
    return value
  })
}

function queryParameters(document: OpenApiDocument, operation: OpenApiOperation): OpenApiParameter[] {
  return (operation.parameters ?? [])
    .map((parameter) => ('$ref' in parameter ? findParameter(document, parameter.$ref) : parameter))
    .filter((parameter) => parameter.in === 'query')
}

function findParameter(document: OpenApiDocument, reference: string): OpenApiParameter {
  const found = document.components.parameters[reference.split('/').at(-1) ?? '']
  if (!found) throw new Error(`the OpenAPI document has no ${reference}`)
  return found
}
