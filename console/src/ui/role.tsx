import { createContext, type ReactNode, useContext } from 'react'
import { type Role, ROLES } from '../api/types.ts'
import { uiText } from './text.ts'

/** The role of the signed-in member or key; null until the session is loaded. */
const RoleContext = createContext<Role | null>(null)
export const RoleProvider = RoleContext.Provider

/** Checks for a minimum role. Each control names the minimum role of the route that it calls. */
export function useHasRole(): (minRole: Role) => boolean {
  const current = useContext(RoleContext)
  return (minRole) => current !== null && ROLES.indexOf(current) >= ROLES.indexOf(minRole)
}

/** Shows its children to members with at least this role, and the fallback to all others. */
export function RequireRole({
  minRole,
  fallback = null,
  children,
}: {
  minRole: Role
  fallback?: ReactNode
  children: ReactNode
}) {
  return useHasRole()(minRole) ? children : fallback
}

/** Replaces a control that the role does not allow. The children say which role to ask, as a full sentence. */
export function RoleHint({ children }: { children: string }) {
  const current = useContext(RoleContext)
  const lead = current === null || current === 'viewer' ? uiText.viewOnlyAccess : uiText.yourRole(current)
  return (
    <p className="text-muted">
      {lead} {children}
    </p>
  )
}
