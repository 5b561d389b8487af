import { type Role, ROLES } from '../ctx/scope.ts'
import type { Route } from './route.ts'

/** The description of an operation. The role is added here, so that none can name another one than the service checks. */
export function describeCall(
  { description = '', role }: Pick<Route<never>, 'description' | 'role'>,
  needsRole: boolean,
): string {
  return [description, ...(needsRole ? [describeRole(role)] : [])].join(' ')
}

function describeRole(role: Role): string {
  if (role === 'viewer') return 'Every role may call it.'
  return `Needs the role ${ROLES.slice(ROLES.indexOf(role)).join(' or ')}.`
}
