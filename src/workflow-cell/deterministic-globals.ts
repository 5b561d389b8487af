/** Ways out of the process. The sandbox has closed them anyway; without them a workflow is told so by name. */
const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'Request', 'Response', 'Headers', 'FormData', 'navigator']

/**
 * Makes the process a place for deterministic code, before any of it is loaded: no environment, no network, one time
 * zone, and chance that is a function of the call (give the call's text to what is returned). The clock stays real,
 * because "today" is a fair question of a workflow, and so does `crypto`; prototypes are left open, since freezing them
 * breaks honest code, and what is spoiled there is spoiled for the same wedge of the same project only.
 */
export function makeGlobalsDeterministic(): (text: string) => void {
  process.env['TZ'] = 'UTC'
  Object.defineProperty(process, 'env', { value: Object.freeze({}) })
  // `console.log` finds its stream here when it is first used: what a workflow prints never mixes with the answers.
  Object.defineProperty(process, 'stdout', { value: process.stderr })
  for (const name of NETWORK_GLOBALS) Reflect.deleteProperty(globalThis, name)
  return seededRandom()
}

/** mulberry32: small, and good enough for code that must not rely on chance. */
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
