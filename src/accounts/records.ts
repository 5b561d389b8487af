import { z } from 'zod'
import { ROLES } from '../ctx/scope.ts'
import type { Key } from './credential-rows.ts'
import type { Member } from './member-rows.ts'
import type { Organisation } from './organisation-rows.ts'
import type { Project } from './project-rows.ts'

/** What the API shows of each row: never a hash. */
export const OrganisationRecord = z.object({ id: z.string(), name: z.string(), created_at: z.string() })

export const ProjectRecord = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  tier: z.string(),
  wedges: z.array(z.string()).nullable().meta({ description: 'the enabled wedges; null: all' }),
  created_at: z.string(),
})

export const MemberRecord = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(ROLES),
  status: z.enum(['invited', 'active']),
  created_at: z.string(),
})

export const KeyRecord = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  hint: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
})

export function showOrganisation({ id, name, created_at }: Organisation): z.output<typeof OrganisationRecord> {
  return { id, name, created_at }
}

export function showProject({ id, name, slug, tier, wedges, created_at }: Project): z.output<typeof ProjectRecord> {
  return { id, name, slug, tier, wedges, created_at }
}

export function showMember(member: Member): z.output<typeof MemberRecord> {
  const { id, email, name, role, password, created_at } = member
  return { id, email, name, role, status: password === null ? 'invited' : 'active', created_at }
}

export function showKey(key: Key): z.output<typeof KeyRecord> {
  const { id, project_id, name, role, hint, created_at, last_used_at } = key
  return { id, project_id, name, role, hint, created_at, last_used_at }
}
