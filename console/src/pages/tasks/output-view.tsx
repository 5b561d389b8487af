import { useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { wedgesQuery } from '../../api/queries.ts'
import { toObject } from '../../api/json.ts'
import type { Json, JsonObject, Task } from '../../api/types.ts'
import { EmptyState } from '../../ui/page-states.tsx'
import { JsonView } from '../../ui/json.tsx'
import type { TaskTimeline } from './task-timeline.ts'
import { tasksText } from './text.ts'

const text = tasksText.output

/** The output of the task, compared with its schema. */
export function OutputView({ task, timeline }: { task: Task; timeline: TaskTimeline }) {
  const schema = useOutputSchema(task)
  const validation = timeline.entries.findLast((item) => item.kind === 'validated')
  if (task.output === null && !schema) return <EmptyState title={text.none}>{text.noneHint}</EmptyState>
  return (
    <div className="panel flex flex-col gap-4 p-4">
      {validation?.kind === 'validated' && !validation.ok && (
        <JsonView value={validation.errors} label={text.mismatches} />
      )}
      {schema && <SchemaCheck schema={schema} output={toObject(task.output)} done={task.finished_at !== null} />}
      {task.output !== null && (
        <section>
          <h2 className="mb-2 font-medium">{text.json}</h2>
          <JsonView value={task.output} label={text.label} max="" />
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
    <section className="overflow-x-auto" tabIndex={0} role="region" aria-label={text.schemaCheck}>
      <table className="w-full text-left">
        <caption className="pb-2 text-left font-medium">{text.schemaCheck}</caption>
        <thead className="text-xs text-muted">
          <tr>
            <th className="w-6 font-medium">
              <span className="sr-only">{text.matches}</span>
            </th>
            <th className="pr-4 font-medium">{text.field}</th>
            <th className="pr-4 font-medium">{text.expected}</th>
            <th className="font-medium">{text.actual}</th>
          </tr>
        </thead>
        <tbody>
          {properties.map(([name, expected]) => (
            <tr key={name} className="border-t border-line align-top">
              <td className="py-1.5">
                {done && <MatchIcon ok={matchesSchema(toObject(expected), output[name], required.includes(name))} />}
              </td>
              <td className="py-1.5 pr-4 font-mono text-xs leading-5">{name}</td>
              <td className="py-1.5 pr-4 text-xs leading-5 text-muted">
                {expectedType(toObject(expected), required.includes(name))}
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
    <Check size={15} className="mt-0.5 text-ok" aria-label={text.match} />
  ) : (
    <X size={15} className="mt-0.5 text-bad" aria-label={text.mismatch} />
  )
}

/** The server has validated the output; this only marks the field. */
function matchesSchema(expected: JsonObject, actual: Json, required: boolean): boolean {
  if (actual === undefined) return !required
  const types = schemaTypes(expected)
  const allowed = Array.isArray(expected['enum']) ? expected['enum'] : null
  if (allowed) return allowed.some((one) => JSON.stringify(one) === JSON.stringify(actual))
  return (
    types.length === 0 ||
    types.includes(jsonType(actual)) ||
    (jsonType(actual) === 'integer' && types.includes('number'))
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

function expectedType(expected: JsonObject, required: boolean): string {
  const allowed = Array.isArray(expected['enum']) ? expected['enum'].map(String).join(' | ') : null
  const type = allowed ?? (schemaTypes(expected).join(' | ') || text.anyType)
  return required ? type : text.optional(type)
}

const shown = (value: Json): string =>
  value === undefined ? '—' : typeof value === 'string' ? value : JSON.stringify(value)
