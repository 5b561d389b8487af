/** The agent of the baseline: reads one line for each run and writes the lines of the run. */
import { createInterface } from 'node:readline'

const writeLine = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

createInterface({ input: process.stdin }).on('line', (text) => {
  const { run, start, resume, call } = JSON.parse(text) as Message
  if (call !== undefined) return writeLine({ run, output: { ok: true, args: call } })
  if (start) writeLine({ run, event: 'step.started', data: { step: 1, label: 'Work' } })
  if (start?.ask) return requestApproval(run)
  if (resume) continueRun(run)
  writeLine({ run, output: { said: 'hello' } })
})
// The server has ended.
process.stdout.on('error', () => process.exit(1))
writeLine({ ready: true })

/** Writes the lines that the agent of the service writes before a tool call that needs an approval. */
function requestApproval(run: string): void {
  writeLine({ run, event: 'tool.called', data: { call_id: 'call_1', tool: 'records_get', input: {} } })
  writeLine({ run, ask: true })
}

function continueRun(run: string): void {
  writeLine({
    run,
    event: 'tool.result',
    data: { call_id: 'call_1', tool: 'records_get', ok: false, error: 'no such record' },
  })
  writeLine({ run, event: 'step.started', data: { step: 2, label: 'Turn 2' } })
}

interface Message {
  run: string
  start?: { ask?: boolean }
  resume?: true
  call?: unknown
}
