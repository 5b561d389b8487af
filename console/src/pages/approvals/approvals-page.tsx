import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../api/http.ts'
import { ApiError } from '../../api/request.ts'
import { approvalQuery, approvalsQuery, sessionQuery, waitsForTeamQuery } from '../../api/queries.ts'
import type { Approval, ApprovalStatus } from '../../api/types.ts'
import type { ApprovalsSearch } from '../../search-params.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { useHasRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { uiText } from '../../ui/text.ts'
import { ActionSuggestion } from '../wedges/rule-suggestions.tsx'
import { ApprovalList, toggleSelected, toggleAllSelected } from './approval-list.tsx'
import { BatchPanel } from './batch-panel.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { NotifyButton } from './notify-button.tsx'
import { approvalsText } from './text.ts'
import { useApprovalBatch } from './use-approval-batch.ts'

const route = getRouteApi('/shell/approvals')

const TABS: ApprovalStatus[] = ['pending', 'approved', 'auto_approved', 'rejected', 'expired']

export function ApprovalsPage() {
  const { status = 'pending', assignee, id } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPending } = useQuery(approvalsQuery(status, assignee))
  const batch = useApprovalBatch()
  // Pending approvals are ordered by expiry, decided ones by time, newest first.
  const approvals = status === 'pending' ? (data?.toReversed() ?? []) : (data ?? [])
  const first = approvals.find(({ held }) => !held) ?? approvals[0]
  const shownId = id ?? first?.approval_id
  const index = approvals.findIndex(({ approval_id }) => approval_id === shownId)
  const linked = useLinkedApproval(data && index < 0 ? id : undefined)
  const open = useLastShown(approvals[index] ?? linked.data, id)
  // If the URL names an approval that does not exist, the others can be opened.
  const hasOthers = !linked.isLoading && approvals.length > 0
  const show = (approval: Approval | undefined) => {
    void navigate({ search: (old) => withId(old, approval?.approval_id), replace: true })
    // On a phone the list is below the open approval.
    window.scrollTo(0, 0)
  }
  const areDetailsLoading = useIsFirstLoading(open?.approval_id)
  const isShown = useIsShown(open?.approval_id)
  const leave = ({ approval_id }: Approval) => isShown(approval_id) && show(findNeighbour(approvals, index))
  // A held approval leaves the list by itself, and then the page shows the next one.
  useInUrl(id === undefined && !first?.held ? first : undefined)
  const step = (by: 1 | -1) => approvals[index + by] && show(approvals[index + by])
  const clear = () => {
    batch.clear()
    // The open approval is decided now; the next one opens.
    if (batch.outcomes.size > 0) show(undefined)
  }
  const canDecide = useHasRole()('operator')
  const selection = status === 'pending' && canDecide ? batch : null
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    ...(selection && { x: () => open?.status === 'pending' && toggleSelected(batch, open) }),
    ...(selection && { X: () => toggleAllSelected(batch, approvals) }),
  })
  return (
    <Page title={approvalsText.title} actions={<PageActions canDecide={canDecide} />}>
      <StatusTabs />
      {(error ?? linked.error) && <ErrorMessage message={error ? errorMessage(error) : linkErrorText(linked.error)} />}
      {(isPending || areDetailsLoading || (linked.isLoading && !open)) && <Placeholder className="h-96" />}
      {data && !open && !linked.isLoading && approvals.length === 0 && batch.selected.length === 0 && (
        <NoApprovals status={status} />
      )}
      {!areDetailsLoading && (open || hasOthers || batch.selected.length > 0) && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[22rem_minmax(0,48rem)]">
          <div className="flex min-w-0 flex-col gap-4 xl:col-start-2">
            {batch.selected.length > 0 && <BatchPanel batch={batch} onClear={clear} />}
            {open && <ListPosition index={index} count={approvals.length} onStep={step} />}
            {open && <OpenApproval approval={open} onDecided={batch.selected.length > 0 ? null : () => leave(open)} />}
          </div>
          <div className={`xl:col-start-1 xl:row-start-1 ${batch.selected.length > 0 ? 'max-xl:pb-[60dvh]' : ''}`}>
            <ApprovalList approvals={approvals} open={open} batch={selection} onOpen={show} />
          </div>
        </div>
      )}
    </Page>
  )
}

function OpenApproval({ approval, onDecided }: { approval: Approval; onDecided: (() => void) | null }) {
  const { approval_id, status, wedge, action } = approval
  return (
    <>
      <ApprovalCard key={approval_id} approval={approval} onDecided={onDecided} />
      {status === 'pending' && <ActionSuggestion wedge={wedge} action={action} />}
    </>
  )
}

/** The next approval that still needs a decision, or else the one before it. */
const findNeighbour = (approvals: Approval[], index: number): Approval | undefined =>
  [...approvals.slice(index + 1), ...approvals.slice(0, Math.max(0, index)).toReversed()].find(({ held }) => !held)

