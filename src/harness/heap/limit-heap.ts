/**
 * V8 would let the heap grow to several times what is used, up to what this machine has; the cell may have less. Called
 * before much is carried and not at the start: most runs are small, and a fresh cell should start fast.
 */
export function limitHarnessHeap(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--heap-growing-percent=50')
}
