import { LANGUAGES } from '../../../client-text/languages.ts'
import { z } from 'zod'
import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { findFile } from '../../work/files/rows.ts'
import { findConnection } from '../../connections/connection/rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { type Brand, findBrand, findChannelId, upsertBrand } from './rows.ts'

const MAX_IMAGE_BYTES = 1024 * 1024
/** What browsers show as an image. */
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/

/** An empty text is stored as null. */
const optionalText = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .transform((text) => text || null)
    .nullable()

const optionalId = z.string().min(1).max(100).nullable()

export const BrandInput = z.object({
  name: optionalText(80).optional(),
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #1f4fd1')
    .transform((color) => color.toLowerCase())
    .nullable()
    .optional(),
  logo_file_id: optionalId.optional(),
  favicon_file_id: optionalId.optional(),
  welcome: optionalText(1000).optional(),
  language: z.enum(LANGUAGES).optional(),
  portal_channel_id: optionalId.optional(),
  mail_connection_id: optionalId.optional(),
  notify: z.boolean().optional(),
})

/** Replaces the fields that are given. */
export function changeBrand(ctx: Ctx, scope: ProjectScope, input: z.infer<typeof BrandInput>): Promise<Brand> {
  const { notify, ...fields } = input
  return inTx(ctx, async (tx) => {
    // The lock keeps two changes from overwriting each other's fields.
    await lockProject(tx.db, scope.projectId)
    const was = await findBrand(tx.db, scope.projectId)
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const brand: Brand = { ...was, ...given, updated_at: isoNow(tx) }
    if (notify !== undefined) brand.notify_since = notify ? (was.notify_since ?? isoNow(tx)) : null
    await checkReferences(tx, brand, input)
    await upsertBrand(tx.db, brand)
    const data = { fields: Object.keys(input) }
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'brand.updated', scope.projectId, data)
    return brand
  })
}

/** Only what was given is checked: a channel that was deleted since must not block a change of the colour. */
async function checkReferences(tx: Tx, brand: Brand, input: z.infer<typeof BrandInput>): Promise<void> {
  const { project_id } = brand
  for (const field of ['logo_file_id', 'favicon_file_id'] as const) {
    const id = input[field]
    if (id) await requireImage(tx, project_id, id, field)
  }
  const { portal_channel_id: channel, mail_connection_id: mail } = input
  if (channel && (await findChannelId(tx.db, { project_id, id: channel })).length === 0)
    throw badRequest("field 'portal_channel_id' is not a channel of this project")
  if (mail) {
    const connection = await findConnection(tx.db, mail)
    const isOwn = connection?.project_id === project_id && connection.owner_kind === 'founder'
    if (!isOwn || connection.kind !== 'email')
      throw badRequest("field 'mail_connection_id' is not an email connection of this project")
  }
  if (brand.notify_since !== null && brand.mail_connection_id === null)
    throw badRequest("field 'notify' needs a 'mail_connection_id'")
}

async function requireImage(tx: Tx, project_id: string, id: string, field: string): Promise<void> {
  const file = await findFile(tx.db, [project_id], id)
  if (file?.client_id !== null) throw badRequest(`field '${field}' is not a file of this project`)
  if (!IMAGE_TYPE.test(file.content_type)) throw badRequest(`field '${field}' must be an image`)
  if (file.size > MAX_IMAGE_BYTES) throw badRequest(`field '${field}' must be at most 1 MiB`)
}
