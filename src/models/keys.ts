import type { Ctx } from '../ctx/ctx.ts'

export const KEYS = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' } as const
export const ADDRESSES = { anthropic: 'ANTHROPIC_BASE_URL', openai: 'OPENAI_BASE_URL' } as const

/** Told at the start, or the first task would find it out. Somebody's own gateway may need none. */
export function warnOfMissingKeys({ config, world }: Pick<Ctx, 'config' | 'world'>): void {
  for (const provider of ['anthropic', 'openai'] as const) {
    const used = Object.values(config.models).some((model) => model?.startsWith(`${provider}/`))
    if (!used || world.env(KEYS[provider]) || world.env(ADDRESSES[provider])) continue
    world.log.warn(`${KEYS[provider]} is not set: ${provider} will refuse every call of its models`)
  }
}
