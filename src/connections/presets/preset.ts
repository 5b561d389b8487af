import { z } from 'zod'
import type { JsonObject } from '../../platform/base/json.ts'
import { slugSchema } from '../../platform/contract/wedge/wedge-manifest.ts'
import { jsonObject } from '../../platform/http/validate.ts'

const text = z.string().min(1)

/** A value that the person who connects gives, such as the name of a shop. It replaces `{{name}}` in the config. */
const PresetParam = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]*$/),
  title: text,
  description: text,
  type: z.enum(['string', 'number']),
  /** A regular expression; without one, everything but braces is allowed. */
  pattern: z.string().optional(),
  example: z.union([z.string(), z.number()]),
  /** A parameter without a default is required. */
  default: z.union([z.string(), z.number()]).optional(),
})
export type PresetParam = z.infer<typeof PresetParam>

/** The format of `presets/<preset>.json`: everything about a service that is the same for all of its users. */
export const Preset = z.strictObject({
  preset: slugSchema,
  title: text,
  description: text,
  kind: z.enum(['custom', 'email']),
  docs: z.url({ protocol: /^https$/ }),
  /** What to store as the secret of the connection, and where to find it. */
  secret: z.strictObject({ label: text, where: text }),
  params: z.array(PresetParam),
  config: jsonObject,
})
export type Preset = z.infer<typeof Preset>

export type PresetParamValues = Record<string, string | number>

/** The config of a connection that uses the preset; `config` of the request replaces single keys of it. */
export interface PresetRequest {
  params: PresetParamValues
  config: JsonObject
}
