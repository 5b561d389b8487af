import { randomFillSync } from 'node:crypto'
import pino from 'pino'
import { createIdGenerator } from '../base/ids.ts'
import { readSetting } from '../contract/settings.ts'
import type { Clock, World } from './world.ts'

/** The real world. */
export function createSystemWorld(logLevel: string): World {
  const random = createRandomPool()
  const clock = createSystemClock()
  return {
    clock,
    random,
    newId: createIdGenerator(() => clock.now(), random),
    // Of OWASP's equal choices the one that takes least memory: 16 MiB, about a fifth of a second.
    passwordCost: { N: 2 ** 14, r: 8, p: 5 },
    log: pino(
      { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
      pino.destination({ fd: 2, sync: false }),
    ),
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

/** A call into the operating system for each id would cost more than the id. */
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
