import { createContext, type ReactNode, useContext } from 'react'
import { type Role, ROLES } from '../api/types.ts'

/** The role of who is signed in; null while that is not known. */
const Held = createContext<Role | null>(null)
export const HeldRole = Held.Provider

/** Whether the role that is held is this one at least. Each control names the least role of the route that it calls. */
export function useMay(): (least: Role) => boolean {
  const held = useContext(Held)
  return (least) => held !== null && ROLES.indexOf(held) >= ROLES.indexOf(least)
}

/** What takes a role is offered to who has it; the others see what stands instead, or nothing. */
export function May({
  least,
  otherwise = null,
  children,
}: {
  least: Role
  otherwise?: ReactNode
  children: ReactNode
}) {
  return useMay()(least) ? children : otherwise
}

/** In the place of what somebody would look for: who can do it. */
export function OthersDo({ children }: { children: string }) {
  const held = useContext(Held)
  return (
    <p className="text-muted">
      Your role ({held}) may read; {children}.
    </p>
  )
}
