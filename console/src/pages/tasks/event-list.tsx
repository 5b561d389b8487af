import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef, useState } from 'react'
import type { TaskEvent } from '../../api/types.ts'
import { JsonView } from '../../ui/json.tsx'
import { TimeOfDay } from '../../ui/time.tsx'
import { tasksText } from './text.ts'

const text = tasksText.events

const ROW_PX = 28

/** The raw event log, one line per event. */
export function EventList({ events }: { events: readonly TaskEvent[] }) {
  const scroller = useRef<HTMLDivElement>(null)
  const [selected, setSelected] = useState<TaskEvent | null>(null)
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
  })
  return (
    <section aria-label={text.label} className="panel overflow-hidden">
      <div ref={scroller} className="max-h-[calc(100dvh-20rem)] min-h-64 overflow-y-auto">
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const event = events[index]
            return (
              event && (
                <li
                  key={key}
                  className="absolute inset-x-0"
                  style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
                >
                  <button
                    type="button"
                    aria-pressed={selected?.id === event.id}
                    onClick={() => setSelected(event)}
                    className="grid h-full w-full grid-cols-[3rem_5.75rem_9.5rem_1fr] items-center gap-2 px-3 text-left font-mono text-xs -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft max-sm:grid-cols-[2.5rem_9rem_1fr]"
                  >
                    <span className="text-right text-muted">{event.id}</span>
                    <TimeOfDay ts={event.ts} className="truncate text-muted max-sm:hidden" />
                    <span className="truncate">{event.type}</span>
                    <span className="truncate text-muted">{JSON.stringify(event.data).slice(0, 160)}</span>
                  </button>
                </li>
              )
            )
          })}
        </ul>
      </div>
      {selected && (
        <div className="border-t border-line p-3">
          <JsonView value={{ ...selected }} label={text.event(selected.id)} max="max-h-56" />
        </div>
      )}
    </section>
  )
}
