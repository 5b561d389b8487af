/**
 * A fifth more than is used, instead of several times as much, which V8 would let the heap grow to. For the service that
 * is what thousands of streams or a burst of tasks would leave behind; a cell may have less than the machine. Not
 * called at the start, which should be fast; an import would be part of it.
 */
export function keepHeapSmall(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--heap-growing-percent=20')
}
