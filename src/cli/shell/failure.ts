import type { Advice } from './program-name.ts'

/** How every command ends; `svc help` lists them. */
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
  [EXIT_CODE.ok, 'done; the task succeeded'],
  [EXIT_CODE.failed, 'the task failed, or something is wrong'],
  [EXIT_CODE.usage, 'the command was not understood'],
  [EXIT_CODE.unreachable, 'the service cannot be reached'],
  [EXIT_CODE.unauthorised, 'the key is missing, unknown or may not do this'],
  [EXIT_CODE.refused, 'the task was rejected, expired or cancelled'],
  [EXIT_CODE.interrupted, 'ctrl-C; a task that was watched goes on'],
]

/** Ends a command: what went wrong, what to do about it, and the code that scripts see. */
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

/** The code of a task's end. */
export function exitCodeOfTask(status: string): number {
  if (status === 'succeeded') return EXIT_CODE.ok
  return ['rejected', 'expired', 'cancelled'].includes(status) ? EXIT_CODE.refused : EXIT_CODE.failed
}
