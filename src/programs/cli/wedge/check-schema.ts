import type { Json } from '../../../platform/base/json.ts'
import type { JsonPath } from '../../../platform/base/json-with-lines.ts'
import { findSchemaProblems } from '../../../platform/contract/schema-problems.ts'
import { addError, type WedgeInspection, type WedgeJsonFile, addWarning } from './findings.ts'

/**
 * Reports schemas that check less than they seem to, because the validator ignores invalid and unknown keywords.
 * `strict`: the model's provider also enforces the schema, and it supports more keywords.
 */
export function checkJsonSchema(
  inspection: WedgeInspection,
  json: WedgeJsonFile,
  schema: Json,
  path: JsonPath,
  strict: boolean,
): void {
  for (const { kind, path: at, message } of findSchemaProblems(schema, path)) {
    const report = kind === 'invalid' ? addError : addWarning
    if (kind !== 'unchecked' || !strict) report(inspection, json.file, json.lineOf(at), `${at.join('.')} ${message}`)
  }
}
