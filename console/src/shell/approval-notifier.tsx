import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { approvalsQuery } from '../api/queries.ts'
import type { Approval } from '../api/types.ts'
import { approvalSummary } from '../pages/approvals/approval-summary.ts'
import { useHasRole } from '../ui/role.tsx'
import { showToast } from '../ui/toast.tsx'

/**
 * Tells of each new approval, those who can decide: by the browser when nobody looks at this tab and notices are
 * allowed, else on the page.
 */
export function ApprovalNotifier() {
  const { data } = useQuery(approvalsQuery('pending'))
  const router = useRouter()
  const mayDecide = useHasRole()('operator')
  const known = useRef<Set<string> | null>(null)
  useEffect(() => {
    if (!data) return
    const before = known.current
    known.current = new Set([...(before ?? []), ...data.map(({ approval_id }) => approval_id)])
    // What waits already when the console opens is no news.
    if (!before || !mayDecide) return
    for (const approval of data.filter(({ approval_id }) => !before.has(approval_id))) {
      notifyApproval(approval, () => void router.navigate({ to: '/approvals', search: { id: approval.approval_id } }))
    }
  }, [data, router, mayDecide])
  useEffect(() => {
    const waiting = data?.length ?? 0
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}Agent Work Service`
  }, [data])
  return null
}

function notifyApproval(approval: Approval, open: () => void): void {
  const sentence = approvalSummary(approval)
  if (!document.hidden || typeof Notification === 'undefined' || Notification.permission !== 'granted') {
    showToast(`Waits for you: ${sentence}`)
    return
  }
  const notice = new Notification('Waits for your decision', { body: sentence, tag: approval.approval_id })
  notice.addEventListener('click', () => {
    window.focus()
    open()
    notice.close()
  })
}
