import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { messageOf } from '../../api/http.ts'
import { approvalQuery, approvalsQuery } from '../../api/queries.ts'
import type { Approval, ApprovalStatus } from '../../api/types.ts'
import type { ApprovalsSearch } from '../../address.ts'
import { useKeys } from '../../shell/keys.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Empty, Failure, Waiting } from '../../ui/empty.tsx'
import { useMay } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ApprovalList, toggle, toggleAll } from './approval-list.tsx'
import { BatchPanel } from './batch-panel.tsx'
import { ApprovalCard } from './card.tsx'
import { NotifyButton } from './notify.tsx'
import { SuggestRule } from './suggest.tsx'
import { useBatch } from './use-batch.ts'

const route = getRouteApi('/shell/approvals')

const TABS: { value: ApprovalStatus; label: string }[] = [
  { value: 'pending', label: 'Waiting' },
  { value: 'approved', label: 'Approved' },
  { value: 'auto_approved', label: 'Passed by policy' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'expired', label: 'Expired' },
]

export function Inbox() {
  const { status = 'pending', id } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPending } = useQuery(approvalsQuery(status))
  const batch = useBatch()
  // What runs out first comes first; what is decided, newest first.
  const approvals = status === 'pending' ? (data?.toReversed() ?? []) : (data ?? [])
  const at = id === undefined ? 0 : approvals.findIndex(({ approval_id }) => approval_id === id)
  const asked = useAsked(data && at < 0 ? id : undefined)
  const chosen = useStaying(approvals[at] ?? asked.data, id)
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
  const mayDecide = useMay()('operator')
  const picking = status === 'pending' && mayDecide ? batch : null
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ...(picking && { x: () => chosen?.status === 'pending' && toggle(batch, chosen) }),
    ...(picking && { X: () => toggleAll(batch, approvals) }),
  })
  return (
    <Page title="Approvals" actions={mayDecide && <NotifyButton />}>
      <StatusTabs />
      {(error ?? asked.error) && <Failure message={messageOf(error ?? asked.error)} />}
      {(isPending || (asked.isLoading && !chosen)) && <Waiting className="h-96" />}
      {data && !chosen && !asked.isLoading && batch.picked.length === 0 && <NothingWaits status={status} />}
      {(chosen || batch.picked.length > 0) && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[22rem_minmax(0,48rem)]">
          <div className="flex min-w-0 flex-col gap-4 xl:col-start-2">
            {batch.picked.length > 0 && <BatchPanel batch={batch} onClear={clear} />}
            {chosen && (
              <ApprovalCard
                key={chosen.approval_id}
                approval={chosen}
                onDecided={batch.picked.length > 0 ? null : () => choose(approvals[at + 1] ?? approvals[at - 1])}
              />
            )}
            {chosen?.status === 'pending' && <SuggestRule approval={chosen} />}
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
function useAsked(id: string | undefined) {
  return useQuery({ ...approvalQuery(id ?? ''), enabled: id !== undefined })
}

/** What is open is shown as it last was until its own record is read again. */
function useStaying(found: Approval | undefined, id: string | undefined): Approval | undefined {
  const last = useRef(found)
  useEffect(() => {
    if (found) last.current = found
  }, [found])
  return found ?? (last.current?.approval_id === id ? last.current : undefined)
}

function withId({ status }: ApprovalsSearch, id: string | undefined): ApprovalsSearch {
  return { ...(status && { status }), ...(id && { id }) }
}

function NothingWaits({ status }: { status: ApprovalStatus }) {
  const mayDecide = useMay()('operator')
  if (status !== 'pending') return <Empty title={`Nothing ${status.replaceAll('_', ' ')} yet`} />
  return (
    <Empty
      title={`Nothing waits for ${mayDecide ? 'you' : 'a decision'}`}
      action={
        <Link to="/run" search={{ wedge: 'refund-desk', task_type: 'handle_request' }} className={buttonClass('plain')}>
          Run a task that will ask
        </Link>
      }
    >
      When an agent wants to do something with an effect outside, it stops and asks here. It waits five minutes for an
      answer; then the task expires.
    </Empty>
  )
}
