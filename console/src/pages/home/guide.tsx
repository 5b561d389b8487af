import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { approvalsQuery, metaQuery, newestTasksQuery } from '../../api/queries.ts'
import type { TaskListItem } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'

const HIDDEN = 'svc.guide.hidden'
const EXAMPLE = 'refund-desk'
const SEARCH = { wedge: EXAMPLE, task_type: 'handle_request' }

export interface GuideStep {
  title: string
  text: string
  done: boolean
  action: ReactNode
}

/** Undefined until it is known whether there is a guide, so that nothing moves when it comes; null when there is none. */
export function useGuide(): { steps: GuideStep[]; settled: boolean } | null | undefined {
  const { data: meta } = useQuery(metaQuery)
  const { data: tasks, isFetchedAfterMount: tasksRead } = useQuery(newestTasksQuery({ wedge: EXAMPLE }))
  const { data: approvals, isFetchedAfterMount: approvalsRead } = useQuery(approvalsQuery(undefined))
  if (localStorage.getItem(HIDDEN) === '1') return null
  if (!meta || !tasks || !approvals) return undefined
  if (!meta.wedges.some(({ wedge }) => wedge === EXAMPLE)) return null
  const steps = guideSteps(tasks, approvals, meta.model.provider !== 'rehearsal')
  return { steps, settled: tasksRead && approvalsRead }
}

/** The first visit: one whole round with the example wedge, offline, then a real model. Each step knows when it is done. */
export function Guide({ steps, settled }: { steps: GuideStep[]; settled: boolean }) {
  const [hidden, setHidden] = useState(false)
  const next = steps.findIndex(({ done }) => !done)
  const offline = steps.at(-1)?.done === false
  // Who comes back finds one line or nothing; who watches a step being done keeps them all, and the page stays put.
  const [met, meet] = useState<number | null>(null)
  useEffect(() => {
    if (settled) meet((before) => before ?? next)
  }, [settled, next])
  const found = met ?? next
  const hide = () => {
    localStorage.setItem(HIDDEN, '1')
    setHidden(true)
  }
  if (hidden || found < 0) return null
  if (found === steps.length - 1) return <LastStep onHide={hide} />
  return (
    <section aria-labelledby="guide" className="panel p-5">
      <header className="mb-4 flex items-start gap-3">
        <div>
          <h2 id="guide" className="text-base font-semibold">
            See it work, in two minutes
          </h2>
          <p className="text-muted">
            {offline
              ? 'Offline and without an account anywhere: the rehearsal model plays the agent.'
              : 'Your model is connected and does the work.'}
          </p>
        </div>
        <Button
          small
          variant="ghost"
          className="ml-auto"
          aria-label="Hide the guide"
          onClick={hide}
          icon={<X size={15} />}
        />
      </header>
      <ol className="relative grid gap-3 max-lg:pb-11 lg:grid-cols-5">
        {steps.map((step, i) => (
          <StepCard key={step.title} step={step} number={i + 1} current={i === next} />
        ))}
      </ol>
    </section>
  )
}

/** Everything was seen once; what is left takes one line. */
function LastStep({ onHide }: { onHide: () => void }) {
  return (
    <section aria-label="Connect a real model" className="panel flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <span className="font-medium">Next: connect a real model</span>
      <code className="font-mono text-xs break-all text-muted">{START}</code>
      <span className="ml-auto flex">
        <CopyButton text={() => START} />
        <Button small variant="ghost" aria-label="Hide the guide" onClick={onHide} icon={<X size={15} />} />
      </span>
    </section>
  )
}

function StepCard({ step, number, current }: { step: GuideStep; number: number; current: boolean }) {
  return (
    <li
      aria-current={current ? 'step' : undefined}
      className={`flex flex-col gap-1.5 rounded-lg border p-3 ${current ? 'border-accent bg-accent-soft' : 'border-line'}`}
    >
      <div className="flex items-center gap-2 font-medium">
        <span
          className={`grid size-5 shrink-0 place-items-center rounded-full text-xs ${step.done ? 'bg-ok-soft text-ok' : 'bg-off-soft text-muted'}`}
        >
          {step.done ? <Check size={13} aria-label="done" /> : number}
        </span>
        {step.title}
      </div>
      <p className={`grow text-xs ${current ? '' : 'text-muted'}`}>{step.text}</p>
      {/* The button of the step that is next has its room: on a phone under all steps, else in each card. */}
      <div className="max-lg:absolute max-lg:inset-x-0 max-lg:bottom-0 max-lg:*:w-full max-lg:*:justify-center lg:mt-1 lg:min-h-7">
        {current && step.action}
      </div>
    </li>
  )
}

function guideSteps(tasks: TaskListItem[], approvals: Approval[], realModel: boolean): GuideStep[] {
  const ran = tasks.length > 0
  const decided = approvals.some(
    ({ status, wedge }) => wedge === EXAMPLE && (status === 'approved' || status === 'rejected'),
  )
  const waiting = approvals.find(({ status, wedge }) => wedge === EXAMPLE && status === 'pending')
  const looked = ran || localStorage.getItem('svc.guide.looked') === '1'
  const latest = tasks[0]
  const working = tasks.find(({ finished_at }) => finished_at === null)
  return [
    {
      title: 'Look at the example',
      text: 'The refund desk decides refund requests. Its card says what it may do and where it stops.',
      done: looked,
      action: <RunLink label="Open the refund desk" look />,
    },
    {
      title: realModel ? 'Run it' : 'Run it offline',
      text: 'A request for $84.50 is filled in. Press Run.',
      done: ran,
      action: <RunLink label="Fill in and run" />,
    },
    {
      title: 'Approve its action',
      text:
        waiting || working || !ran
          ? 'Above $50 a person decides. The agent waits for you for five minutes.'
          : 'Nothing waits now. Run it once more, with an amount above $50.',
      done: decided,
      action: waiting ? (
        <TaskLink id={waiting.task_id} label="Answer it" />
      ) : working ? (
        <TaskLink id={working.id} label="Watch it work" />
      ) : (
        <RunLink label="Run it once more" />
      ),
    },
    {
      title: 'Watch it finish',
      text: 'Every step, call and cost is in its timeline.',
      done: decided && tasks.some(({ finished_at }) => finished_at !== null),
      action: latest && <TaskLink id={latest.id} label="Open the task" />,
    },
    {
      title: 'Connect a real model',
      text: 'Start the service with a model and its key; any OpenAI-compatible server works too.',
      done: realModel,
      action: <CopyButton text={() => START} label="Copy the command" />,
    },
  ]
}

const START = 'SVC_MODEL=anthropic/claude-sonnet-4-5 ANTHROPIC_API_KEY=… ./svc serve'

function TaskLink({ id, label }: { id: string; label: string }) {
  return (
    <Link to="/tasks/$taskId" params={{ taskId: id }} className={buttonClass('primary', true)}>
      {label}
    </Link>
  )
}

function RunLink({ label, look = false }: { label: string; look?: boolean }) {
  return (
    <Link
      to="/run"
      search={SEARCH}
      onClick={() => look && localStorage.setItem('svc.guide.looked', '1')}
      className={buttonClass('primary', true)}
    >
      {label}
    </Link>
  )
}
