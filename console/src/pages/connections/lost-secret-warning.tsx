import { useQuery } from '@tanstack/react-query'
import { metaQuery } from '../../api/queries.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { connectionsText } from './text.ts'

/** Shown where a secret is entered while the service has no encryption key of its own. */
export function LostSecretWarning() {
  const { data: meta } = useQuery(metaQuery)
  if (!meta?.vault.ephemeral) return null
  return (
    <div role="alert" className="rounded-md bg-wait-soft px-3 py-2 text-wait">
      <p className="font-medium">{connectionsText.noKey}</p>
      <p>{connectionsText.noKeyFix}</p>
      <p className="flex items-center gap-2">
        <code className="font-mono">{connectionsText.initCommand}</code>
        <CopyButton text={() => connectionsText.initCommand} />
      </p>
    </div>
  )
}
