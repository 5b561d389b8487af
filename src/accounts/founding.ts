import { audit, beginChain } from '../audit/append.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { insertOrganisation, lockFounding, type Organisation } from './organisation-rows.ts'
import { insertProject } from './project-rows.ts'

/**
 * The organisation of the first start, made when there is none; locked until the commit, so of all that arrive at once
 * (replicas that start, people who sign up) one comes first and the others see what it did.
 */
export async function foundingOrganisation(tx: Tx, actor: Actor): Promise<Organisation & { isNew: boolean }> {
  const id = tx.world.newId('org')
  const isNew = await foundOrganisation(tx, actor, { id, name: 'default', founding: 1 })
  return { ...(await lockFounding(tx.db)), isNew }
}

/** An organisation with its first project; false when it was to be the founding one and that exists. */
export async function foundOrganisation(
  tx: Tx,
  actor: Actor,
  { id, name, founding }: Omit<Organisation, 'created_at'>,
): Promise<boolean> {
  const created_at = isoNow(tx)
  if (!(await insertOrganisation(tx.db, { id, name, created_at, founding }))) return false
  const project = { id: tx.world.newId('prj'), org_id: id, slug: 'default', name: 'default' }
  await insertProject(tx.db, { ...project, tier: 'default', wedges: null, created_at })
  await beginChain(tx, id)
  await beginChain(tx, project.id)
  await audit(tx, id, actor, 'organisation.created', id, { project: project.id })
  return true
}
