import { createInterface, type Interface } from 'node:readline'
import { styleText } from 'node:util'

export type TextStyle = Parameters<typeof styleText>[0]

/** Input and output of a command, for a person or, with `--json`, for a script. */
export interface Terminal {
  isJson: boolean
  /** True if stdin is a terminal. */
  isInteractive: boolean
  /** Prints one line of the result to stdout. */
  print(line: string): void
  /** Prints a part of a line to stdout. */
  write(text: string): void
  /** Prints one JSON line to stdout. */
  printJson(value: unknown): void
  /** Prints a line that is not a result to stderr: a question, a hint, an error. */
  note(line: string): void
  styled(style: TextStyle, text: string): string
  /** Returns the next line of stdin, or null if stdin has ended or the signal was aborted. */
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
      // Piped input may contain the answers to later questions, so the reader stays open.
      piped ??= new LineQueue(createInterface({ input: stdin }))
      return piped.next(signal)
    },
    close: () => piped?.close(),
  }
}

/** Opens a reader for each question, so that an editor started between two questions gets all key presses. */
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

/** Queues lines that arrive before they are asked for. */
class LineQueue {
  #resolveNext: ((line: string | null) => void) | null = null
  #ended = false
  readonly #queue: string[] = []
  readonly #reader: Interface

  constructor(reader: Interface) {
    this.#reader = reader
    reader.on('line', (line) => (this.#resolveNext ? this.#resolveNext(line) : void this.#queue.push(line)))
    reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    reader.on('close', () => {
      this.#ended = true
      this.#resolveNext?.(null)
    })
  }

  next(signal: AbortSignal): Promise<string | null> {
    const queued = this.#queue.shift()
    if (queued !== undefined) return Promise.resolve(queued)
    if (this.#ended || signal.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const settle = (line: string | null) => {
        this.#resolveNext = null
        signal.removeEventListener('abort', onAbort)
        resolve(line)
      }
      const onAbort = () => settle(null)
      this.#resolveNext = settle
      signal.addEventListener('abort', onAbort)
    })
  }

  close(): void {
    this.#reader.close()
  }
}
