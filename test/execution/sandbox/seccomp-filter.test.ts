import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  ARGUMENT_CHECKED_SYSCALLS,
  LOOPBACK_CHECKED_SYSCALLS,
  WORKSHOP_CHECKED_SYSCALLS,
  WORKSHOP_DENIED_SYSCALLS,
  SEALED_SYSCALLS,
} from '../../../src/execution/sandbox/seccomp/syscall-table.ts'
import {
  type CpuArchitecture,
  buildSeccompFilter,
  type FilterProfile,
} from '../../../src/execution/sandbox/seccomp/seccomp-filter.ts'

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const EPERM = 0x00050001
const ENOMEM = 0x0005000c
const UNCHANGED = 0x00050000
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061
const ENOPROTOOPT = 0x0005005c
const EOPNOTSUPP = 0x0005005f
const ARCH: Record<CpuArchitecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** Installed by Debian's linux-libc-dev; arm64 has the numbers that all newer processors share. */
const HEADERS: Record<CpuArchitecture, string> = {
  x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
  arm64: '/usr/include/asm-generic/unistd.h',
}

type Call = { number: number; arch: number; arguments?: number[] }

/** Interprets the few instructions of classic BPF that the filters use, as the kernel does. */
function verdict(filter: Buffer, call: Call): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number, 0)
  data.writeUInt32LE(call.arch, 4)
  for (const [index, value] of (call.arguments ?? []).entries()) data.writeUInt32LE(value, 16 + index * 8)
  let loaded = 0
  for (let at = 0; ; at += 1) {
    const operand = filter.readUInt32LE(at * 8 + 4)
    const code = filter.readUInt16LE(at * 8)
    if (code === 0x06) return operand
    if (code === 0x20) loaded = data.readUInt32LE(operand)
    else if (code === 0x54) loaded &= operand
    else at += filter.readUInt8(at * 8 + (holds(code, loaded, operand) ? 2 : 3))
  }
}

function holds(code: number, loaded: number, operand: number): boolean {
  if (code === 0x15) return loaded === operand
  if (code === 0x25) return loaded > operand
  if (code === 0x35) return loaded >= operand
  if (code === 0x45) return (loaded & operand) !== 0
  throw new Error(`unknown instruction ${code}`)
}

