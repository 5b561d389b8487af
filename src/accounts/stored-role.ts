import { ROLES, type Role } from '../ctx/scope.ts'

export function parseRole(text: string): Role {
  const role = ROLES.find((role) => role === text)
  if (!role) throw new Error(`the store has an unknown role '${text}'`)
  return role
}
