import type { Advice } from './program-name.ts'

export const EXIT_CODE = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorised: 4,
  refused: 5,
  interrupted: 130,
} as const

export const EXIT_CODE_MEANINGS: readonly (readonly [number, string])[] = [
  [EXIT_CODE.ok, 'success; the task succeeded'],
  [EXIT_CODE.failed, 'the task failed, or another error occurred'],
  [EXIT_CODE.usage, 'the command line is wrong: unknown command, option or value'],
  [EXIT_CODE.unreachable, 'the service cannot be reached'],
  [EXIT_CODE.unauthorised, 'the key is missing, unknown or not allowed to do this'],
  [EXIT_CODE.refused, 'the task was rejected, expired or cancelled'],
  [EXIT_CODE.interrupted, 'interrupted with Ctrl-C; a task that was watched continues'],
]

/** An error that ends the command: what is wrong, a hint what to do, and the exit code. */
export class CommandFailure extends Error {
  readonly exit: number
  readonly advice: Advice | null

  constructor(exit: number, message: string, advice: Advice | null = null) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}

export const commandFailed = (message: string, advice?: Advice) =>
  new CommandFailure(EXIT_CODE.failed, message, advice ?? null)
export const usageError = (message: string, advice?: Advice) =>
  new CommandFailure(EXIT_CODE.usage, message, advice ?? null)

/** The exit code for a finished task. */
export function exitCodeOfTask(status: string): number {
  if (status === 'succeeded') return EXIT_CODE.ok
  return ['rejected', 'expired', 'cancelled'].includes(status) ? EXIT_CODE.refused : EXIT_CODE.failed
}
