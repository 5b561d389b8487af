import pino from 'pino'

/** Programs get JSON lines, people at a terminal get readable ones. */
export function logDestination(): pino.DestinationStream {
  if (!process.stderr.isTTY) return pino.destination({ fd: 2, sync: false })
  return { write: (line) => void process.stderr.write(toReadableLogLine(line)) }
}

const LEVEL_NAMES: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

interface LogLine {
  time: string
  level: number
  msg?: string
  err?: { message: string; stack?: string }
  [field: string]: unknown
}

/** A log line for a person at a terminal: time of day, level, message, further fields, then the stack of an error. */
function toReadableLogLine(jsonLine: string): string {
  const { time, level, msg = '', err, ...fields }: LogLine = JSON.parse(jsonLine)
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const head = [time.slice(11, 19), (LEVEL_NAMES[level] ?? String(level)).padEnd(5), msg, ...rest]
  const stack = err ? `\n${err.stack ?? err.message}`.replaceAll('\n', '\n  ') : ''
  return `${head.join(' ')}${stack}\n`
}
