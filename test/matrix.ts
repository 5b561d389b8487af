/** Whether this run has every combination, as in `npm run test:faults`: each store, kill point, SDK and framework. */
export const IS_MATRIX = process.env['TEST_MATRIX'] === '1'

/** All rows of a table of cases, or in the default run only those that stand for the others. */
export function inMatrix<const Row>(all: readonly Row[], representative: readonly NoInfer<Row>[]): readonly Row[] {
  return IS_MATRIX ? all : representative
}

/** Tests that only run in the matrix. Files of such tests end in `.matrix.test.ts`. */
export function onlyInMatrix(tests: () => void): void {
  if (IS_MATRIX) tests()
}
