import { z } from 'zod'
import { ROLES } from '../../platform/ctx/scope.ts'
import type { OrganisationRow } from '../../platform/store/tables.ts'
import type { ApiKey } from './credential-rows.ts'
import type { Member } from '../organisations/member-rows.ts'
import type { Project } from '../organisations/project-rows.ts'

export const OrganisationView = z
  .object({ id: z.string(), name: z.string(), created_at: z.string() })
  .meta({ id: 'Organisation' })

export const ProjectView = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    tier: z.string(),
    wedges: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The enabled wedges; null means all, including future ones.' }),
    created_at: z.string(),
  })
  .meta({ id: 'Project' })

export const ProjectDetailView = ProjectView.extend({
  stored_bytes: z.number().meta({
    description:
      'Records, files and events. Those of a running task are counted when it ends, or after every 10,000 events.',
  }),
  max_stored_bytes: z.number().nullable().meta({ description: 'The limit of `SVC_MAX_PROJECT_MB`; null: none.' }),
}).meta({ id: 'ProjectDetail' })

export const NamedActorView = z.object({ kind: z.string(), id: z.string(), name: z.string().nullable() }).meta({
  id: 'NamedActor',
  description: 'A member, an API key, a client or the service. `name` is null if it has none.',
})

export const MemberView = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum(ROLES),
    status: z.enum(['invited', 'active']),
    created_at: z.string(),
  })
  .meta({ id: 'Member' })

export const KeyView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    hint: z.string(),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
  })
  .meta({ id: 'Key' })

export const KeyWithSecretView = KeyView.extend({ key: z.string() }).meta({ id: 'KeyWithSecret' })

export const SignInResultView = z
  .object({
    session_token: z.string(),
    expires_at: z.string(),
    member: MemberView,
    organisation: OrganisationView,
    projects: z.array(ProjectView),
  })
  .meta({ id: 'SignInResult' })

export const SignupView = z
  .object({
    has_owner: z.boolean().meta({ description: 'False until the first sign-up, which needs the founder key.' }),
    open: z.boolean().meta({ description: 'Whether anyone can sign up (`SVC_OPEN_SIGNUP`).' }),
  })
  .meta({ id: 'SignupState' })

export const SessionView = z
  .object({
    member: MemberView.nullable(),
    key: KeyView.nullable(),
    organisation: OrganisationView,
    projects: z.array(ProjectView),
    role: z.enum(ROLES),
  })
  .meta({ id: 'Session' })

export const InviteView = z
  .object({ member: MemberView, invite: z.string(), expires_at: z.string() })
  .meta({ id: 'Invite' })

export function toOrganisationView({ id, name, created_at }: OrganisationRow): z.output<typeof OrganisationView> {
  return { id, name, created_at }
}

export function toProjectView({ id, name, slug, tier, wedges, created_at }: Project): z.output<typeof ProjectView> {
  return { id, name, slug, tier, wedges, created_at }
}

export function toMemberView(member: Member): z.output<typeof MemberView> {
  const { id, email, name, role, password, created_at } = member
  return { id, email, name, role, status: password === null ? 'invited' : 'active', created_at }
}

export function toKeyView(key: ApiKey): z.output<typeof KeyView> {
  const { id, project_id, name, role, hint, created_at, last_used_at } = key
  return { id, project_id, name, role, hint, created_at, last_used_at }
}
