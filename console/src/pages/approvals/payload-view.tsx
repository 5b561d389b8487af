import { useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { FieldList, JsonView } from '../../ui/json.tsx'
import { type EditorMode, EditorModeTabs } from '../../ui/json-editor.tsx'
import { connectionName } from './approval-summary.ts'

export function PayloadView({ approval }: { approval: Approval }) {
  const [as, setAs] = useState<EditorMode>('form')
  return (
    <section aria-label="What will be sent" className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h3 className="min-w-0 font-medium">
          {approval.status === 'pending' ? 'What will be sent' : 'What was proposed'}
          <ConnectionLabel approval={approval} />
        </h3>
        <div className="shrink-0">
          <EditorModeTabs label="Show as" mode={as} onChange={setAs} />
        </div>
      </div>
      {as === 'form' ? <FieldList value={approval.preview} /> : <JsonView value={approval.preview} label="Payload" />}
    </section>
  )
}

/** The connection, apart from the action's name: it is the service's own word on where this goes. */
function ConnectionLabel({ approval }: { approval: Approval }) {
  const connection = connectionName(approval)
  if (!connection) return null
  return (
    <span className="font-normal text-muted">
      {' through the connection '}
      <code className="font-mono text-xs font-medium break-all text-text">{connection}</code>
    </span>
  )
}
