import type { ApprovalStatus, Task, TaskStatus } from '../api/types.ts'
import { uiText } from './text.ts'

type Tone = 'run' | 'wait' | 'ok' | 'bad' | 'off'

/** A request that was sent back is `rejected` in the API, and a task that waits for an earlier one of its thread `queued`. */
export type ShownStatus = TaskStatus | ApprovalStatus | 'sent_back' | 'waits_for_thread'

/** A row of a list keeps what its task waited for when live updates change its status. */
export const shownTaskStatus = ({ status, waiting_for }: Pick<Task, 'status' | 'waiting_for'>): ShownStatus =>
  status === 'queued' && waiting_for?.kind === 'thread' ? 'waits_for_thread' : status

/** Blue means running and amber means waiting for a person; no other state uses these colours. */
const TONES: Record<ShownStatus, Tone> = {
  queued: 'off',
  waits_for_thread: 'off',
  provisioning: 'run',
  running: 'run',
  awaiting_approval: 'wait',
  pending: 'wait',
  succeeded: 'ok',
  approved: 'ok',
  auto_approved: 'ok',
  failed: 'bad',
  rejected: 'bad',
  sent_back: 'off',
  expired: 'off',
  cancelled: 'off',
}

const TONE_CLASSES: Record<Tone, string> = {
  run: 'bg-accent-soft text-accent',
  wait: 'bg-wait-soft text-wait',
  ok: 'bg-ok-soft text-ok',
  bad: 'bg-bad-soft text-bad',
  off: 'bg-off-soft text-muted',
}

export const statusLabel = (status: ShownStatus): string => ({ ...uiText.taskStatus, ...uiText.approvalStatus })[status]

export function StatusBadge({ status }: { status: ShownStatus }) {
  const tone = TONES[status] ?? 'off'
  return (
    <span
      className={`inline-flex h-5 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap ${TONE_CLASSES[tone]}`}
      data-status={status}
    >
      <span
        aria-hidden
        className={`size-1.5 shrink-0 rounded-full bg-current ${tone === 'run' || tone === 'wait' ? 'animate-breathe' : ''}`}
      />
      {statusLabel(status)}
    </span>
  )
}

export function Tag({ children, tone = 'off' }: { children: string; tone?: Tone }) {
  return (
    <span
      className={`inline-flex h-5 shrink-0 items-center rounded px-1.5 text-xs whitespace-nowrap ${TONE_CLASSES[tone]}`}
    >
      {children}
    </span>
  )
}
