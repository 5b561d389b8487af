import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { World } from '../../platform/ctx/world.ts'

export const PROVIDER_KEY_SETTINGS = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' } as const
export const PROVIDER_URL_SETTINGS = { anthropic: 'ANTHROPIC_BASE_URL', openai: 'OPENAI_BASE_URL' } as const

/** Logged at start, so that a missing key is known before the first task fails. */
export function warnAboutMissingModelKeys({ config, world }: Pick<Ctx, 'config' | 'world'>): void {
  for (const provider of ['anthropic', 'openai'] as const) {
    const used = Object.values(config.models)
      .flat()
      .some((model) => model.startsWith(`${provider}/`))
    const missing = used ? missingModelKeyWarning(world, provider) : null
    if (missing) world.log.warn(missing)
  }
}

/** Null if the key is set, or if a custom base URL is set: a gateway may need no key. */
export function missingModelKeyWarning(
  { env }: Pick<World, 'env'>,
  provider: keyof typeof PROVIDER_KEY_SETTINGS,
): string | null {
  if (env(PROVIDER_KEY_SETTINGS[provider]) || env(PROVIDER_URL_SETTINGS[provider])) return null
  return `${PROVIDER_KEY_SETTINGS[provider]} is not set: ${provider} will refuse every call of its models`
}
