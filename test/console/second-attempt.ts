import { TestRunner } from 'vitest'

/** Each test of the current describe block gets a second attempt: a browser on a busy machine can be late. */
export function allowSecondAttempt(): void {
  Object.assign(TestRunner.getCurrentSuite().options ?? {}, { retry: 1 })
}
