import { z } from 'zod'
import { tryParseJson } from '../platform/base/json-fields.ts'
import type { Json } from '../platform/base/json.ts'
import { jsonObject } from '../platform/http/validate.ts'
import type { AuditEntryRow } from '../platform/store/tables.ts'

export const AuditEntryView = z
  .object({
    seq: z.number().int(),
    ts: z.string(),
    actor: z.object({ kind: z.string(), id: z.string() }),
    action: z.string(),
    subject: z.string(),
    data: jsonObject,
    prev_hash: z.string(),
    hash: z.string(),
  })
  .meta({ id: 'AuditEntry' })

export const AuditVerificationView = z
  .object({
    ok: z.boolean(),
    entries: z.number().int(),
    head: z.string().nullable(),
    first_bad_seq: z.number().int().nullable(),
    problem: z.string().nullable(),
    anchored_to: z.number().int().nullable(),
    signed_by: z.string().nullable(),
    sealed_from: z.number().int().nullable(),
    checkpoints: z.object({ signed: z.number().int(), not_verifiable: z.number().int() }),
  })
  .meta({ id: 'AuditVerification' })

export function toAuditEntryView({
  seq,
  ts,
  actor_kind,
  actor_id,
  action,
  subject,
  data,
  prev_hash,
  hash,
}: AuditEntryRow) {
  return {
    seq,
    ts,
    actor: { kind: actor_kind, id: actor_id },
    action,
    subject,
    data: parseEntryData(data),
    prev_hash,
    hash,
  }
}

/** Data that was changed in the database may not be JSON: it is shown as text, and verification reports it. */
function parseEntryData(text: string): Json {
  const data = tryParseJson(text)
  return data === undefined ? text : data
}
