import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wedgesQuery } from '../../api/queries.ts'
import { connectionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { declaredNames } from '../../ui/declared-connections.ts'
import { RequireRole } from '../../ui/role.tsx'
import { ConnectDialog } from './connect/lazy-connect-dialog.tsx'
import { connectionsText } from './text.ts'

/** The connections that the wedge names and the project does not have, each with a button that creates it. */
export function MissingConnections({ wedge, hasText = true }: { wedge: string; hasText?: boolean }) {
  const missing = useMissingConnections(wedge)
  const [creating, setCreating] = useState<string | null>(null)
  if (missing.length === 0) return null
  return (
    <div className="flex flex-wrap items-center gap-2">
      {hasText && <p className="text-wait">{connectionsText.missing(missing)}</p>}
      <RequireRole minRole="admin">
        {missing.map((name) => (
          <Button key={name} small onClick={() => setCreating(name)}>
            {connectionsText.createNamed(name)}
          </Button>
        ))}
      </RequireRole>
      {creating !== null && <ConnectDialog start={{ name: creating }} onClose={() => setCreating(null)} />}
    </div>
  )
}

/** Empty until the connections are known. A connection of a client counts, because tasks of that client can use it. */
function useMissingConnections(wedge: string): string[] {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const { data: connections } = useQuery(connectionsQuery)
  const manifest = wedges.find((one) => one.wedge === wedge)?.manifest
  if (!manifest || !connections) return []
  return declaredNames(manifest).filter((name) => connections.every((connection) => connection.name !== name))
}
