/** Labelled numbers, side by side. */
export function MetricRow({ metrics }: { metrics: [name: string, value: string][] }) {
  return (
    <dl className="panel grid grid-cols-2 gap-px overflow-hidden bg-line sm:grid-cols-4">
      {metrics.map(([name, value]) => (
        <div key={name} className="flex flex-col-reverse bg-surface px-4 py-3">
          <dt className="text-xs text-muted">{name}</dt>
          <dd className="h-7 text-lg font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
