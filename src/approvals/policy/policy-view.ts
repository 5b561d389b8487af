import { z } from 'zod'
import type { NamedActor } from '../../identity/organisations/actor-name-rows.ts'
import { NamedActorView } from '../../identity/authentication/view.ts'
import { PolicyRule } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { WedgePolicyRow } from '../../platform/store/tables.ts'
import { type Policy, parseRules } from './current-policy.ts'

export const PolicyRuleView = PolicyRule.meta({ id: 'PolicyRule' })

const SOURCES = ['wedge', 'saved'] as const
const source = z.enum(SOURCES).meta({ description: "`wedge`: the rules of the wedge's folder apply." })

export const PolicyView = z
  .object({
    version: z.number().int().nullable().meta({ description: 'The newest version; null: none was ever saved.' }),
    source,
    auto_approve: z.array(PolicyRuleView).meta({ description: 'The rules that apply in this project now.' }),
    created_at: z.string().nullable(),
    created_by: NamedActorView.nullable(),
    versions: z
      .array(
        z.object({
          version: z.number().int(),
          source,
          rule_count: z.number().int().nullable().meta({ description: "Null for the rules of the wedge's folder." }),
          created_at: z.string(),
          created_by: NamedActorView.nullable(),
        }),
      )
      .meta({ description: 'The newest 20 versions, newest first.' }),
  })
  .meta({ id: 'Policy' })

/** `rows` are the newest versions, newest first. */
export function toPolicyView(
  { rules, version, savedVersion }: Policy,
  rows: readonly WedgePolicyRow[],
  nameOf: (kind: string | null, id: string | null) => NamedActor | null,
): z.infer<typeof PolicyView> {
  const versions = rows.map((row) => {
    const saved = parseRules(row)
    return {
      version: row.version,
      source: toSource(saved !== null),
      rule_count: saved?.length ?? null,
      created_at: row.created_at,
      created_by: nameOf(row.actor_kind, row.actor_id),
    }
  })
  return {
    version,
    source: toSource(savedVersion !== null),
    auto_approve: rules,
    created_at: versions[0]?.created_at ?? null,
    created_by: versions[0]?.created_by ?? null,
    versions,
  }
}

const toSource = (isSaved: boolean): (typeof SOURCES)[number] => (isSaved ? 'saved' : 'wedge')
