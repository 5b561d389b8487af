import { formatDay } from '../../ui/format.ts'
import { analyticsText } from './text.ts'

interface Day {
  /** A UTC date such as 2026-11-16. */
  day: string
  value: number
  /** The share of the value that is drawn in the accent colour; all of it if absent. */
  part?: number
}

const HEIGHT = 100
const BAR_WIDTH = 10

/** Draws one bar per day. The title of each bar and the label of the chart give the numbers to screen readers. */
export function DailyChart({
  title,
  days,
  format,
  describePart,
}: {
  title: string
  days: Day[]
  format: (value: number) => string
  describePart?: (part: string) => string
}) {
  const peak = Math.max(...days.map(({ value }) => value), 0)
  const total = days.reduce((sum, { value }) => sum + value, 0)
  const heightOf = (value: number) => (peak === 0 ? 0 : (value / peak) * HEIGHT)
  const describe = ({ day, value, part = value }: Day) =>
    [`${formatDay(day)}: ${format(value)}`, ...(describePart ? [describePart(format(part))] : [])].join(', ')
  return (
    <figure className="panel flex flex-col gap-2 p-4">
      <figcaption className="flex font-semibold">
        {title} <span className="ml-auto text-xs font-normal text-muted">{analyticsText.peak(format(peak))}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={analyticsText.chart(title, format(total), days.length, format(peak))}
        viewBox={`0 0 ${days.length * BAR_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-40 w-full border-b border-line"
      >
        {days.map((day, i) => (
          <g key={day.day}>
            <title>{describe(day)}</title>
            <rect x={i * BAR_WIDTH} y={0} width={BAR_WIDTH} height={HEIGHT} className="fill-transparent" />
            <Bar at={i} height={heightOf(day.value)} className="fill-line-strong" />
            <Bar at={i} height={heightOf(day.part ?? day.value)} className="fill-accent" />
          </g>
        ))}
      </svg>
      <div className="flex justify-between text-xs text-muted tabular-nums">
        {[days[0], days.at(-1)].map((day, i) => (
          <span key={i}>{day && formatDay(day.day)}</span>
        ))}
      </div>
    </figure>
  )
}

function Bar({ at, height, className }: { at: number; height: number; className: string }) {
  return <rect x={at * BAR_WIDTH + 1} y={HEIGHT - height} width={BAR_WIDTH - 2} height={height} className={className} />
}
