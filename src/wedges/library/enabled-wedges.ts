import { badRequest, forbidden, notFound } from '../../platform/base/problem.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { findProjectAllowance, parseWedgeList } from './rows.ts'

type WriterScope = Pick<ProjectScope, 'projectId' | 'allowance'>

/** The wedge in a request body. May read the wedges folder, so call it before a transaction. */
export async function requireWedge(ctx: Ctx, scope: WriterScope, slug: string): Promise<Wedge> {
  return (await requireWedgeAndTier(ctx, scope, slug)).wedge
}

/** Like `requireWedge` inside a transaction, which must not wait for files: uses the wedge that was loaded last. */
export async function requireLoadedWedge(tx: Tx, scope: WriterScope, slug: string): Promise<Wedge> {
  const wedge = tx.wedges.get(slug)
  if (!wedge) throw unknownWedge(slug)
  await requireEnabled(tx, scope, slug)
  return wedge
}

/** The wedge and the model tier of the project. */
export async function requireWedgeAndTier(
  ctx: Ctx,
  scope: WriterScope,
  slug: string,
): Promise<{ wedge: Wedge; tier: string }> {
  const wedge = await ctx.wedges.find(slug)
  if (!wedge) throw unknownWedge(slug)
  return { wedge, tier: await requireEnabled(ctx, scope, slug) }
}

const unknownWedge = (slug: string) => badRequest(`unknown wedge '${slug.slice(0, 100)}'`)

/** The wedge in the path of a request. */
export async function requirePathWedge(ctx: Ctx, slug: string): Promise<Wedge> {
  const wedge = await ctx.wedges.find(slug)
  if (!wedge) throw notFound('wedge')
  return wedge
}

/** The wedge in the path of a write, which must be enabled. */
export async function requireEnabledPathWedge(ctx: Ctx, scope: WriterScope, slug: string): Promise<Wedge> {
  const wedge = await requirePathWedge(ctx, slug)
  await requireEnabled(ctx, scope, slug)
  return wedge
}

/** `wedges` is the project's list; without a list every wedge is enabled. */
export function isWedgeEnabled(wedges: string[] | null, slug: string): boolean {
  return wedges === null || wedges.includes(slug)
}

async function requireEnabled(ctx: Ctx, scope: WriterScope, slug: string): Promise<string> {
  const { wedges, tier } = scope.allowance ?? (await findProjectAllowance(ctx.db, scope.projectId))
  if (!isWedgeEnabled(parseWedgeList(wedges), slug)) throw forbidden(`wedge '${slug}' is not enabled for this project`)
  return tier
}
