import { useState } from 'react'
import { toObject } from '../../api/json.ts'
import type { Approval } from '../../api/types.ts'
import { FieldList, JsonView } from '../../ui/json.tsx'
import { type EditorMode, EditorModeTabs } from '../../ui/json-editor.tsx'
import { moneyFields } from './amount.ts'
import { connectionName } from './approval-summary.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.payload

export function PayloadView({ approval }: { approval: Approval }) {
  const [mode, setMode] = useState<EditorMode>('form')
  return (
    <section aria-label={text.label} className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h3 className="min-w-0 font-medium">
          {approval.path === 'tool' ? text.toolCall : approval.status === 'pending' ? text.pending : text.proposed}
          <ConnectionLabel approval={approval} />
        </h3>
        <div className="shrink-0">
          <EditorModeTabs label={text.viewMode} mode={mode} onChange={setMode} />
        </div>
      </div>
      {mode === 'form' ? (
        <FieldList value={approval.preview} texts={moneyFields(approval.amount, toObject(approval.preview))} />
      ) : (
        <JsonView value={approval.preview} label={text.label} />
      )}
    </section>
  )
}

/** The connection is shown apart from the action, because the agent chooses the name of the action. */
function ConnectionLabel({ approval }: { approval: Approval }) {
  const connection = connectionName(approval)
  if (!connection) return null
  return (
    <span className="font-normal text-muted">
      {` ${text.through} `}
      <code className="font-mono text-xs font-medium break-all text-text">{connection}</code>
    </span>
  )
}
