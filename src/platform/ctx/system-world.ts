import { randomFillSync } from 'node:crypto'
import pino from 'pino'
import { createIdGenerator } from '../base/ids.ts'
import { readSetting } from '../contract/settings.ts'
import { logDestination } from './log-destination.ts'
import type { Clock, World } from './world.ts'

/** The real clock, randomness, log and environment. */
export function createSystemWorld(logLevel: string): World {
  const random = createRandomPool()
  const clock = createSystemClock()
  return {
    clock,
    random,
    newId: createIdGenerator(() => clock.now(), random),
    // The OWASP recommendation that needs the least memory: 16 MiB. A hash takes about 0.2 s.
    passwordCost: { N: 2 ** 14, r: 8, p: 5 },
    log: pino({ level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, logDestination()),
    env: (name) => readSetting(process.env, name),
  }
}

const machineTime = () => Date.now()

function createSystemClock(): Clock {
  let now = machineTime
  return {
    now: () => now(),
    follow(other) {
      now = other
    },
    after(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
  }
}

/** Takes random bytes from a pool, because a system call for each id would cost more than the rest of the id. */
export function createRandomPool(): (bytes: number) => Uint8Array {
  const pool = new Uint8Array(8192)
  let used = pool.length
  return (bytes) => {
    if (bytes > pool.length) return randomFillSync(new Uint8Array(bytes))
    if (used + bytes > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const taken = pool.slice(used, used + bytes)
    pool.fill(0, used, used + bytes)
    used += bytes
    return taken
  }
}