/** For phones, where the list is below the open approval. An approval that was decided meanwhile has no position. */
function ListPosition({ index, count, onStep }: { index: number; count: number; onStep: (by: 1 | -1) => void }) {
  return (
    <nav aria-label={approvalsText.position} className="flex items-center gap-2 xl:hidden">
      <Button aria-label={approvalsText.previous} disabled={index <= 0} onClick={() => onStep(-1)}>
        <ChevronLeft size={16} aria-hidden />
      </Button>
      <span className="text-muted tabular-nums">{index >= 0 && approvalsText.positionOf(index + 1, count)}</span>
      <Button aria-label={approvalsText.next} disabled={index < 0 || index === count - 1} onClick={() => onStep(1)}>
        <ChevronRight size={16} aria-hidden />
      </Button>
    </nav>
  )
}

const linkErrorText = (error: unknown): string =>
  error instanceof ApiError && error.status === 404 ? approvalsText.notFound : errorMessage(error)

function PageActions({ canDecide }: { canDecide: boolean }) {
  return (
    <>
      <AssigneeFilter />
      {canDecide && <NotifyButton />}
    </>
  )
}

function StatusTabs() {
  const { data: waiting = null } = useQuery(waitsForTeamQuery)
  const { status = 'pending' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Tabs
      label={approvalsText.byStatus}
      value={status}
      onChange={(to) => void navigate({ search: (old) => withStatus(old, to) })}
      tabs={TABS.map((value) => ({
        value,
        label: uiText.approvalStatus[value],
        ...(value === 'pending' && { count: waiting }),
      }))}
    />
  )
}

/** An approval that the URL names and the list does not have: decided in the meantime, or linked from another page. */
function useLinkedApproval(id: string | undefined) {
  return useQuery({ ...approvalQuery(id ?? ''), enabled: id !== undefined })
}

/** The URL names the open approval, so that it stays open when other approvals are decided or expire. */
function useInUrl(approval: Approval | undefined): void {
  const navigate = route.useNavigate()
  useEffect(() => {
    if (approval) void navigate({ search: (old) => withId(old, approval.approval_id), replace: true })
  }, [approval, navigate])
}

/** Whether the details of the first approval on the page are loading: they would push down what is below them. */
function useIsFirstLoading(id: string | undefined): boolean {
  const { isPending } = useQuery({ ...approvalQuery(id ?? ''), enabled: id !== undefined })
  const [hasLoaded, setHasLoaded] = useState(false)
  if (id !== undefined && !isPending && !hasLoaded) setHasLoaded(true)
  return id !== undefined && isPending && !hasLoaded
}

/** Tells whether an approval is still open when its decision is answered. */
function useIsShown(id: string | undefined): (id: string) => boolean {
  const shown = useRef(id)
  useEffect(() => {
    shown.current = id
    return () => {
      shown.current = undefined
    }
  }, [id])
  return (one) => shown.current === one
}

/** Keeps showing the open approval until it is loaded again. */
function useLastShown(found: Approval | undefined, id: string | undefined): Approval | undefined {
  const last = useRef(found)
  useEffect(() => {
    if (found) last.current = found
  }, [found])
  return found ?? (last.current?.approval_id === id ? last.current : undefined)
}

/** Shows only the approvals that are assigned to the signed-in member. An API key has none. */
function AssigneeFilter() {
  const { data: session } = useQuery(sessionQuery)
  const { assignee } = route.useSearch()
  const navigate = route.useNavigate()
  if (!session?.member) return null
  return (
    <Checkbox
      label={approvalsText.assignedToMe}
      checked={assignee === 'me'}
      onChange={(isOn) =>
        void navigate({ search: ({ status }) => ({ ...(status && { status }), ...(isOn && { assignee: 'me' }) }) })
      }
    />
  )
}

function withId({ status, assignee }: ApprovalsSearch, id: string | undefined): ApprovalsSearch {
  return { ...(status && { status }), ...(assignee && { assignee }), ...(id && { id }) }
}

const withStatus = ({ assignee }: ApprovalsSearch, status: ApprovalStatus): ApprovalsSearch => ({
  ...(status !== 'pending' && { status }),
  ...(assignee && { assignee }),
})

function NoApprovals({ status }: { status: ApprovalStatus }) {
  if (status !== 'pending') return <EmptyState title={approvalsText.none[status]} />
  return (
    <EmptyState
      title={approvalsText.none.pending}
      action={
        <Link to="/run" search={{ wedge: 'refund-desk', task_type: 'handle_request' }} className={buttonClass('plain')}>
          {approvalsText.tryIt}
        </Link>
      }
    >
      {approvalsText.emptyHint}
    </EmptyState>
  )
}
