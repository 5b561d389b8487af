import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { analyticsQuery, approvalsQuery, metaQuery, taskHeadQuery, type TaskRow } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Waiting } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { humanize } from '../../ui/json.tsx'
import { May, useMay } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Stack } from '../../ui/stack.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago, dollars, duration } from '../../ui/time.tsx'
import { Countdown } from '../approvals/countdown.tsx'
import { sentenceOf } from '../approvals/sentence.ts'
import { Guide, useGuide } from './guide.tsx'

/** What waits for you, what works, and how it went. */
export function Home() {
  const { data: approvals } = useQuery(approvalsQuery('pending'))
  const { data: tasks } = useQuery(taskHeadQuery({}, 12))
  const guide = useGuide()
  const waiting = approvals?.length ?? 0
  const mayDecide = useMay()('operator')
  const whom = mayDecide ? 'for you' : 'for a decision'
  return (
    <Page
      title={
        waiting > 0
          ? `${waiting} ${waiting === 1 ? 'question waits' : 'questions wait'} ${whom}`
          : `Nothing waits ${whom}`
      }
      actions={
        <May least="operator">
          <Link to="/run" className={buttonClass('primary')}>
            Run a task
          </Link>
        </May>
      }
    >
      {approvals && tasks && guide !== undefined ? (
        <>
          <Problems />
          {guide && (
            <May least="operator">
              <Guide {...guide} />
            </May>
          )}
          <Numbers />
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
            <Block title={`Waits for ${mayDecide ? 'your' : 'a'} decision`} to="/approvals">
              <Questions approvals={approvals.toReversed().slice(0, 6)} />
            </Block>
            <Block title="Latest tasks" to="/tasks">
              <Latest tasks={tasks} />
            </Block>
          </div>
        </>
      ) : (
        <Waiting className="h-96" />
      )}
    </Page>
  )
}

function Block({ title, to, children }: { title: string; to: string; children: ReactNode }) {
  return (
    <section className="panel overflow-hidden">
      <header className="flex items-center border-b border-line px-4 py-2">
        <h2 className="font-semibold">{title}</h2>
        <Link to={to} aria-label={`${title}: all`} className="ml-auto text-xs text-accent hover:underline">
          All
        </Link>
      </header>
      {children}
    </section>
  )
}

const LINE = 'flex h-11 items-center gap-3 border-b border-line px-4 -outline-offset-2 hover:bg-hover'

/** Six have their room, on a phone three and the others by scrolling: what comes and goes here moves nothing below. */
function Questions({ approvals }: { approvals: Approval[] }) {
  return (
    <div className="h-33 overflow-y-auto lg:h-66">
      {approvals.length === 0 && <p className="p-4 text-muted">Nothing. Agents that want to act will ask here.</p>}
      <Stack>
        {approvals.map((approval) => ({ key: approval.approval_id, row: <Question approval={approval} /> }))}
      </Stack>
    </div>
  )
}

function Question({ approval }: { approval: Approval }) {
  return (
    <Link to="/approvals" search={{ id: approval.approval_id }} className={LINE}>
      <span className="truncate font-medium">{sentenceOf(approval)}</span>
      <span className="ml-auto flex">
        <Countdown approval={approval} />
      </span>
    </Link>
  )
}

function Latest({ tasks }: { tasks: TaskRow[] }) {
  if (tasks.length === 0) return <p className="p-4 text-muted">No task has run yet.</p>
  return <Stack>{tasks.map((task) => ({ key: task.id, row: <TaskLine task={task} /> }))}</Stack>
}

function TaskLine({ task }: { task: TaskRow }) {
  return (
    <Link to="/tasks/$taskId" params={{ taskId: task.id }} className={LINE}>
      <span className="w-28 shrink-0">
        <Status status={task.status} />
      </span>
      <span className="min-w-0 truncate">
        <span className="font-medium">{humanize(task.task_type)}</span> <span className="text-muted">{task.about}</span>
      </span>
      <span className="ml-auto text-xs text-muted max-sm:hidden">
        <Ago ts={task.created_at} />
      </span>
    </Link>
  )
}

/** Thirty days in one line. */
function Numbers() {
  const { data } = useQuery(analyticsQuery(30))
  const mayDecide = useMay()('operator')
  const numbers: [string, string][] = [
    ['Runs in 30 days', data ? data.runs.toLocaleString('en') : ' '],
    ['Succeeded', data?.success_rate != null && data.runs > 0 ? `${Math.round(data.success_rate * 100)} %` : '—'],
    ['Spent', data ? dollars(data.cost_usd) : '—'],
    [
      mayDecide ? 'You answer within' : 'Answered within',
      data?.median_approval_wait_s != null ? duration(data.median_approval_wait_s * 1_000) : '—',
    ],
  ]
  return <Figures numbers={numbers} />
}

/** A wedge that cannot be read is not silently missing. */
function Problems() {
  const { data: meta } = useQuery(metaQuery)
  return meta?.problems.map(({ wedge, problem }) => (
    <p key={wedge + problem} role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      Wedge {wedge}: {problem}
    </p>
  ))
}
