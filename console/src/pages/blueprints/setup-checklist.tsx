import { useQuery } from '@tanstack/react-query'
import { Circle, CircleCheck, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { connectionsQuery, type ReadinessFix, readinessQuery } from '../../api/setup-queries.ts'
import type { Role } from '../../api/types.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ConnectDialog } from '../connections/connect/lazy-connect-dialog.tsx'
import { type ChecklistItem, ConnectButton, FixButton, isConnectFix } from './fix-button.tsx'
import { blueprintsText } from './text.ts'

/** The items that a blueprint needs. An open item has a button that fixes it; a problem without a fix is a warning. */
export function SetupChecklist({ blueprint }: { blueprint: string }) {
  const query = useQuery(readinessQuery(blueprint))
  // Here and not in the item, because the item is done before the dialog is.
  const [connecting, setConnecting] = useState<string | null>(null)
  return (
    <QueryResult query={query}>
      {({ ready, items, warnings }) => (
        <>
          <p className={ready ? 'font-medium text-ok' : 'font-medium'}>
            {ready ? blueprintsText.ready : blueprintsText.progress(items.filter(({ ok }) => ok).length, items.length)}
          </p>
          <ul aria-label={blueprintsText.checklist} className="divide-y divide-line">
            {items.map((item) => (
              <ChecklistRow key={item.kind + item.item} item={item} onConnect={() => setConnecting(item.item)} />
            ))}
          </ul>
          {warnings.length > 0 && <WarningList warnings={warnings} />}
          {connecting !== null && (
            <ConnectNamed name={connecting} blueprint={blueprint} onClose={() => setConnecting(null)} />
          )}
        </>
      )}
    </QueryResult>
  )
}

/** The connect dialog for the team's connection of this name. */
function ConnectNamed({ name, blueprint, onClose }: { name: string; blueprint: string; onClose: () => void }) {
  const { data: connections } = useQuery(connectionsQuery)
  const connection = connections?.find((one) => one.name === name && one.client_id === null)
  if (!connection) return null
  const returnTo = `/blueprints?slug=${encodeURIComponent(blueprint)}`
  return <ConnectDialog start={{ connection, name, returnTo }} onClose={onClose} />
}

function WarningList({ warnings }: { warnings: string[] }) {
  return (
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
  )
}

function ChecklistRow({ item, onConnect }: { item: ChecklistItem; onConnect: () => void }) {
  const { kind, ok, detail, fix } = item
  const label = blueprintsText.fixes[kind] ?? blueprintsText.fix
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
            {isConnectFix(item) ? (
              <ConnectButton label={label} item={item.item} fix={fix} onConnect={onConnect} />
            ) : (
              <FixButton label={label} item={item.item} fix={fix} />
            )}
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
