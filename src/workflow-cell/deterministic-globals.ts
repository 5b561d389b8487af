/** Removed so that using them fails with a clear error; the sandbox blocks the network in any case. */
const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'Request', 'Response', 'Headers', 'FormData', 'navigator']

/**
 * Makes workflow code deterministic before it is loaded; README.md in this folder says what changes and why. Returns a
 * function that seeds `Math.random` with a text.
 */
export function makeGlobalsDeterministic(): (text: string) => void {
  process.env['TZ'] = 'UTC'
  Object.defineProperty(process, 'env', { value: Object.freeze({}) })
  // console.log looks up its stream on first use, so the output of a workflow never mixes with the replies.
  Object.defineProperty(process, 'stdout', { value: process.stderr })
  for (const name of NETWORK_GLOBALS) Reflect.deleteProperty(globalThis, name)
  return seededRandom()
}

/** The mulberry32 generator: small, and good enough for code that must not depend on randomness. */
function seededRandom(): (text: string) => void {
  let state = 0
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
