import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { sessionQuery } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { approverNames, isApprover, isExcluded } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.people

/** Shows its children to members and keys that may decide, and to all others `request` with the reason why they may not. */
export function RequireApprover({
  approval,
  request = null,
  children,
}: {
  approval: Approval
  request?: ReactNode
  children: ReactNode
}) {
  const { data: session } = useQuery(sessionQuery)
  const readOnly = (hint: ReactNode) => (
    <div className="flex flex-col gap-3">
      {request}
      {hint}
    </div>
  )
  if (session && isExcluded(approval, session)) return readOnly(<p className="text-muted">{text.excluded}</p>)
  if (session && !isApprover(approval, session))
    return readOnly(<RoleHint>{text.onlyApprovers(approverNames(approval))}</RoleHint>)
  return (
    <RequireRole minRole="operator" fallback={readOnly(<RoleHint>{approvalsText.roleHint}</RoleHint>)}>
      {children}
    </RequireRole>
  )
}
