const cleanUps: (() => void)[] = []

/** Makes the call when this process exits. Node warns of a leak above ten listeners, so all share one. */
export function cleanUpAtExit(call: () => void): void {
  if (cleanUps.length === 0) process.once('exit', () => cleanUps.forEach((cleanUp) => cleanUp()))
  cleanUps.push(call)
}
