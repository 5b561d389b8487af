import { parseRole } from '../../../identity/organisations/member-rows.ts'
import type { Role } from '../../../platform/ctx/scope.ts'
import type { PageQuery } from '../../../platform/http/page.ts'
import { listNewestPage } from '../../../platform/store/newest-page.ts'
import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type {
  McpAppRow,
  McpAuthorisationRow,
  McpCodeRow,
  McpTokenRow,
  MemberRow,
  ProjectRow,
} from '../../../platform/store/tables.ts'

export type McpAuthorisation = Omit<McpAuthorisationRow, 'role'> & { role: Role }

// Apps

export async function insertMcpApp(db: Db, row: McpAppRow): Promise<void> {
  await db.insertInto('mcp_apps').values(row).execute()
}

export async function findMcpApp(db: Db, id: string): Promise<McpAppRow | undefined> {
  return db.selectFrom('mcp_apps').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function countMcpApps(db: Db): Promise<number> {
  const query = db.selectFrom('mcp_apps').select((eb) => eb.fn.countAll<number | string>().as('count'))
  return Number((await query.executeTakeFirstOrThrow()).count)
}

export async function updateMcpAppUse(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable('mcp_apps').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** Deletes apps without an authorisation: those that no member accepted, and those that were last accepted long ago. */
export async function deleteUnusedMcpApps(db: Db, neverSince: string, lastSince: string): Promise<void> {
  await db
    .deleteFrom('mcp_apps')
    .where((eb) =>
      eb.or([
        eb('last_used_at', '<=', lastSince),
        eb.and([eb('last_used_at', 'is', null), eb('created_at', '<=', neverSince)]),
      ]),
    )
    .where('id', 'not in', (eb) => eb.selectFrom('mcp_authorisations').select('app_id'))
    .execute()
}

// Authorisations

export async function insertMcpAuthorisation(db: Db, row: McpAuthorisation): Promise<void> {
  await db.insertInto('mcp_authorisations').values(row).execute()
}

/** Those of one member, or of all members without one. */
export async function listMcpAuthorisations(
  db: Db,
  projectIds: readonly string[],
  { memberId, ...page }: PageQuery & { memberId: string | undefined },
) {
  const query = db
    .selectFrom('mcp_authorisations')
    .innerJoin('members', 'members.id', 'mcp_authorisations.member_id')
    .selectAll('mcp_authorisations')
    .select(['members.name as member_name', 'members.email as member_email'])
    .where('mcp_authorisations.project_id', 'in', projectIds)
  const own = memberId === undefined ? query : query.where('mcp_authorisations.member_id', '=', memberId)
  return listNewestPage(own, page, [], ['mcp_authorisations.id'])
}

export async function findMcpAuthorisation(
  db: Db,
  projectIds: readonly string[],
  id: string,
): Promise<McpAuthorisation | undefined> {
  const query = db.selectFrom('mcp_authorisations').selectAll().where('project_id', 'in', projectIds)
  const row = await query.where('id', '=', id).executeTakeFirst()
  return row && { ...row, role: parseRole(row.role) }
}

export async function updateMcpAuthorisationUse(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable('mcp_authorisations').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** Also deletes its codes and tokens; null when it does not exist any more. Returns the hashes of the tokens. */
export async function deleteMcpAuthorisation(db: Db, id: string): Promise<string[] | null> {
  const tokens = await db.selectFrom('mcp_tokens').select('hash').where('authorisation_id', '=', id).execute()
  const deleted = await db.deleteFrom('mcp_authorisations').where('id', '=', id).returning('id').execute()
  return deleted.length > 0 ? tokens.map(({ hash }) => hash) : null
}

// Codes and tokens

export async function insertMcpCode(db: Db, row: McpCodeRow): Promise<void> {
  await db.insertInto('mcp_codes').values(row).execute()
}

export async function findMcpCode(db: Db, hash: string, now: string) {
  return db
    .selectFrom('mcp_codes')
    .innerJoin('mcp_authorisations', 'mcp_authorisations.id', 'mcp_codes.authorisation_id')
    .selectAll('mcp_codes')
    .select(['mcp_authorisations.app_id', 'mcp_authorisations.project_id', 'mcp_authorisations.member_id'])
    .select('mcp_authorisations.role')
    .where('mcp_codes.hash', '=', hash)
    .where('mcp_codes.expires_at', '>', now)
    .executeTakeFirst()
}

/** False when the code was used before. */
export async function updateMcpCodeAsUsed(db: Db, hash: string, now: string): Promise<boolean> {
  const query = db.updateTable('mcp_codes').set({ used_at: now }).where('hash', '=', hash).where('used_at', 'is', null)
  return (await query.returning('hash').execute()).length > 0
}

export async function insertMcpTokens(db: Db, rows: McpTokenRow[]): Promise<void> {
  await db.insertInto('mcp_tokens').values(rows).execute()
}

/** A token with its authorisation. */
export async function findMcpToken(db: Db, hash: string, now: string) {
  return db
    .selectFrom('mcp_tokens')
    .innerJoin('mcp_authorisations', 'mcp_authorisations.id', 'mcp_tokens.authorisation_id')
    .selectAll('mcp_tokens')
    .select(['mcp_authorisations.app_id', 'mcp_authorisations.project_id', 'mcp_authorisations.member_id'])
    .select('mcp_authorisations.role')
    .where('mcp_tokens.hash', '=', hash)
    .where('mcp_tokens.expires_at', '>', now)
    .executeTakeFirst()
}

/** False when the refresh token was used before. */
export async function updateMcpTokenAsUsed(db: Db, hash: string, now: string): Promise<boolean> {
  const query = db.updateTable('mcp_tokens').set({ used_at: now }).where('hash', '=', hash).where('used_at', 'is', null)
  return (await query.returning('hash').execute()).length > 0
}

/** What an access token gives access to, with the current role of its member. */
export const findMcpAccess = prepareQuery<
  { hash: string; now: string },
  Pick<McpAuthorisationRow, 'project_id' | 'member_id' | 'role'> & { member_role: MemberRow['role'] } & Pick<
      ProjectRow,
      'org_id' | 'slug' | 'wedges' | 'tier'
    >
>((db, arg) =>
  db
    .selectFrom('mcp_tokens')
    .innerJoin('mcp_authorisations', 'mcp_authorisations.id', 'mcp_tokens.authorisation_id')
    .innerJoin('members', 'members.id', 'mcp_authorisations.member_id')
    .innerJoin('projects', 'projects.id', 'mcp_authorisations.project_id')
    .select(['mcp_authorisations.project_id', 'mcp_authorisations.member_id', 'mcp_authorisations.role'])
    .select(['members.role as member_role', 'projects.org_id', 'projects.slug', 'projects.wedges', 'projects.tier'])
    .where('mcp_tokens.hash', '=', arg('hash'))
    .where('mcp_tokens.kind', '=', 'access')
    .where('mcp_tokens.expires_at', '>', arg('now')),
)

/** Also deletes authorisations that have neither a code nor a token left. */
export async function deleteExpiredMcpTokens(db: Db, now: string): Promise<void> {
  await db.deleteFrom('mcp_codes').where('expires_at', '<=', now).execute()
  await db.deleteFrom('mcp_tokens').where('expires_at', '<=', now).execute()
  await db
    .deleteFrom('mcp_authorisations')
    .where('id', 'not in', (eb) => eb.selectFrom('mcp_codes').select('authorisation_id'))
    .where('id', 'not in', (eb) => eb.selectFrom('mcp_tokens').select('authorisation_id'))
    .execute()
}
