import { badRequest, forbidden, notFound } from '../base/problem.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { findProjectAllowance, parseWedgeList } from './rows.ts'

type WriterScope = Pick<ProjectScope, 'projectId' | 'allowance'>

/** The wedge that a request's body names. May look into the folder, so it is called before a transaction. */
export async function requireWedge(ctx: Ctx, scope: WriterScope, slug: string): Promise<Wedge> {
  return (await requireWedgeAndTier(ctx, scope, slug)).wedge
}

/** The same inside a transaction, which must not wait for the folder: the wedge as it was read last. */
export async function requireLoadedWedge(tx: Tx, scope: WriterScope, slug: string): Promise<Wedge> {
  const wedge = tx.wedges.get(slug)
  if (!wedge) throw unknownWedge(slug)
  await requireEnabled(tx, scope, slug)
  return wedge
}

/** The wedge, with the tier of models that the project may use. */
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

/** The wedge that a path names. */
export async function requirePathWedge(ctx: Ctx, slug: string): Promise<Wedge> {
  const wedge = await ctx.wedges.find(slug)
  if (!wedge) throw notFound('wedge')
  return wedge
}

/** The wedge that the path of a write names. */
export async function requireEnabledPathWedge(ctx: Ctx, scope: WriterScope, slug: string): Promise<Wedge> {
  const wedge = await requirePathWedge(ctx, slug)
  await requireEnabled(ctx, scope, slug)
  return wedge
}

/** `wedges` is a project's list of slugs; without a list every wedge is enabled. */
export function isWedgeEnabled(wedges: string[] | null, slug: string): boolean {
  return wedges === null || wedges.includes(slug)
}

async function requireEnabled(ctx: Ctx, scope: WriterScope, slug: string): Promise<string> {
  const { wedges, tier } = scope.allowance ?? (await findProjectAllowance(ctx.db, scope.projectId))
  if (!isWedgeEnabled(parseWedgeList(wedges), slug)) throw forbidden(`wedge '${slug}' is not enabled for this project`)
  return tier
}
