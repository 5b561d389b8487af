import { Link } from '@tanstack/react-router'
import type { Connection } from '../../../api/setup-queries.ts'
import { Button, buttonClass } from '../../../ui/button.tsx'
import { ToolTable } from '../tool-table.tsx'
import { UsingWedges } from '../using-wedges.tsx'
import { StepButtons } from './step-parts.tsx'
import { connectText } from './text.ts'

const text = connectText.done

/** What can be done next: the wedges that use the connection and, for an MCP server, its tools. */
export function DoneStep({
  connection,
  isTested,
  onClose,
}: {
  connection: Connection
  isTested: boolean
  onClose: () => void
}) {
  const { id, name, kind } = connection
  return (
    <>
      <div className="-mx-5 flex min-h-0 flex-col gap-4 overflow-y-auto px-5">
        <p className="font-medium">{isTested ? text.title(name) : text.untested(name)}</p>
        {kind === 'mcp' && isTested && (
          <section aria-label={text.tools} className="flex flex-col gap-2">
            <h3 className="font-medium">{text.tools}</h3>
            <p className="text-xs text-muted">{text.toolsHint}</p>
            <ToolTable connection={connection} />
          </section>
        )}
        <section aria-label={text.neededBy} className="flex flex-col gap-2">
          <h3 className="font-medium">{text.neededBy}</h3>
          <UsingWedges name={name} />
        </section>
      </div>
      <StepButtons>
        <Button variant="primary" onClick={onClose}>
          {text.close}
        </Button>
        <Link to="/connections/$connectionId" params={{ connectionId: id }} className={buttonClass()} onClick={onClose}>
          {text.open}
        </Link>
      </StepButtons>
    </>
  )
}
