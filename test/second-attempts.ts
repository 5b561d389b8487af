import type { Reporter, TestCase } from 'vitest/node'

/** Lists the tests that failed at first and passed at their second attempt, with what they failed for. */
export default class SecondAttempts implements Reporter {
  readonly #lines: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return
    const [first] = test.result().errors ?? []
    this.#lines.push(`  ${test.module.relativeModuleId} > ${test.fullName}: ${first?.message ?? ''}`)
  }

  onTestRunEnd(): void {
    if (this.#lines.length === 0) return
    process.stdout.write(`\nPassed only at the second attempt:\n${this.#lines.join('\n')}\n`)
  }
}
