/** The fields of the brief that the agents of the benchmark use. */
export interface Brief {
  task: { input: { events?: number; wait_ms?: number; calls?: number; lines?: number; every_ms?: number } }
  service: { socket: string; task_token: string }
}

/** Runs an agent: reads the brief from stdin, waits `wait_ms`, does the work and writes its output. */
export function runAgent(work: (brief: Brief) => Promise<unknown>): void {
  let text = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk: string) => {
    text += chunk
    if (!text.endsWith('\n')) return
    process.stdin.pause()
    void runTask(JSON.parse(text) as Brief, work)
  })
}

async function runTask(brief: Brief, work: (brief: Brief) => Promise<unknown>): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, brief.task.input.wait_ms ?? 0))
  const output = await work(brief)
  process.stdout.write(`${JSON.stringify({ output })}\n`, () => process.exit(0))
}

export function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
