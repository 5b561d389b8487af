import { useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { wedgesQuery } from '../../api/queries.ts'
import { toObject } from '../../api/json.ts'
import type { Json, JsonObject, Task } from '../../api/types.ts'
import { EmptyState } from '../../ui/page-states.tsx'
import { JsonView } from '../../ui/json.tsx'
import type { TaskTimeline } from './task-timeline.ts'

/** What the task produced, held against what it had to produce. */
export function OutputView({ task, timeline }: { task: Task; timeline: TaskTimeline }) {
  const schema = useOutputSchema(task)
  const errors = timeline.entries.findLast((item) => item.kind === 'validated')
  if (task.output === null && !schema) return <EmptyState title="There is no output" />
  return (
    <div className="panel flex flex-col gap-4 p-4">
      {errors?.kind === 'validated' && !errors.ok && <JsonView value={errors.errors} label="What does not fit" />}
      {schema && <SchemaCheck schema={schema} output={toObject(task.output)} done={task.finished_at !== null} />}
      {task.output !== null && (
        <section>
          <h2 className="mb-2 font-medium">As JSON</h2>
          <JsonView value={task.output} label="Output" max="" />
        </section>
      )}
    </div>
  )
}

function useOutputSchema(task: Task): JsonObject | null {
  const { data: wedges } = useQuery(wedgesQuery)
  const manifest = wedges?.find(({ wedge }) => wedge === task.wedge)?.manifest
  return task.output_schema ?? manifest?.task_types[task.task_type]?.output_schema ?? null
}

function SchemaCheck({ schema, output, done }: { schema: JsonObject; output: JsonObject; done: boolean }) {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
  const properties = Object.entries(toObject(schema['properties'] ?? null))
  return (
    <section className="overflow-x-auto" tabIndex={0} role="region" aria-label="Output against schema">
      <table className="w-full text-left">
        <caption className="pb-2 text-left font-medium">Against its schema</caption>
        <thead className="text-xs text-muted">
          <tr>
            <th className="w-6 font-medium">
              <span className="sr-only">Fits</span>
            </th>
            <th className="pr-4 font-medium">Field</th>
            <th className="pr-4 font-medium">Wanted</th>
            <th className="font-medium">Got</th>
          </tr>
        </thead>
        <tbody>
          {properties.map(([name, wanted]) => (
            <tr key={name} className="border-t border-line align-top">
              <td className="py-1.5">
                {done && <MatchIcon ok={matchesSchema(toObject(wanted), output[name], required.includes(name))} />}
              </td>
              <td className="py-1.5 pr-4 font-mono text-xs leading-5">{name}</td>
              <td className="py-1.5 pr-4 text-xs leading-5 text-muted">
                {expectedType(toObject(wanted), required.includes(name))}
              </td>
              <td className="max-w-md py-1.5 break-words whitespace-pre-wrap">{shown(output[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function MatchIcon({ ok }: { ok: boolean }) {
  return ok ? (
    <Check size={15} className="mt-0.5 text-ok" aria-label="fits" />
  ) : (
    <X size={15} className="mt-0.5 text-bad" aria-label="does not fit" />
  )
}

/** The service has judged already; this only points at the line. */
function matchesSchema(wanted: JsonObject, got: Json | undefined, required: boolean): boolean {
  if (got === undefined) return !required
  const types = schemaTypes(wanted)
  const allowed = Array.isArray(wanted['enum']) ? wanted['enum'] : null
  if (allowed) return allowed.some((one) => JSON.stringify(one) === JSON.stringify(got))
  return (
    types.length === 0 || types.includes(jsonType(got)) || (jsonType(got) === 'integer' && types.includes('number'))
  )
}

function schemaTypes({ type }: JsonObject): string[] {
  if (Array.isArray(type)) return type.map(String)
  return typeof type === 'string' ? [type] : []
}

function jsonType(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function expectedType(wanted: JsonObject, required: boolean): string {
  const allowed = Array.isArray(wanted['enum']) ? wanted['enum'].map(String).join(' | ') : null
  return `${allowed ?? (schemaTypes(wanted).join(' | ') || 'anything')}${required ? '' : ', optional'}`
}

const shown = (value: Json | undefined): string =>
  value === undefined ? '—' : typeof value === 'string' ? value : JSON.stringify(value)
