import { badRequest, forbidden, notFound } from '../base/problem.ts'
import type { Wedge } from '../base/wedge.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { allowanceOf, slugs } from './rows.ts'

type Writer = Pick<ProjectScope, 'projectId' | 'allowance'>

/** The wedge that a request's body names. May look into the folder, so it is called before a transaction. */
export async function requireWedge(ctx: Ctx, scope: Writer, slug: string): Promise<Wedge> {
  return (await wedgeAndTier(ctx, scope, slug)).wedge
}

/** The same inside a transaction, which must not wait for the folder: the wedge as it was read last. */
export async function requireWedgeOnShelf(tx: Tx, scope: Writer, slug: string): Promise<Wedge> {
  const wedge = tx.wedges.get(slug)
  if (!wedge) throw unknownWedge(slug)
  await requireEnabled(tx, scope, slug)
  return wedge
}

/** The wedge, with the tier of models that the project may use. */
export async function wedgeAndTier(ctx: Ctx, scope: Writer, slug: string): Promise<{ wedge: Wedge; tier: string }> {
  const wedge = await ctx.wedges.find(slug)
  if (!wedge) throw unknownWedge(slug)
  return { wedge, tier: await requireEnabled(ctx, scope, slug) }
}

const unknownWedge = (slug: string) => badRequest(`unknown wedge '${slug.slice(0, 100)}'`)

/** The wedge that a path names. */
export async function wedgeAt(ctx: Ctx, slug: string): Promise<Wedge> {
  const wedge = await ctx.wedges.find(slug)
  if (!wedge) throw notFound('wedge')
  return wedge
}

/** The wedge that the path of a write names. */
export async function enabledWedgeAt(ctx: Ctx, scope: Writer, slug: string): Promise<Wedge> {
  const wedge = await wedgeAt(ctx, slug)
  await requireEnabled(ctx, scope, slug)
  return wedge
}

/** `wedges` is a project's list of slugs; without a list every wedge is enabled. */
export function isEnabled(wedges: string[] | null, slug: string): boolean {
  return wedges === null || wedges.includes(slug)
}

async function requireEnabled(ctx: Ctx, scope: Writer, slug: string): Promise<string> {
  const { wedges, tier } = scope.allowance ?? (await allowanceOf(ctx.db, scope.projectId))
  if (!isEnabled(slugs(wedges), slug)) throw forbidden(`wedge '${slug}' is not enabled for this project`)
  return tier
}
