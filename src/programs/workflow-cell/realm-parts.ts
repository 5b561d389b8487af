/** What a realm may ask of the process. The functions stay in closures, so workflow code cannot reach them. */
export interface RealmHost {
  startTimer(id: number, delayMs: number, repeat: boolean, run: () => void): void
  stopTimer(id: number): void
  /** Fails the call of the realm. */
  fail(message: string): void
}

type FinishCall = (kind: 'result' | 'error', text: string) => void

/**
 * The first code of a realm. The source text of each function is compiled inside the realm, so a function may use only
 * its parameters and the globals of JavaScript. Only texts and functions cross between the realm and the process.
 */
export const realmParts = {
  installGlobals,
  installTimers,
  installRandom,
  createCaller,
  describeThrown,
  createError: (message: string): Error => new Error(message),
  isOwnPromise: (promise: unknown): boolean => promise instanceof Promise,
}

function installGlobals(globals: Record<string, unknown>): void {
  Object.assign(globalThis, globals, { queueMicrotask: (run: () => void) => void Promise.resolve().then(run) })
}

/** The timers of a realm are known by numbers, because an object of the process must not enter it. */
function installTimers(host: RealmHost, describe: typeof describeThrown): void {
  let lastId = 0
  const start = (run: unknown, delayMs: unknown, repeat: boolean, args: unknown[]): number => {
    if (typeof run !== 'function') throw new TypeError('the callback of a timer must be a function')
    const id = ++lastId
    host.startTimer(id, Number(delayMs) || 0, repeat, () => {
      try {
        run(...args)
      } catch (error) {
        host.fail(describe(error))
      }
    })
    return id
  }
  const stop = (id: unknown) => host.stopTimer(Number(id))
  Object.assign(globalThis, {
    setTimeout: (run: unknown, delayMs?: unknown, ...args: unknown[]) => start(run, delayMs, false, args),
    setInterval: (run: unknown, delayMs?: unknown, ...args: unknown[]) => start(run, delayMs, true, args),
    setImmediate: (run: unknown, ...args: unknown[]) => start(run, 0, false, args),
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
  })
}

/** Returns a function that seeds `Math.random` with a text. */
function installRandom(): (text: string) => void {
  let state = 0
  // The mulberry32 generator: small, and good enough for code that must not depend on randomness.
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return (text) => {
    state = 0x811c9dc5
    for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193)
  }
}

/** Returns a function that calls a default export with parsed arguments, and then `finish` with a JSON text or an error. */
function createCaller(describe: typeof describeThrown) {
  // Saved before the workflow is loaded, because a workflow may replace these functions.
  const { parse, stringify } = JSON
  const call = async (run: unknown, args: string): Promise<string> => {
    if (typeof run !== 'function') throw new Error('its file has no default export that is a function')
    // Code that merges arguments into an object must not reach a prototype.
    const value: unknown = args.includes('"__proto__"')
      ? parse(args, (key, part: unknown) => (key === '__proto__' ? undefined : part))
      : parse(args)
    const result: unknown = await run(value)
    const text: string | undefined = stringify(result)
    if (text === undefined) throw new Error('it returned a value that is not JSON')
    return text
  }
  return async (exports: { default?: unknown }, args: string, finish: FinishCall): Promise<void> => {
    try {
      finish('result', await call(exports.default, args))
    } catch (error) {
      finish('error', describe(error))
    }
  }
}

/** The message and position of a thrown value. Never throws. */
function describeThrown(thrown: unknown): string {
  try {
    const { message, stack }: { message?: unknown; stack?: unknown } = Object(thrown)
    const text = typeof message === 'string' ? message : String(thrown)
    const position = /\bworkflows\/[^\s()]+\.mjs:\d+(?::\d+)?/.exec(String(stack))
    return position ? `${text} (${position[0]})` : text
  } catch {
    return 'it threw a value that has no text form'
  }
}
