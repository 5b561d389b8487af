import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { approvalsQuery, metaQuery, newestTasksQuery } from '../../api/queries.ts'
import type { TaskListItem } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { homeText } from './text.ts'

const text = homeText.guide

const HIDDEN = 'svc.guide.hidden'
const EXPLORED = 'svc.guide.looked'
const EXAMPLE = 'refund-desk'
const SEARCH = { wedge: EXAMPLE, task_type: 'handle_request' }

export interface GuideStep {
  title: string
  hint: string
  done: boolean
  action: ReactNode
}

/** Undefined while loading, so that the page reserves no wrong space; null when there is no guide. */
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

/** The first visit: run the example wedge without a model, approve its action, then connect a real model. */
export function Guide({ steps, settled }: { steps: GuideStep[]; settled: boolean }) {
  const [hidden, setHidden] = useState(false)
  const next = steps.findIndex(({ done }) => !done)
  const offline = steps.at(-1)?.done === false
  // A returning visitor sees one line or nothing. While the page stays open, finished steps stay, so that nothing moves.
  const [firstOpenStep, setFirstOpenStep] = useState<number | null>(null)
  useEffect(() => {
    if (settled) setFirstOpenStep((before) => before ?? next)
  }, [settled, next])
  const openStep = firstOpenStep ?? next
  const hide = () => {
    localStorage.setItem(HIDDEN, '1')
    setHidden(true)
  }
  if (hidden || openStep < 0) return null
  if (openStep === steps.length - 1) return <LastStep onHide={hide} />
  return (
    <section aria-labelledby="guide" className="panel p-5">
      <header className="mb-4 flex items-start gap-3">
        <div>
          <h2 id="guide" className="text-base font-semibold">
            {text.title}
          </h2>
          <p className="text-muted">{offline ? text.recorded : text.realModel}</p>
        </div>
        <Button
          small
          variant="ghost"
          className="ml-auto"
          aria-label={text.hide}
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

/** All other steps are done; the last one takes one line. */
function LastStep({ onHide }: { onHide: () => void }) {
  return (
    <section aria-label={text.connectModel} className="panel flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <span className="font-medium">{text.nextStep}</span>
      <code className="font-mono text-xs break-all text-muted">{START_COMMAND}</code>
      <span className="ml-auto flex">
        <CopyButton text={() => START_COMMAND} />
        <Button small variant="ghost" aria-label={text.hide} onClick={onHide} icon={<X size={15} />} />
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
          {step.done ? <Check size={13} aria-label={text.done} /> : number}
        </span>
        {step.title}
      </div>
      <p className={`grow text-xs ${current ? '' : 'text-muted'}`}>{step.hint}</p>
      {/* Space for the button of the current step: on a phone below all steps, otherwise in each card. */}
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
  const pending = approvals.find(({ status, wedge }) => wedge === EXAMPLE && status === 'pending')
  const explored = ran || localStorage.getItem(EXPLORED) === '1'
  const latest = tasks[0]
  const running = tasks.find(({ finished_at }) => finished_at === null)
  return [
    {
      title: text.explore,
      hint: text.exploreHint,
      done: explored,
      action: <RunLink label={text.openExample} isFirst />,
    },
    {
      title: realModel ? text.runExample : text.runOffline,
      hint: text.runHint,
      done: ran,
      action: <RunLink label={text.openForm} />,
    },
    {
      title: text.approve,
      hint: pending || running || !ran ? text.approveHint : text.approveAgainHint,
      done: decided,
      action: pending ? (
        <TaskLink id={pending.task_id} label={text.review} />
      ) : running ? (
        <TaskLink id={running.id} label={text.watch} />
      ) : (
        <RunLink label={text.runAgain} />
      ),
    },
    {
      title: text.finish,
      hint: text.finishHint,
      done: decided && tasks.some(({ finished_at }) => finished_at !== null),
      action: latest && <TaskLink id={latest.id} label={text.openTask} />,
    },
    {
      title: text.connectModel,
      hint: text.connectModelHint,
      done: realModel,
      action: <CopyButton text={() => START_COMMAND} label={text.copyCommand} />,
    },
  ]
}

const START_COMMAND = 'SVC_MODEL=anthropic/claude-sonnet-5-5 ANTHROPIC_API_KEY=… ./svc serve'

function TaskLink({ id, label }: { id: string; label: string }) {
  return (
    <Link to="/tasks/$taskId" params={{ taskId: id }} className={buttonClass('primary', true)}>
      {label}
    </Link>
  )
}

function RunLink({ label, isFirst = false }: { label: string; isFirst?: boolean }) {
  return (
    <Link
      to="/run"
      search={SEARCH}
      onClick={() => isFirst && localStorage.setItem(EXPLORED, '1')}
      className={buttonClass('primary', true)}
    >
      {label}
    </Link>
  )
}
