import { createInterface, type Interface } from 'node:readline'
import { styleText } from 'node:util'

export type TextStyle = Parameters<typeof styleText>[0]

/** Where a command is used: by a person, or by a script that wants JSON lines. */
export interface Terminal {
  isJson: boolean
  /** Whether a person sits in front of it. */
  isInteractive: boolean
  /** Results, on stdout. */
  print(line: string): void
  /** Pieces of a line, on stdout. */
  write(text: string): void
  /** One JSON line, on stdout. */
  printJson(value: unknown): void
  /** What is not a result: questions, advice, errors; on stderr. */
  note(line: string): void
  styled(style: TextStyle, text: string): string
  /** The next line that is typed or piped in; null when there is none, or when the signal makes it pointless. */
  ask(question: string, signal: AbortSignal): Promise<string | null>
  close(): void
}

export interface TerminalStreams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

export function openTerminal(
  streams: TerminalStreams,
  env: Record<string, string | undefined>,
  json: boolean,
): Terminal {
  const { stdin, stdout, stderr } = streams
  const colours = stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb'
  let piped: LineQueue | null = null
  return {
    isJson: json,
    isInteractive: stdin.isTTY,
    print: (line) => void stdout.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    printJson: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    styled: (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text),
    async ask(question, signal) {
      if (stdin.isTTY) return askTyped(streams, question, signal)
      stderr.write(question)
      // What is piped in may hold the answers to later questions, so the reader stays.
      piped ??= new LineQueue(createInterface({ input: stdin }))
      return piped.next(signal)
    },
    close: () => piped?.close(),
  }
}

/** A reader per question: an editor that is opened between two questions has the keyboard for itself. */
async function askTyped(
  { stdin, stderr }: TerminalStreams,
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  const reader = createInterface({ input: stdin, output: stderr, prompt: question })
  const lines = new LineQueue(reader)
  reader.prompt()
  try {
    return await lines.next(signal)
  } finally {
    lines.close()
  }
}

/** Lines in the order they came, also when several came before anybody asked. */
class LineQueue {
  #waiting: ((line: string | null) => void) | null = null
  #ended = false
  readonly #ready: string[] = []
  readonly #reader: Interface

  constructor(reader: Interface) {
    this.#reader = reader
    reader.on('line', (line) => (this.#waiting ? this.#waiting(line) : void this.#ready.push(line)))
    reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    reader.on('close', () => {
      this.#ended = true
      this.#waiting?.(null)
    })
  }

  next(signal: AbortSignal): Promise<string | null> {
    const line = this.#ready.shift()
    if (line !== undefined) return Promise.resolve(line)
    if (this.#ended || signal.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const settle = (answer: string | null) => {
        this.#waiting = null
        signal.removeEventListener('abort', give)
        resolve(answer)
      }
      const give = () => settle(null)
      this.#waiting = settle
      signal.addEventListener('abort', give)
    })
  }

  close(): void {
    this.#reader.close()
  }
}
