import { useQuery } from '@tanstack/react-query'
import { Circle, CircleCheck, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { type ReadinessFix, type BlueprintReadiness, readinessQuery } from '../../api/setup-queries.ts'
import type { Role } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { openAuthorisation } from '../connections/broker.tsx'
import { blanksOf, filled } from './blanks.ts'

/** What is there and what is not; each open item has the button that closes it, and what no button can is told below. */
export function Checklist({ blueprint }: { blueprint: string }) {
  const query = useQuery(readinessQuery(blueprint))
  return (
    <QueryResult query={query}>
      {({ ready, items, warnings }) => (
        <>
          <p className={ready ? 'font-medium text-ok' : 'font-medium'}>
            {ready ? 'Everything is ready' : `${items.filter(({ ok }) => ok).length} of ${items.length} done`}
          </p>
          <ul aria-label="Readiness" className="divide-y divide-line">
            {items.map((item) => (
              <Line key={item.kind + item.item} item={item} />
            ))}
          </ul>
          {warnings.length > 0 && (
            <ul aria-label="Warnings" className="flex flex-col gap-2 rounded-md bg-wait-soft px-3 py-2 text-wait">
              {warnings.map((warning) => (
                <li key={warning} className="flex items-start gap-2">
                  <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
                  <span className="min-w-0 break-words">{warning}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </QueryResult>
  )
}

function Line({ item: { kind, item, ok, detail, fix } }: { item: BlueprintReadiness['items'][number] }) {
  return (
    <li className="flex items-center gap-3 py-2.5">
      {ok ? (
        <CircleCheck size={18} className="shrink-0 text-ok" aria-label="done" />
      ) : (
        <Circle size={18} className="shrink-0 text-wait" aria-label="open" />
      )}
      <span className="min-w-0 break-words first-letter:uppercase">{detail}</span>
      {fix && (
        <RequireRole minRole={leastFor(fix)}>
          <span className="ml-auto">
            <FixButton label={LABELS[kind] ?? 'Fix'} item={item} fix={fix} />
          </span>
        </RequireRole>
      )}
    </li>
  )
}

/** A fix is a call to a route like any other: schedules are the operators', the rest of the setup is the admins'. */
function leastFor({ method, path }: ReadinessFix): Role {
  if (method === 'GET') return 'viewer'
  return path.startsWith('/v1/schedules/') ? 'operator' : 'admin'
}

const LABELS: Record<string, string> = {
  wedge: 'Enable',
  provision: 'Set up',
  connection: 'Make it',
  config: 'Fill in',
  secret: 'Set secret',
  authorisation: 'Authorise',
  schedule: 'Make it',
}

function FixButton({ label, item, fix }: { label: string; item: string; fix: ReadinessFix }) {
  const blanks = blanksOf(fix.body)
  const [asking, setAsking] = useState(false)
  const [given, setGiven] = useState<Record<string, string>>({})
  const apply = useApiMutation(
    () =>
      callApi<{ redirect_url?: string | null }>(fix.path, {
        method: fix.method,
        ...(fix.body && { body: filled(fix.body, given) }),
      }),
    {
      invalidates: ['blueprints', 'connections', 'schedules', 'wedges'],
      onSuccess: (answer) => {
        setAsking(false)
        if (fix.path.endsWith('/broker/connect')) {
          openAuthorisation({ connection_id: item, redirect_url: answer.redirect_url ?? null })
        }
      },
    },
  )
  return (
    <>
      <Button small disabled={apply.isPending} onClick={() => (blanks.length > 0 ? setAsking(true) : apply.mutate())}>
        {label}
        <span className="sr-only"> for {item}</span>
      </Button>
      {asking && (
        <FormDialog
          title={`${label}: ${item}`}
          submitLabel="Save"
          canSubmit={blanks.every((blank) => given[blank])}
          mutation={apply}
          onClose={() => setAsking(false)}
        >
          {blanks.map((blank) => (
            <TextField
              key={blank}
              label={blank.replaceAll('_', ' ')}
              type={blank === 'secret' ? 'password' : 'text'}
              autoComplete="off"
              value={given[blank] ?? ''}
              onChange={(to) => setGiven({ ...given, [blank]: to })}
            />
          ))}
        </FormDialog>
      )}
    </>
  )
}
