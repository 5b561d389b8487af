import { newToken } from '../base/tokens.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { foundingOrganisation } from './founding.ts'
import { addKey } from './keys.ts'
import { firstProject } from './project-rows.ts'

/**
 * Every start runs this. The first one makes an organisation with a project and a key to it, so that the service can be
 * used at once; the key is returned only then, and only when the deployment did not bring its own.
 *
 * The organisation has no member yet: the first sign-up adopts it (see signup.ts).
 */
export async function bootstrap(ctx: Ctx): Promise<{ key: string | null }> {
  const configured = ctx.config.founderApiKey
  const token = configured ?? newToken('founderKey', ctx.world.random)
  const isNew = await inTx(ctx, async (tx) => {
    const organisation = await foundingOrganisation(tx, SYSTEM)
    if (!organisation.isNew && !configured) return false
    const project = await firstProject(tx.db, organisation.id)
    await addKey(tx, SYSTEM, project.id, { name: 'founder key', role: 'admin', token })
    return true
  })
  return { key: isNew && !configured ? token : null }
}
