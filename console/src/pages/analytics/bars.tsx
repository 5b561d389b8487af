interface Day {
  day: string
  value: number
  /** How much of the value is shown full. */
  part?: number
}

const HEIGHT = 100
const STEP = 10

/** A bar a day. Drawn, not loaded: the numbers also stand in the text that a screen reader gets. */
export function Bars({
  title,
  days,
  text,
  partName,
}: {
  title: string
  days: Day[]
  text: (value: number) => string
  partName?: string
}) {
  const most = Math.max(...days.map(({ value }) => value), 0)
  const total = days.reduce((sum, { value }) => sum + value, 0)
  const high = (value: number) => (most === 0 ? 0 : (value / most) * HEIGHT)
  const label = `${title}: ${text(total)} in ${days.length} days, at most ${text(most)} a day`
  return (
    <figure className="panel flex flex-col gap-2 p-4">
      <figcaption className="flex font-semibold">
        {title} <span className="ml-auto text-xs font-normal text-muted">at most {text(most)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-40 w-full border-b border-line"
      >
        {days.map(({ day, value, part = value }, i) => (
          <g key={day}>
            <title>{`${day}: ${text(value)}${partName ? `, ${text(part)} ${partName}` : ''}`}</title>
            <rect x={i * STEP} y={0} width={STEP} height={HEIGHT} className="fill-transparent" />
            <rect
              x={i * STEP + 1}
              y={HEIGHT - high(value)}
              width={STEP - 2}
              height={high(value)}
              className="fill-line-strong"
            />
            <rect
              x={i * STEP + 1}
              y={HEIGHT - high(part)}
              width={STEP - 2}
              height={high(part)}
              className="fill-accent"
            />
          </g>
        ))}
      </svg>
      <div className="flex justify-between text-xs text-muted tabular-nums">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </div>
    </figure>
  )
}
