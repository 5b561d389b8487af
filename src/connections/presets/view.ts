import { z } from 'zod'
import { isJsonObject } from '../../platform/base/json.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { SEND_MAIL_TOOL } from '../mail/mail-payload.ts'
import { listOperationTools } from '../operations/connection-operations.ts'
import { applyPreset } from './apply-preset.ts'
import type { Preset } from './preset.ts'

const PresetOperationView = z.object({
  name: z.string(),
  description: z.string(),
  class: z.enum(['read', 'ask', 'off']),
  input_schema: jsonObject,
})

export const PresetView = z
  .object({
    preset: z.string(),
    title: z.string(),
    description: z.string(),
    kind: z.enum(['custom', 'email']),
    operations: z.array(PresetOperationView),
    auth: z.object({ type: z.string() }),
    secret: z.object({ label: z.string(), where: z.string() }),
    params: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        type: z.enum(['string', 'number']),
        pattern: z.string().nullable(),
        example: z.union([z.string(), z.number()]),
        default: z.union([z.string(), z.number()]).nullable(),
      }),
    ),
    docs: z.string(),
  })
  .meta({ id: 'Preset' })

export const PresetListView = z.object({ data: z.array(PresetView) }).meta({ id: 'PresetList' })

export function toPresetView(source: Preset): z.infer<typeof PresetView> {
  const { params, config: _, ...preset } = source
  // Operations are valid only with their parameters, so they are shown with the examples.
  const examples = Object.fromEntries(params.map(({ name, example }) => [name, example]))
  const config = applyPreset(source, { params: examples, config: {} })
  const tools = preset.kind === 'email' ? [SEND_MAIL_TOOL] : listOperationTools({ config })
  return {
    ...preset,
    operations: tools.map(({ name, description, class: use, inputSchema }) => ({
      name,
      description,
      class: use,
      input_schema: inputSchema,
    })),
    auth: { type: isJsonObject(config.auth) && typeof config.auth.type === 'string' ? config.auth.type : 'secret' },
    params: params.map((param) => ({ ...param, pattern: param.pattern ?? null, default: param.default ?? null })),
  }
}
