import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { fieldsOutsideBody } from './build-request.ts'
import type { Operation } from './operation.ts'
import { fieldsOfPath } from './placeholders.ts'

/** The declared schema, completed by the fields that the path, the query and the headers use. */
export function inputSchemaOf(operation: Operation): JsonObject {
  const { input_schema = {}, path, body } = operation
  const inPath = fieldsOfPath(path)
  const derived = [...fieldsOutsideBody(operation)].map((field): [string, Json] => [
    field,
    inPath.includes(field) ? { type: ['string', 'number'], description: `Part of the path ${path}.` } : {},
  ])
  const { properties, required } = input_schema
  const requiredFields = new Set([...(Array.isArray(required) ? required : []), ...inPath])
  return {
    ...(body === 'none' && { additionalProperties: false }),
    ...input_schema,
    type: 'object',
    properties: { ...Object.fromEntries(derived), ...(isJsonObject(properties) ? properties : {}) },
    ...(requiredFields.size > 0 && { required: [...requiredFields] }),
  }
}
