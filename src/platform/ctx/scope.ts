/** The caller of a request and the projects that it can access. Every query of a feature is limited by a scope. */
export interface Scope {
  actor: Actor
  role: Role
  orgId: string
  /**
   * The project of an API key; for a member all projects of the organisation, or the one named by `X-SVC-Project`. Ids of
   * other projects do not exist for the caller.
   */
  projectIds: readonly string[]
  /** Read together with an API key, for its project; otherwise absent, and must be read from the project. */
  allowance?: ProjectAllowance | undefined
}

/** What a project may use. */
export interface ProjectAllowance {
  /** JSON list of enabled wedge slugs; null: all. */
  wedges: string | null
  /** The tier of models. */
  tier: string
}

/** A write belongs to exactly one project. */
export interface ProjectScope extends Scope {
  projectId: string
}

/** The scope of a client (a customer of the founder) on the client plane. */
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

/** From the fewest permissions to the most. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export const isRoleAtLeast = (role: Role, minimum: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(minimum)
