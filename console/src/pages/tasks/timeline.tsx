import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { memo, type RefObject, type UIEvent, useEffect, useRef, useState } from 'react'
import { toText } from '../../api/json.ts'
import type { TaskLogState } from '../../api/task-log.ts'
import type { TimelineEntry, TaskTimeline } from './task-timeline.ts'
import { tasksText } from './text.ts'
import { TimelineEntryView } from './timeline-entry.tsx'

const text = tasksText.timeline

const NEAR_END_PX = 48

/** The timeline. It follows new entries while the reader stays at the end. */
export function Timeline({
  timeline,
  state,
  isFinished,
  failedActions,
}: {
  timeline: TaskTimeline
  state: TaskLogState['state']
  isFinished: boolean
  /** The approvals whose actions failed, such as replies that were not delivered. */
  failedActions: ReadonlySet<string>
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const { entries } = timeline
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 40,
    getItemKey: (index) => entries[index]?.id ?? index,
    overscan: 10,
  })
  const height = virtual.getTotalSize()
  const { following, follow, scrollHandlers } = useFollowEnd(scroller, isFinished, height)
  const live = state === 'live' && !isFinished
  return (
    <section aria-label={text.label} className="panel relative overflow-hidden">
      <div
        ref={scroller}
        {...scrollHandlers}
        tabIndex={0}
        role="log"
        aria-label={text.log}
        className="h-[calc(100dvh-15rem)] min-h-80 overflow-y-auto py-2 -outline-offset-2"
      >
        {entries.length === 0 && <EmptyTimeline state={state} />}
        <div className="relative" style={{ height }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const item = entries[index]
            return (
              item && (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  className="absolute inset-x-0"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <TimelineLine
                    item={item}
                    isFailed={item.kind === 'approval' && failedActions.has(approvalIdOf(item))}
                  />
                </div>
              )
            )
          })}
        </div>
      </div>
      {live && !following && <JumpToLive onClick={follow} />}
    </section>
  )
}

/** A finished task opens at the top; a running task is followed to its end. */
function useFollowEnd(scroller: RefObject<HTMLDivElement | null>, over: boolean, height: number) {
  const [following, setFollowing] = useState(true)
  const [fromTop] = useState(over)
  // Entries are measured after they are rendered, so the end moves again.
  useEffect(() => {
    if (following && !fromTop) scroller.current?.scrollTo(0, height)
  }, [following, fromTop, height, scroller])
  // Only scrolling by the reader stops following; a growing timeline does not.
  const touched = useRef(false)
  const touch = () => void (touched.current = true)
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent) => {
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    if (near) touched.current = false
    if (near || touched.current) setFollowing(near)
  }
  const scrollHandlers = { onScroll, onWheel: touch, onTouchMove: touch, onPointerDown: touch, onKeyDown: touch }
  return { following, follow: () => setFollowing(true), scrollHandlers }
}

function JumpToLive({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="absolute bottom-3 left-1/2 flex -translate-x-1/2 items-center gap-1.5 rounded-full bg-accent px-3 py-1 text-xs font-medium text-on-accent shadow-lg"
    >
      <ArrowDown size={13} aria-hidden /> {text.jumpToLive}
    </button>
  )
}

const TimelineLine = memo(({ item, isFailed }: { item: TimelineEntry; isFailed: boolean }) => (
  <TimelineEntryView entry={item} isFailed={isFailed} />
))

const approvalIdOf = ({ request }: Extract<TimelineEntry, { kind: 'approval' }>) => toText(request['approval_id'])

function EmptyTimeline({ state }: { state: TaskLogState['state'] }) {
  const message = state === 'lost' ? text.unreachable : text.waitingToStart
  return <p className="animate-appear px-4 py-6 text-muted">{state === 'opening' ? ' ' : message}</p>
}
