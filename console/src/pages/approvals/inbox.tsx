import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { messageOf } from '../../api/http.ts'
import { approvalsQuery } from '../../api/queries.ts'
import type { Approval, ApprovalStatus } from '../../api/types.ts'
import { useKeys } from '../../shell/keys.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Empty, Failure, Waiting } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ApprovalCard } from './card.tsx'
import { Countdown } from './countdown.tsx'
import { NotifyButton } from './notify.tsx'
import { sentenceOf } from './sentence.ts'
import { SuggestRule } from './suggest.tsx'

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
  // What runs out first comes first; what is decided, newest first.
  const approvals = status === 'pending' ? (data?.toReversed() ?? []) : (data ?? [])
  const at = Math.max(
    0,
    approvals.findIndex(({ approval_id }) => approval_id === id),
  )
  const chosen = approvals[at]
  const choose = (approval: Approval | undefined) =>
    approval && void navigate({ search: (old) => ({ ...old, id: approval.approval_id }), replace: true })
  useKeys({ j: () => choose(approvals[at + 1]), k: () => choose(approvals[at - 1]) })
  return (
    <Page title="Approvals" actions={<NotifyButton />}>
      <Tabs
        label="Approvals by status"
        value={status}
        onChange={(to) => void navigate({ search: to === 'pending' ? {} : { status: to } })}
        tabs={TABS.map((tab) => ({
          ...tab,
          count: tab.value === 'pending' && status === 'pending' ? data?.length : 0,
        }))}
      />
      {error && <Failure message={messageOf(error)} />}
      {isPending && <Waiting className="h-96" />}
      {data && !chosen && <NothingWaits status={status} />}
      {chosen && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-[22rem_minmax(0,48rem)]">
          <ApprovalCards approvals={approvals} chosen={chosen} onChoose={choose} />
          <div className="flex flex-col gap-4 xl:col-start-2 xl:row-start-1">
            <ApprovalCard
              key={chosen.approval_id}
              approval={chosen}
              onDecided={() => choose(approvals[at + 1] ?? approvals[at - 1])}
            />
            {status === 'pending' && <SuggestRule approval={chosen} />}
          </div>
        </div>
      )}
    </Page>
  )
}

function ApprovalCards({
  approvals,
  chosen,
  onChoose,
}: {
  approvals: Approval[]
  chosen: Approval
  onChoose: (approval: Approval) => void
}) {
  return (
    <ul
      aria-label="Approvals"
      className={`panel max-h-[calc(100dvh-10rem)] overflow-y-auto max-xl:max-h-44 ${approvals.length === 1 ? 'max-xl:hidden' : ''}`}
    >
      {approvals.map((approval) => (
        <li key={approval.approval_id} className="border-b border-line last:border-0">
          <button
            type="button"
            aria-current={approval === chosen}
            onClick={() => onChoose(approval)}
            className="flex w-full flex-col gap-0.5 px-3 py-2 text-left -outline-offset-2 hover:bg-hover aria-[current=true]:bg-accent-soft"
          >
            <span className="line-clamp-2 font-medium">{sentenceOf(approval)}</span>
            <span className="flex w-full items-center text-xs text-muted">
              <span className="truncate">{approval.wedge}</span>
              <span className="ml-auto flex">
                {approval.status === 'pending' ? (
                  <Countdown approval={approval} />
                ) : (
                  <Status status={approval.status} />
                )}
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function NothingWaits({ status }: { status: ApprovalStatus }) {
  if (status !== 'pending') return <Empty title={`Nothing ${status.replaceAll('_', ' ')} yet`} />
  return (
    <Empty
      title="Nothing waits for you"
      action={
        <Link to="/run" search={{ wedge: 'refund-desk', task_type: 'handle_request' }} className={buttonClass('plain')}>
          Run a task that will ask
        </Link>
      }
    >
      When an agent wants to do something with an effect outside, it stops and asks here. You have five minutes to
      answer; then the task expires.
    </Empty>
  )
}
