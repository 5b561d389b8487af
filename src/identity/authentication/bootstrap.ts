import { newToken } from '../../platform/base/tokens.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { ensureFirstOrganisation } from '../organisations/first-organisation.ts'
import { addApiKey } from './keys.ts'
import { findFirstProject } from '../organisations/project-rows.ts'

/**
 * Every start runs this. The first start creates an organisation with a project and an API key, so that the service can
 * be used at once. It returns the key unless SVC_FOUNDER_API_KEY set it.
 *
 * The organisation has no member yet: the first sign-up claims it (see signup.ts).
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
