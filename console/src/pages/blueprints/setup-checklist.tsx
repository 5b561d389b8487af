import { useQuery } from '@tanstack/react-query'
import { Circle, CircleCheck, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type BlueprintReadiness, type ReadinessFix, readinessQuery } from '../../api/setup-queries.ts'
import type { Role } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { openAuthorisation } from '../connections/open-authorisation.ts'
import { LostSecretWarning } from '../connections/lost-secret-warning.tsx'
import { fillPlaceholders, listPlaceholders } from './placeholders.ts'
import { blueprintsText } from './text.ts'

/** The items that a blueprint needs. An open item has a button that fixes it; a problem without a fix is a warning. */
export function SetupChecklist({ blueprint }: { blueprint: string }) {
  const query = useQuery(readinessQuery(blueprint))
  return (
    <QueryResult query={query}>
      {({ ready, items, warnings }) => (
        <>
          <p className={ready ? 'font-medium text-ok' : 'font-medium'}>
            {ready ? blueprintsText.ready : blueprintsText.progress(items.filter(({ ok }) => ok).length, items.length)}
          </p>
          <ul aria-label={blueprintsText.checklist} className="divide-y divide-line">
            {items.map((item) => (
              <ChecklistItem key={item.kind + item.item} item={item} />
            ))}
          </ul>
          {warnings.length > 0 && (
            <ul
              aria-label={blueprintsText.warnings}
              className="flex flex-col gap-2 rounded-md bg-wait-soft px-3 py-2 text-wait"
            >
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

function ChecklistItem({ item: { kind, item, ok, detail, fix } }: { item: BlueprintReadiness['items'][number] }) {
  return (
    <li className="flex items-center gap-3 py-2.5">
      {ok ? (
        <CircleCheck size={18} className="shrink-0 text-ok" aria-label={blueprintsText.done} />
      ) : (
        <Circle size={18} className="shrink-0 text-wait" aria-label={blueprintsText.open} />
      )}
      <span className="min-w-0 break-words first-letter:uppercase">{detail}</span>
      {fix && (
        <RequireRole minRole={roleFor(fix)}>
          <span className="ml-auto">
            <FixButton label={blueprintsText.fixes[kind] ?? blueprintsText.fix} item={item} fix={fix} />
          </span>
        </RequireRole>
      )}
    </li>
  )
}

/** A fix calls an ordinary route: operators can change schedules, admins can change the rest of the setup. */
function roleFor({ method, path }: ReadinessFix): Role {
  if (method === 'GET') return 'viewer'
  return path.startsWith('/v1/schedules/') ? 'operator' : 'admin'
}

function FixButton({ label, item, fix }: { label: string; item: string; fix: ReadinessFix }) {
  const placeholders = listPlaceholders(fix.body)
  const [open, setOpen] = useState(false)
  const [values, setValues] = useState<Record<string, string>>({})
  const apply = useApiMutation(
    () =>
      callApi<{ redirect_url?: string | null }>(fix.path, {
        method: fix.method,
        ...(fix.body && { body: fillPlaceholders(fix.body, values) }),
      }),
    {
      invalidates: ['blueprints', 'connections', 'schedules', 'wedges'],
      onSuccess: (response) => {
        setOpen(false)
        if (fix.path.endsWith('/broker/connect')) {
          openAuthorisation({ redirect_url: response.redirect_url ?? null })
        }
      },
    },
  )
  return (
    <>
      <Button
        small
        disabled={apply.isPending}
        onClick={() => (placeholders.length > 0 ? setOpen(true) : apply.mutate())}
      >
        {label}
        <span className="sr-only">{blueprintsText.fixFor(item)}</span>
      </Button>
      {open && (
        <FormDialog
          title={blueprintsText.fixDialog(label, item)}
          submitLabel={blueprintsText.save}
          canSubmit={placeholders.every((name) => values[name])}
          mutation={apply}
          onClose={() => setOpen(false)}
        >
          {placeholders.includes('secret') && <LostSecretWarning />}
          {placeholders.map((name) => (
            <TextField
              key={name}
              label={humanize(name)}
              type={name === 'secret' ? 'password' : 'text'}
              autoComplete="off"
              value={values[name] ?? ''}
              onChange={(to) => setValues({ ...values, [name]: to })}
            />
          ))}
        </FormDialog>
      )}
    </>
  )
}
