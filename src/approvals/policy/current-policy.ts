import { hash } from 'node:crypto'
import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict } from '../../platform/base/problem.ts'
import type { PolicyRule, Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { Db } from '../../platform/store/store.ts'
import type { WedgePolicyRow } from '../../platform/store/tables.ts'
import { findNewestPolicy, insertPolicyVersion } from './policy-rows.ts'

/** The auto-approve rules that a project has for a wedge. */
export interface Policy {
  rules: PolicyRule[]
  /** The version that the project saved; null: the rules are those of the wedge's folder. */
  savedVersion: number | null
  /** The newest version, also if it went back to the rules of the folder; null: none was ever saved. */
  version: number | null
}

/** The only place that decides which rules apply. Saved rules replace all rules of the folder, for this project only. */
export async function findPolicy(db: Db, projectId: string, wedge: Wedge): Promise<Policy> {
  const [saved] = await findNewestPolicy(db, { project_id: projectId, wedge: wedge.slug })
  const rules = saved && parseRules(saved)
  return {
    rules: rules ?? wedge.manifest.policy.auto_approve,
    savedVersion: saved && rules ? saved.version : null,
    version: saved?.version ?? null,
  }
}

export const parseRules = ({ auto_approve }: Pick<WedgePolicyRow, 'auto_approve'>): PolicyRule[] | null =>
  auto_approve && JSON.parse(auto_approve)

/** Saves rules as a new version. 409 if `basedOn` is given and is no longer the newest version. */
export function savePolicy(
  ctx: Ctx,
  scope: ProjectScope,
  wedge: Wedge,
  { rules, basedOn }: { rules: PolicyRule[]; basedOn: number | null | undefined },
): Promise<void> {
  return inTx(ctx, async (tx) => {
    const { version } = await lockPolicy(tx, scope, wedge)
    if (basedOn !== undefined && basedOn !== version) throw outdatedPolicy(version)
    const json = JSON.stringify(rules)
    const row = await insertNextVersion(tx, scope, wedge, version, json)
    const data = { version: row.version, rules: rules.length, rules_sha256: hash('sha256', json) }
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'policy.saved', wedge.slug, data)
  })
}

/** Goes back to the rules of the wedge's folder, as a new version. Changes nothing if they apply already. */
export function resetPolicy(ctx: Ctx, scope: ProjectScope, wedge: Wedge): Promise<void> {
  return inTx(ctx, async (tx) => {
    const { version, savedVersion } = await lockPolicy(tx, scope, wedge)
    if (savedVersion === null) return
    const row = await insertNextVersion(tx, scope, wedge, version, null)
    const data = { version: row.version }
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'policy.reset', wedge.slug, data)
  })
}

/** The lock keeps two changes from getting the same version. */
async function lockPolicy(tx: Tx, { projectId }: ProjectScope, wedge: Wedge): Promise<Policy> {
  await lockProject(tx.db, projectId)
  return findPolicy(tx.db, projectId, wedge)
}

async function insertNextVersion(
  tx: Tx,
  { projectId, actor }: ProjectScope,
  { slug }: Wedge,
  version: number | null,
  auto_approve: string | null,
): Promise<WedgePolicyRow> {
  const row: WedgePolicyRow = {
    project_id: projectId,
    wedge: slug,
    version: (version ?? 0) + 1,
    auto_approve,
    actor_kind: actor.kind,
    actor_id: actor.id,
    created_at: isoNow(tx),
  }
  await insertPolicyVersion(tx.db, row)
  return row
}

const outdatedPolicy = (version: number | null) =>
  conflict(
    version === null
      ? "no policy is saved for this wedge: read it again, and send 'based_on' as null"
      : `the policy was changed and is at version ${version} now: read it again before you save`,
  )
