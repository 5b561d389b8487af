/** The bare agent: one line in, the lines of a run out; a run that asks waits until it is told to go on. */
import { createInterface } from 'node:readline'

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

createInterface({ input: process.stdin }).on('line', (text) => {
  const { run, start, go, call } = JSON.parse(text) as { run: string; start?: Start; go?: true; call?: unknown }
  if (call !== undefined) return say({ run, output: { ok: true, args: call } })
  if (start) say({ run, event: 'step.started', data: { step: 1, label: 'Work' } })
  if (start?.ask) return park(run)
  if (go) proceed(run)
  say({ run, output: { said: 'hello' } })
})
// Its server is gone.
process.stdout.on('error', () => process.exit(1))
say({ ready: true })

/** The lines that the service's agent writes around a call that a person has to allow. */
function park(run: string): void {
  say({ run, event: 'tool.called', data: { call_id: 'call_1', tool: 'records_get', input: {} } })
  say({ run, ask: true })
}

function proceed(run: string): void {
  say({
    run,
    event: 'tool.result',
    data: { call_id: 'call_1', tool: 'records_get', ok: false, error: 'no such record' },
  })
  say({ run, event: 'step.started', data: { step: 2, label: 'Turn 2' } })
}

interface Start {
  ask?: boolean
}
