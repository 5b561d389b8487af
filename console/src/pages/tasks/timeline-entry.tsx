import { useQuery } from '@tanstack/react-query'
import { Box, Check, CircleStop, Flag, Hand, MessageSquareText, Pencil, Play, ShieldCheck, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { toObject, toText } from '../../api/json.ts'
import { approvalQuery } from '../../api/queries.ts'
import type { ActionAmount, Json, JsonObject } from '../../api/types.ts'
import { FieldList, JsonView } from '../../ui/json.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeOfDay } from '../../ui/time.tsx'
import { formatDuration } from '../../ui/format.ts'
import { moneyFields } from '../approvals/amount.ts'
import { approvalSummary } from '../approvals/approval-summary.ts'
import type { TimelineEntry } from './task-timeline.ts'
import { tasksText } from './text.ts'

const text = tasksText.timeline

/** One line of the timeline: time, icon and content; details can be expanded. */
export function TimelineEntryView({ entry, isFailed }: { entry: TimelineEntry; isFailed: boolean }) {
  if (entry.kind === 'step') return <StepHeading label={entry.label} ts={entry.ts} />
  return (
    <div className="grid grid-cols-[5.75rem_1.25rem_minmax(0,1fr)] gap-x-2 px-4 py-1 max-sm:grid-cols-[1.25rem_minmax(0,1fr)]">
      <TimeOfDay ts={entry.ts} className="truncate font-mono text-xs leading-5 text-muted max-sm:hidden" />
      <span className="flex h-5 items-center text-muted">{ICONS[entry.kind]}</span>
      <div className="min-w-0">{entryContent(entry, isFailed)}</div>
    </div>
  )
}

const ICONS: Record<Exclude<TimelineEntry['kind'], 'step'>, ReactNode> = {
  not_started: <CircleStop size={14} aria-hidden />,
  started: <Play size={14} aria-hidden />,
  text: <MessageSquareText size={14} aria-hidden />,
  note: <Pencil size={14} aria-hidden />,
  tool: <Wrench size={14} aria-hidden />,
  approval: <Hand size={14} className="text-wait" aria-hidden />,
  validated: <ShieldCheck size={14} aria-hidden />,
  artifact: <Box size={14} aria-hidden />,
  feedback: <Check size={14} aria-hidden />,
  finished: <Flag size={14} aria-hidden />,
}

function entryContent(entry: Exclude<TimelineEntry, { kind: 'step' }>, isFailed: boolean): ReactNode {
  switch (entry.kind) {
    case 'text':
      return <p className="break-words whitespace-pre-wrap">{entry.text}</p>
    case 'note':
      return <p className="break-words whitespace-pre-wrap text-muted">{entry.text}</p>
    case 'tool':
      return <ToolEntry entry={entry} />
    case 'approval':
      return <ApprovalEntry entry={entry} isFailed={isFailed} />
    case 'validated':
      return <ValidationEntry ok={entry.ok} errors={entry.errors} />
    case 'artifact':
      return <p>{text.created(toText(entry.artifact['name']))}</p>
    case 'feedback':
      return <FeedbackEntry data={entry.data} />
    case 'started':
      return <p className="text-muted">{startedText(entry.data)}</p>
    case 'not_started':
      return <p className="text-muted">{entry.hasFailed ? text.couldNotStart : text.notStarted}</p>
    case 'finished':
      return <FinishedEntry data={entry.data} />
    default:
      return null
  }
}

function startedText({ sandbox, model }: JsonObject): string {
  const name = toText(model)
  return text.started(toText(sandbox), name.startsWith('rehearsal/') ? text.recordedRun : name)
}

function FeedbackEntry({ data: { source, note } }: { data: JsonObject }) {
  if (source === 'approval') return <p>{text.savedAsCorrection}</p>
  return <p>{note ? text.feedbackWithNote(toText(note)) : text.feedback}</p>
}

function StepHeading({ label, ts }: { label: string; ts: string }) {
  return (
    <div className="flex items-center gap-3 px-4 pt-3 pb-1">
      <h2 className="text-xs font-semibold tracking-wide text-muted">{label}</h2>
      <span aria-hidden className="h-px grow bg-line" />
      <TimeOfDay ts={ts} className="font-mono text-xs text-muted" />
    </div>
  )
}

function ToolEntry({ entry }: { entry: Extract<TimelineEntry, { kind: 'tool' }> }) {
  const result = entry.result === 'missing' ? null : entry.result
  const took = result && formatDuration(Date.parse(result.ts) - Date.parse(entry.ts))
  return (
    <details>
      <summary className="flex items-center gap-2">
        <code className="font-mono text-xs font-medium whitespace-nowrap">{entry.tool}</code>
        {result && !result.ok && <Tag tone="bad">{text.failed}</Tag>}
        <span className="min-w-14 shrink-0 text-xs whitespace-nowrap text-muted tabular-nums">
          {took ?? (entry.result === 'missing' ? text.noResult : text.running)}
        </span>
        <span className="truncate text-xs text-muted max-sm:hidden">{oneLine(result?.output ?? entry.input)}</span>
      </summary>
      <div className="my-2 grid gap-2 xl:grid-cols-2">
        <JsonView value={entry.input} label={text.callInput} max="max-h-64" />
        {result && <JsonView value={result.output} label={text.callResult} max="max-h-64" />}
      </div>
    </details>
  )
}

/** The declared amount of an action, as the event has it. */
function toActionAmount(value: Json): ActionAmount | null {
  const amount = toObject(value ?? null)
  if (typeof amount['path'] !== 'string') return null
  const textOf = (key: string) => (typeof amount[key] === 'string' ? amount[key] : null)
  return {
    value: typeof amount['value'] === 'number' ? amount['value'] : null,
    currency: textOf('currency'),
    text: textOf('text') ?? '',
    path: amount['path'],
    unit: amount['unit'] === 'minor' ? 'minor' : 'major',
    currency_path: textOf('currency_path'),
  }
}

function ApprovalEntry({
  entry,
  isFailed,
}: {
  entry: Extract<TimelineEntry, { kind: 'approval' }>
  isFailed: boolean
}) {
  const { request, decision, decidedAt } = entry
  const connection = request['connection'] ? toText(request['connection']) : null
  const isEdited = decision?.['edited'] === true
  // The event says that the payload was edited; the approval has the edits.
  const { data } = useQuery({ ...approvalQuery(toText(request['approval_id'])), enabled: isEdited })
  const edited = data?.edited ?? null
  const isQuestion = request['to'] !== undefined
  const path = isQuestion ? ('question' as const) : ('action' as const)
  const approval = {
    action: toText(request['action']),
    preview: request['preview'] ?? null,
    text: request['text'] ? toText(request['text']) : null,
    amount: toActionAmount(request['amount']),
    connection,
    edited,
    path,
  }
  const shown = edited ? { ...toObject(approval.preview), ...edited } : approval.preview
  const waited = decidedAt && decidedAt !== entry.ts ? Date.parse(decidedAt) - Date.parse(entry.ts) : null
  const result = decision?.['revise'] === true ? 'sent_back' : toText(decision?.['decision'])
  return (
    <details className="rounded-md bg-wait-soft/60 px-2 py-1">
      <summary className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{approvalSummary(approval)}</span>
        {decision ? (
          <Tag tone={isFailed ? 'off' : decisionTone(isQuestion, result)}>
            {decisionLabel(isQuestion, isEdited, result)}
          </Tag>
        ) : (
          <Tag tone="wait">{isQuestion ? text.asked(toText(request['to'])) : text.requested}</Tag>
        )}
        {isFailed && <Tag tone="bad">{text.failed}</Tag>}
        {waited !== null && (
          <span className="text-xs text-wait tabular-nums">{text.decidedIn(formatDuration(waited))}</span>
        )}
      </summary>
      <div className="my-2">
        {approval.preview !== null && <FieldList value={shown} texts={moneyFields(approval.amount, toObject(shown))} />}
        {Boolean(decision?.['policy_reason']) && <p className="text-muted">{toText(decision?.['policy_reason'])}</p>}
      </div>
    </details>
  )
}

function decisionTone(isQuestion: boolean, decision: string) {
  if (decision === 'sent_back') return 'off'
  return decision === 'rejected' ? (isQuestion ? 'off' : 'bad') : 'ok'
}

function decisionLabel(isQuestion: boolean, isEdited: boolean, decision: string): string {
  if (isQuestion) return text.question[decision] ?? decision
  return isEdited ? text.approvedWithEdits : (text.decision[decision] ?? decision)
}

function ValidationEntry({ ok, errors }: { ok: boolean; errors: Json }) {
  return ok ? (
    <p className="text-ok">{text.outputMatches}</p>
  ) : (
    <div className="text-bad">
      <p>{text.outputMismatch}</p>
      <JsonView value={errors} label={text.mismatches} />
    </div>
  )
}

function FinishedEntry({ data }: { data: JsonObject }) {
  const ok = data['status'] === 'succeeded'
  return (
    <p className={`flex items-center gap-2 font-medium ${ok ? 'text-ok' : 'text-bad'}`}>
      {!ok && <CircleStop size={14} aria-hidden />}
      {text.finished(toText(data['status']))}
      <span className="text-xs font-normal text-muted">
        {text.after(formatDuration(Number(data['duration_ms'] ?? 0)))}
      </span>
    </p>
  )
}

const oneLine = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 90)
