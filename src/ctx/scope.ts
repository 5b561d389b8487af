/** Who asks, and which projects the question may reach. Every query of a feature takes one. */
export interface Scope {
  actor: Actor
  role: Role
  orgId: string
  /** One for a key; all of the organisation for a member, unless `X-SVC-Project` narrowed it. Never empty of meaning: an id outside of it does not exist. */
  projectIds: readonly string[]
  /** Of a key's one project, as it was read with the key; whoever does not find it here has to ask. */
  allowance?: ProjectAllowance | undefined
}

/** What a project may use: its wedges as a list in JSON, all of them where there is none, and its tier of models. */
export interface ProjectAllowance {
  wedges: string | null
  tier: string
}

/** A write happens in exactly one project, and reaches no other. */
export interface ProjectScope extends Scope {
  projectId: string
}

/** The founder's customer, on the client plane. */
export interface ClientScope {
  actor: Actor
  projectId: string
  clientId: string
}

export type ActorKind = 'key' | 'member' | 'client' | 'task' | 'system'
export interface Actor {
  kind: ActorKind
  id: string
}

export const SYSTEM_ACTOR: Actor = { kind: 'system', id: 'system' }

/** From least to most. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export const isRoleAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least)
