import type { Advice } from './called-as.ts'

/** How every command ends; `svc help` lists them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorised: 4,
  refused: 5,
  interrupted: 130,
} as const

export const EXIT_WORDS: readonly (readonly [number, string])[] = [
  [EXIT.ok, 'done; the task succeeded'],
  [EXIT.failed, 'the task failed, or something is wrong'],
  [EXIT.usage, 'the command was not understood'],
  [EXIT.unreachable, 'the service cannot be reached'],
  [EXIT.unauthorised, 'the key is missing, unknown or may not do this'],
  [EXIT.refused, 'the task was rejected, expired or cancelled'],
  [EXIT.interrupted, 'ctrl-C; a task that was watched goes on'],
]

/** Ends a command: what went wrong, what to do about it, and the code that scripts see. */
export class Failure extends Error {
  readonly exit: number
  readonly advice: Advice | null

  constructor(exit: number, message: string, advice: Advice | null = null) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}

export const failed = (message: string, advice?: Advice) => new Failure(EXIT.failed, message, advice ?? null)
export const misused = (message: string, advice?: Advice) => new Failure(EXIT.usage, message, advice ?? null)

/** The code of a task's end. */
export function exitOf(status: string): number {
  if (status === 'succeeded') return EXIT.ok
  return ['rejected', 'expired', 'cancelled'].includes(status) ? EXIT.refused : EXIT.failed
}
