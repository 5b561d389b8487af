import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { approvalsQuery, waitsForTeamQuery } from '../api/queries.ts'
import type { Approval } from '../api/types.ts'
import { approvalSummary } from '../pages/approvals/approval-summary.ts'
import { useHasRole } from '../ui/role.tsx'
import { showToast } from '../ui/toast.tsx'
import { shellText } from './text.ts'

/**
 * Notifies members who can decide about each new approval: with a browser notification when the tab is hidden and
 * notifications are allowed, otherwise with a toast.
 */
export function ApprovalNotifier() {
  const { data } = useQuery(approvalsQuery('pending'))
  const router = useRouter()
  const canDecide = useHasRole()('operator')
  const known = useRef<Set<string> | null>(null)
  useEffect(() => {
    if (!data) return
    const before = known.current
    known.current = new Set([...(before ?? []), ...data.map(({ approval_id }) => approval_id)])
    // Approvals that were pending when the console opened are not announced.
    if (!before || !canDecide) return
    // The client answers a question to the client.
    for (const approval of data.filter(({ approval_id, to }) => to !== 'client' && !before.has(approval_id))) {
      notifyApproval(approval, () => void router.navigate({ to: '/approvals', search: { id: approval.approval_id } }))
    }
  }, [data, router, canDecide])
  const { data: waiting = 0 } = useQuery(waitsForTeamQuery)
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${shellText.productName}`
  }, [waiting])
  return null
}

function notifyApproval(approval: Approval, open: () => void): void {
  const summary = approvalSummary(approval)
  if (!document.hidden || typeof Notification === 'undefined' || Notification.permission !== 'granted') {
    showToast(approval.path === 'question' ? summary : shellText.approvalNeeded(summary))
    return
  }
  const title = approval.path === 'question' ? shellText.questionNotification : shellText.approvalNotification
  const notification = new Notification(title, { body: summary, tag: approval.approval_id })
  notification.addEventListener('click', () => {
    window.focus()
    open()
    notification.close()
  })
}
