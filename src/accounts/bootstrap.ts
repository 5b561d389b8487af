import { newToken } from '../base/tokens.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { ensureFirstOrganisation } from './first-organisation.ts'
import { addApiKey } from './keys.ts'
import { findFirstProject } from './project-rows.ts'

/**
 * Every start runs this. The first one makes an organisation with a project and a key to it, so that the service can be
 * used at once; the key is returned only then, and only when the deployment did not bring its own.
 *
 * The organisation has no member yet: the first sign-up adopts it (see signup.ts).
 */
export async function bootstrapOrganisation(ctx: Ctx): Promise<{ key: string | null }> {
  const configured = ctx.config.founderApiKey
  const token = configured ?? newToken('founderKey', ctx.world.random)
  const isNew = await inTx(ctx, async (tx) => {
    const organisation = await ensureFirstOrganisation(tx, SYSTEM_ACTOR)
    if (!organisation.isNew && !configured) return false
    const project = await findFirstProject(tx.db, organisation.id)
    await addApiKey(tx, SYSTEM_ACTOR, project.id, { name: 'founder key', role: 'admin', token })
    return true
  })
  return { key: isNew && !configured ? token : null }
}
