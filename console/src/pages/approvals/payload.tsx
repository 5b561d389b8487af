import { useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { Fields, JsonView } from '../../ui/json.tsx'
import { type As, FormOrJson } from '../../ui/json-editor.tsx'
import { connectionOf } from './sentence.ts'

export function Payload({ approval }: { approval: Approval }) {
  const [as, setAs] = useState<As>('form')
  return (
    <section aria-label="What will be sent" className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h3 className="min-w-0 font-medium">
          {approval.status === 'pending' ? 'What will be sent' : 'What was proposed'}
          <Through approval={approval} />
        </h3>
        <div className="shrink-0">
          <FormOrJson label="Show as" as={as} onChange={setAs} />
        </div>
      </div>
      {as === 'form' ? <Fields value={approval.preview} /> : <JsonView value={approval.preview} label="Payload" />}
    </section>
  )
}

/** The connection, apart from the action's name: it is the service's own word on where this goes. */
function Through({ approval }: { approval: Approval }) {
  const connection = connectionOf(approval)
  if (!connection) return null
  return (
    <span className="font-normal text-muted">
      {' through the connection '}
      <code className="font-mono text-xs font-medium break-all text-text">{connection}</code>
    </span>
  )
}
