import { z } from 'zod'
import type { Json } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { parseStrictJson } from '../../platform/base/strict-json.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import type { RecordRow } from '../../platform/store/tables.ts'
import { type FilterCondition, parseWhere } from './filter/where.ts'

/** No control characters, because names are displayed, indexed and used in URLs. */
const name = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^\P{Cc}+$/u, 'must not contain control characters')

export const CollectionName = name(100)
export const RecordKeyName = name(255)

export const RecordView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    wedge: z.string(),
    collection: z.string(),
    key: z.string(),
    value: jsonValue,
    version: z.number().int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Record' })

export function toRecordView(row: RecordRow) {
  const { id, project_id, wedge, collection, key, version, created_at, updated_at } = row
  return {
    id,
    project_id,
    wedge,
    collection,
    key,
    value: JSON.parse(row.value) as Json,
    version,
    created_at,
    updated_at,
  }
}
export type RecordView = ReturnType<typeof toRecordView>

/** Parses the query parameter `where`. */
export function parseWhereQuery(where: string | undefined): FilterCondition[] {
  return where === undefined ? [] : parseWhere(readJson(where))
}

function readJson(text: string): Json {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch {
    throw badRequest("query 'where' must be json")
  }
}
