import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Preset, PresetParam, PresetParamValues, PresetRequest } from './preset.ts'

/**
 * The config of a connection: the preset's with the parameters filled in, and with its name. The parameters stay in the
 * config, because a `base_url` of the request replaces the one that has them.
 */
export function applyPreset(preset: Preset, { params, config }: PresetRequest): JsonObject {
  const values = checkParams(preset, params)
  const filled = fillValue(preset.config, values)
  return { ...values, ...(isJsonObject(filled) ? filled : {}), ...config, preset: preset.preset }
}

function checkParams({ preset, params }: Preset, given: PresetParamValues): PresetParamValues {
  const unknown = Object.keys(given).find((name) => !params.some((param) => param.name === name))
  if (unknown !== undefined) throw badRequest(`field 'params.${unknown}' is not a parameter of the preset '${preset}'`)
  return Object.fromEntries(params.map((param) => [param.name, checkParam(param, given[param.name])]))
}

function checkParam(param: PresetParam, given: string | number | undefined): string | number {
  const value = given ?? param.default
  const field = `field 'params.${param.name}'`
  if (value === undefined || value === '') throw badRequest(`${field} is required: ${param.description}`)
  if (typeof value !== param.type) throw badRequest(`${field} must be a ${param.type}`)
  const isAllowed = param.pattern === undefined ? !/[{}]/.test(String(value)) : matchesAll(param.pattern, value)
  if (!isAllowed) throw badRequest(`${field} is not valid: ${param.description} Example: ${param.example}`)
  return value
}

const matchesAll = (pattern: string, value: string | number): boolean => new RegExp(pattern).test(String(value))

/** Replaces `{{name}}` in every text. A text that is only a parameter becomes its value, which may be a number. */
function fillValue(value: Json, values: PresetParamValues): Json {
  if (typeof value === 'string') return fillText(value, values)
  if (Array.isArray(value)) return value.map((item) => fillValue(item, values))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, values)]))
}

function fillText(text: string, values: PresetParamValues): string | number {
  const [, only] = /^\{\{(\w+)\}\}$/.exec(text) ?? []
  if (only !== undefined) return values[only] ?? text
  return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => String(values[name] ?? whole))
}
