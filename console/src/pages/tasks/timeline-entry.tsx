import { useQuery } from '@tanstack/react-query'
import { Box, Check, CircleStop, Flag, Hand, MessageSquareText, Pencil, Play, ShieldCheck, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { toObject, toText as said } from '../../api/json.ts'
import { approvalQuery } from '../../api/queries.ts'
import type { Json, JsonObject } from '../../api/types.ts'
import { FieldList, JsonView } from '../../ui/json.tsx'
import { Tag } from '../../ui/status.tsx'
import { formatTime, formatDuration } from '../../ui/format.ts'
import { approvalSummary } from '../approvals/approval-summary.ts'
import type { TimelineEntry } from './task-timeline.ts'

/** One line of the story: when, what kind, what; the details fold out. */
export function TimelineEntryView({ entry }: { entry: TimelineEntry }) {
  if (entry.kind === 'step') return <StepHeading label={entry.label} ts={entry.ts} />
  return (
    <div className="grid grid-cols-[4.25rem_1.25rem_minmax(0,1fr)] gap-x-2 px-4 py-1 max-sm:grid-cols-[1.25rem_minmax(0,1fr)]">
      <time dateTime={entry.ts} className="font-mono text-xs leading-5 text-muted max-sm:hidden">
        {formatTime(entry.ts)}
      </time>
      <span className="flex h-5 items-center text-muted">{ICONS[entry.kind]}</span>
      <div className="min-w-0">{entryContent(entry)}</div>
    </div>
  )
}

const ICONS: Record<Exclude<TimelineEntry['kind'], 'step'>, ReactNode> = {
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

function entryContent(item: Exclude<TimelineEntry, { kind: 'step' }>): ReactNode {
  switch (item.kind) {
    case 'text':
      return <p className="break-words whitespace-pre-wrap">{item.text}</p>
    case 'note':
      return <p className="break-words whitespace-pre-wrap text-muted">{item.text}</p>
    case 'tool':
      return <ToolEntry item={item} />
    case 'approval':
      return <ApprovalEntry item={item} />
    case 'validated':
      return <ValidationEntry ok={item.ok} errors={item.errors} />
    case 'artifact':
      return <p>Made {said(item.artifact['name'])}</p>
    case 'feedback':
      return <FeedbackEntry data={item.data} />
    case 'started':
      return (
        <p className="text-muted">
          {item.data['sandbox'] === 'none'
            ? 'Ended before it began'
            : `Started in a ${said(item.data['sandbox'])} sandbox with ${said(item.data['model'])}`}
        </p>
      )
    case 'finished':
      return <FinishedEntry data={item.data} />
    default:
      return null
  }
}

function FeedbackEntry({ data: { source, note } }: { data: JsonObject }) {
  if (source === 'approval') return <p>The change was kept as a correction</p>
  return <p>Feedback was recorded{note ? `: ${said(note)}` : ''}</p>
}

function StepHeading({ label, ts }: { label: string; ts: string }) {
  return (
    <div className="flex items-center gap-3 px-4 pt-3 pb-1">
      <h2 className="text-xs font-semibold tracking-wide text-muted">{label}</h2>
      <span aria-hidden className="h-px grow bg-line" />
      <time dateTime={ts} className="font-mono text-xs text-muted">
        {formatTime(ts)}
      </time>
    </div>
  )
}

function ToolEntry({ item }: { item: Extract<TimelineEntry, { kind: 'tool' }> }) {
  const result = item.result === 'none' ? null : item.result
  const took = result && formatDuration(Date.parse(result.ts) - Date.parse(item.ts))
  return (
    <details>
      <summary className="flex items-center gap-2">
        <code className="font-mono text-xs font-medium whitespace-nowrap">{item.tool}</code>
        {result && !result.ok && <Tag tone="bad">failed</Tag>}
        <span className="min-w-14 text-xs whitespace-nowrap text-muted tabular-nums">
          {took ?? (item.result === 'none' ? 'never ended' : 'working…')}
        </span>
        <span className="truncate text-xs text-muted max-sm:hidden">{oneLine(result?.output ?? item.input)}</span>
      </summary>
      <div className="my-2 grid gap-2 xl:grid-cols-2">
        <JsonView value={item.input} label="Input of the call" max="max-h-64" />
        {result && <JsonView value={result.output} label="Result of the call" max="max-h-64" />}
      </div>
    </details>
  )
}

function ApprovalEntry({ item }: { item: Extract<TimelineEntry, { kind: 'approval' }> }) {
  const { asked, answer, answeredAt } = item
  const connection = asked['connection'] ? said(asked['connection']) : null
  const isEdited = answer?.['edited'] === true
  // The log says that it was edited, the approval how.
  const { data } = useQuery({ ...approvalQuery(said(asked['approval_id'])), enabled: isEdited })
  const edited = data?.edited ?? null
  const approval = { action: said(asked['action']), preview: asked['preview'] ?? null, connection, edited }
  const waited = answeredAt && answeredAt !== item.ts ? Date.parse(answeredAt) - Date.parse(item.ts) : null
  const decision = said(answer?.['decision'])
  return (
    <details className="rounded-md bg-wait-soft/60 px-2 py-1">
      <summary className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{approvalSummary(approval)}</span>
        {answer ? (
          <Tag tone={decision === 'rejected' ? 'bad' : 'ok'}>
            {isEdited ? 'approved as edited' : decision.replaceAll('_', ' ')}
          </Tag>
        ) : (
          <Tag tone="wait">asked</Tag>
        )}
        {waited !== null && (
          <span className="text-xs text-wait tabular-nums">a person took {formatDuration(waited)}</span>
        )}
      </summary>
      <div className="my-2">
        {approval.preview !== null && (
          <FieldList value={edited ? { ...toObject(approval.preview), ...edited } : approval.preview} />
        )}
        {answer?.['policy_reason'] && <p className="text-muted">{said(answer['policy_reason'])}</p>}
      </div>
    </details>
  )
}

function ValidationEntry({ ok, errors }: { ok: boolean; errors: Json }) {
  return ok ? (
    <p className="text-ok">The output fits its schema</p>
  ) : (
    <div className="text-bad">
      <p>The output does not fit its schema</p>
      <JsonView value={errors} label="What does not fit" />
    </div>
  )
}

function FinishedEntry({ data }: { data: JsonObject }) {
  const ok = data['status'] === 'succeeded'
  return (
    <p className={`flex items-center gap-2 font-medium ${ok ? 'text-ok' : 'text-bad'}`}>
      {!ok && <CircleStop size={14} aria-hidden />}
      Finished: {said(data['status'])}
      <span className="text-xs font-normal text-muted">after {formatDuration(Number(data['duration_ms'] ?? 0))}</span>
    </p>
  )
}

const oneLine = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 90)
