import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { errorMessage } from '../../api/http.ts'
import { approvalQuery, approvalsQuery } from '../../api/queries.ts'
import type { Approval, ApprovalStatus } from '../../api/types.ts'
import type { ApprovalsSearch } from '../../search-params.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { useHasRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ApprovalList, toggleSelected, toggleAllSelected } from './approval-list.tsx'
import { BatchPanel } from './batch-panel.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { NotifyButton } from './notify-button.tsx'
import { RuleSuggestion } from './rule-suggestion.tsx'
import { useApprovalBatch } from './use-approval-batch.ts'

const route = getRouteApi('/shell/approvals')

const TABS: { value: ApprovalStatus; label: string }[] = [
  { value: 'pending', label: 'Waiting' },
  { value: 'approved', label: 'Approved' },
  { value: 'auto_approved', label: 'Passed by policy' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'expired', label: 'Expired' },
]

export function ApprovalsPage() {
  const { status = 'pending', id } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPending } = useQuery(approvalsQuery(status))
  const batch = useApprovalBatch()
  // What runs out first comes first; what is decided, newest first.
  const approvals = status === 'pending' ? (data?.toReversed() ?? []) : (data ?? [])
  const at = id === undefined ? 0 : approvals.findIndex(({ approval_id }) => approval_id === id)
  const asked = useLinkedApproval(data && at < 0 ? id : undefined)
  const chosen = useLastShown(approvals[at] ?? asked.data, id)
  const choose = (approval: Approval | undefined) => {
    void navigate({ search: (old) => withId(old, approval?.approval_id), replace: true })
    // On a phone the list stands below the one that is open.
    window.scrollTo(0, 0)
  }
  // The address names what is open: what others decide or time ends meanwhile puts no other question under the finger.
  const first = id === undefined ? approvals[0] : undefined
  useEffect(() => {
    if (first) void navigate({ search: (old) => withId(old, first.approval_id), replace: true })
  }, [first, navigate])
  const step = (by: 1 | -1) => approvals[at + by] && choose(approvals[at + by])
  const clear = () => {
    batch.clear()
    // What was open is answered now; the next one takes its place.
    if (batch.outcomes.size > 0) choose(undefined)
  }
  const mayDecide = useHasRole()('operator')
  const picking = status === 'pending' && mayDecide ? batch : null
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    ...(picking && { x: () => chosen?.status === 'pending' && toggleSelected(batch, chosen) }),
    ...(picking && { X: () => toggleAllSelected(batch, approvals) }),
  })
  return (
    <Page title="Approvals" actions={mayDecide && <NotifyButton />}>
      <StatusTabs />
      {(error ?? asked.error) && <ErrorMessage message={errorMessage(error ?? asked.error)} />}
      {(isPending || (asked.isLoading && !chosen)) && <Placeholder className="h-96" />}
      {data && !chosen && !asked.isLoading && batch.selected.length === 0 && <NoApprovals status={status} />}
      {(chosen || batch.selected.length > 0) && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[22rem_minmax(0,48rem)]">
          <div className="flex min-w-0 flex-col gap-4 xl:col-start-2">
            {batch.selected.length > 0 && <BatchPanel batch={batch} onClear={clear} />}
            {chosen && (
              <ApprovalCard
                key={chosen.approval_id}
                approval={chosen}
                onDecided={batch.selected.length > 0 ? null : () => choose(approvals[at + 1] ?? approvals[at - 1])}
              />
            )}
            {chosen?.status === 'pending' && <RuleSuggestion approval={chosen} />}
          </div>
          <div className="xl:col-start-1 xl:row-start-1">
            <ApprovalList approvals={approvals} chosen={chosen} batch={picking} onChoose={choose} />
          </div>
        </div>
      )}
    </Page>
  )
}

function StatusTabs() {
  const { data: waiting } = useQuery(approvalsQuery('pending'))
  const { status = 'pending' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Tabs
      label="Approvals by status"
      value={status}
      onChange={(to) => void navigate({ search: to === 'pending' ? {} : { status: to } })}
      tabs={TABS.map((tab) => ({ ...tab, ...(tab.value === 'pending' && { count: waiting?.length ?? 0 }) }))}
    />
  )
}

/** One that the address names and the list does not have: decided meanwhile, or linked from elsewhere. */
function useLinkedApproval(id: string | undefined) {
  return useQuery({ ...approvalQuery(id ?? ''), enabled: id !== undefined })
}

/** What is open is shown as it last was until its own record is read again. */
function useLastShown(found: Approval | undefined, id: string | undefined): Approval | undefined {
  const last = useRef(found)
  useEffect(() => {
    if (found) last.current = found
  }, [found])
  return found ?? (last.current?.approval_id === id ? last.current : undefined)
}

function withId({ status }: ApprovalsSearch, id: string | undefined): ApprovalsSearch {
  return { ...(status && { status }), ...(id && { id }) }
}

function NoApprovals({ status }: { status: ApprovalStatus }) {
  const mayDecide = useHasRole()('operator')
  if (status !== 'pending') return <EmptyState title={`Nothing ${status.replaceAll('_', ' ')} yet`} />
  return (
    <EmptyState
      title={`Nothing waits for ${mayDecide ? 'you' : 'a decision'}`}
      action={
        <Link to="/run" search={{ wedge: 'refund-desk', task_type: 'handle_request' }} className={buttonClass('plain')}>
          Run a task that will ask
        </Link>
      }
    >
      When an agent wants to do something with an effect outside, it stops and asks here. It waits five minutes for an
      answer; then the task expires.
    </EmptyState>
  )
}
