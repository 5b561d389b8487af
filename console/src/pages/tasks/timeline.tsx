import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { memo, type RefObject, type UIEvent, useEffect, useRef, useState } from 'react'
import type { TaskLogState } from '../../api/task-log.ts'
import type { TimelineEntry, TaskTimeline } from './task-timeline.ts'
import { TimelineEntryView } from './timeline-entry.tsx'

const NEAR_END_PX = 48

/** The story from the top, following its end for as long as the reader stays there. */
export function Timeline({
  timeline,
  state,
  isFinished,
}: {
  timeline: TaskTimeline
  state: TaskLogState['state']
  isFinished: boolean
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
  const { following, follow, hands } = useFollowEnd(scroller, isFinished, height)
  const live = state === 'live' && !isFinished
  return (
    <section aria-label="Timeline" className="panel relative overflow-hidden">
      <div
        ref={scroller}
        {...hands}
        tabIndex={0}
        role="log"
        aria-label="What the task did"
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
                  <TimelineLine item={item} />
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

/** What is over is read from the top; what ends while it is watched is followed to its end. */
function useFollowEnd(scroller: RefObject<HTMLDivElement | null>, over: boolean, height: number) {
  const [following, setFollowing] = useState(true)
  const [fromTop] = useState(over)
  // Lines are measured once they are drawn, so the end moves on after they came.
  useEffect(() => {
    if (following && !fromTop) scroller.current?.scrollTo(0, height)
  }, [following, fromTop, height, scroller])
  // Only a reader's hand leaves the end; that it grew away from under them is no leaving.
  const touched = useRef(false)
  const touch = () => void (touched.current = true)
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent) => {
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    if (near) touched.current = false
    if (near || touched.current) setFollowing(near)
  }
  const hands = { onScroll, onWheel: touch, onTouchMove: touch, onPointerDown: touch, onKeyDown: touch }
  return { following, follow: () => setFollowing(true), hands }
}

function JumpToLive({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="absolute bottom-3 left-1/2 flex -translate-x-1/2 items-center gap-1.5 rounded-full bg-accent px-3 py-1 text-xs font-medium text-on-accent shadow-lg"
    >
      <ArrowDown size={13} aria-hidden /> Jump to live
    </button>
  )
}

const TimelineLine = memo(({ item }: { item: TimelineEntry }) => <TimelineEntryView entry={item} />)

function EmptyTimeline({ state }: { state: TaskLogState['state'] }) {
  const words = state === 'lost' ? 'The service cannot be reached; trying again.' : 'Waiting for a sandbox…'
  return <p className="animate-appear px-4 py-6 text-muted">{state === 'opening' ? ' ' : words}</p>
}
