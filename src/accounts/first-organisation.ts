import { appendAuditEntry, createAuditChain } from '../audit/append.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { insertOrganisation, lockFirstOrganisation, type Organisation } from './organisation-rows.ts'
import { insertProject } from './project-rows.ts'

/**
 * The organisation of the first start, made when there is none; locked until the commit, so of all that arrive at once
 * (replicas that start, people who sign up) one comes first and the others see what it did.
 */
export async function ensureFirstOrganisation(tx: Tx, actor: Actor): Promise<Organisation & { isNew: boolean }> {
  const id = tx.world.newId('org')
  const isNew = await createOrganisation(tx, actor, { id, name: 'default', founding: 1 })
  return { ...(await lockFirstOrganisation(tx.db)), isNew }
}

/** An organisation with its first project; false when it was to be the founding one and that exists. */
export async function createOrganisation(
  tx: Tx,
  actor: Actor,
  { id, name, founding }: Omit<Organisation, 'created_at'>,
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
