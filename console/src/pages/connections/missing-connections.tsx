import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wedgesQuery } from '../../api/queries.ts'
import { connectionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { declaredNames } from '../../ui/declared-connections.ts'
import { RequireRole } from '../../ui/role.tsx'
import { listUnusable } from '../../ui/usable-connections.ts'
import { ConnectDialog } from './connect/lazy-connect-dialog.tsx'
import type { ConnectStart } from './connect/connect-dialog.tsx'
import { connectionsText } from './text.ts'

/** The connections that the wedge names and cannot use, each with a button that creates it or writes its credential. */
export function MissingConnections({ wedge, hasText = true }: { wedge: string; hasText?: boolean }) {
  const unusable = useUnusableConnections(wedge)
  const [start, setStart] = useState<ConnectStart | null>(null)
  if (unusable.length === 0 && start === null) return null
  const missing = unusable.filter(({ connection }) => connection === null).map(({ name }) => name)
  const unconnected = unusable.filter(({ connection }) => connection !== null).map(({ name }) => name)
  return (
    <div className="flex flex-wrap items-center gap-2">
      {hasText && missing.length > 0 && <p className="text-wait">{connectionsText.missing(missing)}</p>}
      {hasText && unconnected.length > 0 && <p className="text-wait">{connectionsText.withoutSecret(unconnected)}</p>}
      <RequireRole minRole="admin">
        {unusable.map(({ name, connection }) => (
          <Button key={name} small onClick={() => setStart(connection ? { name, connection } : { name })}>
            {connection ? connectionsText.connectNamed(name) : connectionsText.createNamed(name)}
          </Button>
        ))}
      </RequireRole>
      {start !== null && <ConnectDialog start={start} onClose={() => setStart(null)} />}
    </div>
  )
}

/** Empty until the connections are known. A connection of a client counts, because tasks of that client can use it. */
function useUnusableConnections(wedge: string) {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const { data: connections } = useQuery(connectionsQuery)
  const manifest = wedges.find((one) => one.wedge === wedge)?.manifest
  return manifest && connections ? listUnusable(declaredNames(manifest), connections) : []
}