describe.each(['x64', 'arm64'] as const)('system call filter for %s:', (processor) => {
  const column = processor === 'x64' ? 0 : 1
  const arch = ARCH[processor]
  const filters = {
    sealed: buildSeccompFilter('sealed', processor),
    workshop: buildSeccompFilter('workshop', processor),
    loopback: buildSeccompFilter('loopback', processor),
  }
  const verdictFor = (profile: FilterProfile, number: number, ...words: number[]) =>
    verdict(filters[profile], { number, arch, arguments: words })

  test('a sealed cell may make the listed calls and no dangerous one', () => {
    for (const numbers of Object.values(SEALED_SYSCALLS)) {
      const number = numbers[column]
      if (number !== null) expect(verdictFor('sealed', number)).toBe(ALLOW)
    }
    for (const numbers of Object.values(WORKSHOP_DENIED_SYSCALLS)) {
      const number = numbers[column]
      if (number !== null) expect(verdictFor('sealed', number)).toBe(EPERM)
    }
  })

  test.each(['workshop', 'loopback'] as const)(
    'a %s cell may make all calls of a sealed cell, but no dangerous one',
    (profile) => {
      const checked = profile === 'loopback' ? Object.keys(LOOPBACK_CHECKED_SYSCALLS) : []
      for (const [name, numbers] of Object.entries(SEALED_SYSCALLS)) {
        const number = numbers[column]
        if (number !== null && !checked.includes(name)) expect(verdictFor(profile, number)).toBe(ALLOW)
      }
      for (const numbers of Object.values(WORKSHOP_DENIED_SYSCALLS)) {
        const number = numbers[column]
        if (number !== null) expect(verdictFor(profile, number)).toBe(EPERM)
      }
    },
  )

  test('a loopback cell may make local sockets and TCP over IPv4, with common options', () => {
    const { socket, socketpair, setsockopt } = ARGUMENT_CHECKED_SYSCALLS
    const { getsockopt, sendto, sendmsg, sendmmsg } = LOOPBACK_CHECKED_SYSCALLS
    const call = (numbers: readonly [number, number], ...words: number[]) =>
      verdictFor('loopback', numbers[column], ...words)
    const [stream, streamWithFlags, datagram] = [1, 0o2004001, 2]
    expect([call(socket, 1, datagram), call(socket, 2, stream), call(socket, 2, streamWithFlags, 6)]).toEqual([
      ALLOW,
      ALLOW,
      ALLOW,
    ])
    const refused = [
      [2, datagram],
      [2, 3],
      [2, stream, 262],
      [10, stream],
      [16, 3],
      [17, 3],
      [40, stream],
    ]
    for (const words of refused) expect(call(socket, ...words)).toBe(EAFNOSUPPORT)
    expect([call(socketpair, 1), call(socketpair, 2, stream)]).toEqual([ALLOW, EAFNOSUPPORT])
    for (const option of [2, 9, 13, 15, 20, 21]) expect(call(setsockopt, 3, 1, option)).toBe(ALLOW)
    for (const option of [7, 8]) expect(call(setsockopt, 3, 1, option)).toBe(UNCHANGED)
    for (const option of [22, 25, 26, 32, 36, 60]) expect(call(setsockopt, 3, 1, option)).toBe(ENOPROTOOPT)
    for (const option of [1, 4, 18]) expect(call(setsockopt, 3, 6, option)).toBe(ALLOW)
    for (const option of [11, 13, 23, 31]) expect(call(setsockopt, 3, 6, option)).toBe(ENOPROTOOPT)
    for (const level of [17, 41, 282]) expect(call(setsockopt, 3, level, 1)).toBe(ENOPROTOOPT)
    // The type of service, which fetch of Node 24.15 to 26.0 sets, and no other option of IP.
    expect(call(setsockopt, 3, 0, 1)).toBe(UNCHANGED)
    for (const option of [0, 2, 4, 19, 24, 64]) expect(call(setsockopt, 3, 0, option)).toBe(ENOPROTOOPT)
    expect(call(getsockopt, 3, 0, 1)).toBe(ENOPROTOOPT)
    for (const option of [4, 17, 28, 59]) expect(call(getsockopt, 3, 1, option)).toBe(ALLOW)
    for (const option of [27, 60, 77]) expect(call(getsockopt, 3, 1, option)).toBe(ENOPROTOOPT)
    expect([call(getsockopt, 3, 6, 11), call(getsockopt, 3, 6, 35), call(getsockopt, 3, 0, 64)]).toEqual([
      ALLOW,
      ENOPROTOOPT,
      ENOPROTOOPT,
    ])
    const fastOpen = 0x20000000
    expect([call(sendto, 3, 0, 1, fastOpen), call(sendmmsg, 3, 0, 1, fastOpen), call(sendmsg, 3, 0, fastOpen)]).toEqual(
      [EOPNOTSUPP, EOPNOTSUPP, EOPNOTSUPP],
    )
    expect([call(sendto, 3, 0, 1, 0x4000), call(sendmmsg, 3, 0, 1), call(sendmsg, 3, 0)]).toEqual([ALLOW, ALLOW, ALLOW])
  })

  test('a sealed cell may start only threads, a workshop also processes, and neither may create a namespace', () => {
    const clone = ARGUMENT_CHECKED_SYSCALLS.clone[column]
    const [thread, fork, namespace] = [0x003d0f00, 0x01200011, 0x10000011]
    expect([thread, fork, namespace].map((flags) => verdictFor('sealed', clone, flags))).toEqual([ALLOW, EPERM, EPERM])
    expect([thread, fork, namespace].map((flags) => verdictFor('workshop', clone, flags))).toEqual([
      ALLOW,
      ALLOW,
      EPERM,
    ])
    expect(verdictFor('workshop', ARGUMENT_CHECKED_SYSCALLS.clone3[column])).toBe(ENOSYS)
  })

  test.each(['sealed', 'workshop'] as const)(
    'a %s cell may create only local sockets and cannot insert input into a terminal',
    (profile) => {
      expect(verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.socket[column], 1)).toBe(ALLOW)
      for (const family of [2, 10, 16, 17, 40])
        expect(verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.socket[column], family)).toBe(EAFNOSUPPORT)
      expect(verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.socketpair[column], 2)).toBe(EAFNOSUPPORT)
      expect(verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.ioctl[column], 0, 0x5401)).toBe(ALLOW)
      expect(verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.ioctl[column], 0, 0x5412)).toBe(EPERM)
      expect(verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.ioctl[column], 0, 0x541c)).toBe(EPERM)
    },
  )

  test.each(['sealed', 'workshop'] as const)('a %s cell can map only memory that its limits count', (profile) => {
    const [shared, own, file, anonymous, growing, huge] = [0x01, 0x02, 0x00, 0x20, 0x100, 0x40000]
    const map = (flags: number) => verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.mmap[column], 0, 4096, 3, flags)
    expect([own | anonymous, own | file, shared | file].map(map)).toEqual([ALLOW, ALLOW, ALLOW])
    expect([shared | anonymous, own | anonymous | growing, own | anonymous | huge].map(map)).toEqual([
      ENOMEM,
      ENOMEM,
      ENOMEM,
    ])
  })

  test.each(['sealed', 'workshop'] as const)('a %s cell cannot change the send buffers of sockets', (profile) => {
    const set = (level: number, option: number) =>
      verdictFor(profile, ARGUMENT_CHECKED_SYSCALLS.setsockopt[column], 3, level, option)
    expect([set(1, 7), set(1, 8), set(6, 7)]).toEqual([UNCHANGED, ALLOW, ALLOW])
  })

  test('a workshop may watch changes of files, but not who opens or reads them', () => {
    const [access, modify, closeRead, open, all] = [0x1, 0x2, 0x10, 0x20, 0xfff]
    const watch = (profile: FilterProfile) => (mask: number) =>
      verdictFor(profile, WORKSHOP_CHECKED_SYSCALLS.inotify_add_watch[column], 3, 0, mask)
    for (const profile of ['workshop', 'loopback'] as const) {
      expect([access, closeRead, open, all].map(watch(profile))).toEqual([EPERM, EPERM, EPERM, EPERM])
      expect(watch(profile)(modify | 0xfc4)).toBe(ALLOW)
    }
    expect(watch('sealed')(modify)).toBe(EPERM)
  })

  test('a call of another instruction set kills the process', () => {
    const other = ARCH[processor === 'x64' ? 'arm64' : 'x64']
    expect(verdict(filters.workshop, { number: 0, arch: other })).toBe(KILL)
    if (processor === 'x64') expect(verdictFor('workshop', 0x40000001)).toBe(KILL)
  })

  test.skipIf(!existsSync(HEADERS[processor]))('the call numbers match the headers of the kernel', () => {
    const defined = /^#define __NR(?:3264)?_(\w+)\s+(\d+)/gm
    const text = readFileSync(HEADERS[processor], 'utf8')
    const numbers = new Map([...text.matchAll(defined)].map(([, name = '', number]) => [name, Number(number)]))
    // On arm64 this call has the name that other processors use for an older call.
    numbers.set('newfstatat', numbers.get('newfstatat') ?? numbers.get('fstatat') ?? Number.NaN)
    const listed = Object.entries({
      ...ARGUMENT_CHECKED_SYSCALLS,
      ...WORKSHOP_CHECKED_SYSCALLS,
      ...LOOPBACK_CHECKED_SYSCALLS,
      ...SEALED_SYSCALLS,
      ...WORKSHOP_DENIED_SYSCALLS,
    }).filter(([name]) => numbers.has(name))
    for (const [name, known] of listed) expect([name, known[column]]).toEqual([name, numbers.get(name)])
    expect(listed.length).toBeGreaterThan(180)
  })

  test('a call that is newer than the reviewed ones is refused', () => {
    expect(verdictFor('workshop', 453)).toBe(ENOSYS)
    expect(verdictFor('sealed', 453)).toBe(EPERM)
  })
})
