import { appendAuditEntry, createAuditChain } from '../../audit/append.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { OrganisationRow } from '../../platform/store/tables.ts'
import { insertOrganisation, lockFirstOrganisation } from './organisation-rows.ts'
import { insertProject } from './project-rows.ts'

/**
 * Returns the first organisation and creates it if it does not exist. It stays locked until the commit, so concurrent
 * starts and sign-ups run one after the other.
 */
export async function ensureFirstOrganisation(tx: Tx, actor: Actor): Promise<OrganisationRow & { isNew: boolean }> {
  const id = tx.world.newId('org')
  const isNew = await createOrganisation(tx, actor, { id, name: 'default', founding: 1 })
  return { ...(await lockFirstOrganisation(tx.db)), isNew }
}

/** Creates an organisation with one project; false when it is the first one and exists already. */
export async function createOrganisation(
  tx: Tx,
  actor: Actor,
  { id, name, founding }: Omit<OrganisationRow, 'created_at'>,
): Promise<boolean> {
  const created_at = isoNow(tx)
  if (!(await insertOrganisation(tx.db, { id, name, created_at, founding }))) return false
  const project = { id: tx.world.newId('prj'), org_id: id, slug: 'default', name: 'default' }
  await insertProject(tx.db, { ...project, tier: 'default', wedges: null, created_at })
  await createAuditChain(tx, id)
  await createAuditChain(tx, project.id)
  await appendAuditEntry(tx, id, actor, 'organisation.created', id, { project: project.id })
  return true
}
