import { ALLOW, ANY_BIT, ARCHITECTURE, assemble, AT_LEAST, CALL_NUMBER, EQUAL, failWith } from './bpf-program.ts'
import { FIRST_ARGUMENT, FOURTH_ARGUMENT, GREATER, ifCall, type Instruction, KILL_PROCESS } from './bpf-program.ts'
import { loadWord, returnVerdict, SECOND_ARGUMENT, THIRD_ARGUMENT } from './bpf-program.ts'
import { socketRules } from './socket-rules.ts'
import {
  ARGUMENT_CHECKED_SYSCALLS,
  WORKSHOP_CHECKED_SYSCALLS,
  type SyscallTable,
  WORKSHOP_DENIED_SYSCALLS,
  NEWEST_KNOWN_SYSCALL,
  SEALED_SYSCALLS,
} from './syscall-table.ts'

export type CpuArchitecture = 'x64' | 'arm64'

/** `loopback` is a workshop that may also use TCP over IPv4, in a network namespace that leads nowhere. */
export type FilterProfile = 'sealed' | 'workshop' | 'loopback'

/**
 * The system call filter of a profile as classic BPF: an array of 8-byte instructions, which `bwrap --seccomp` passes to
 * the kernel. A sealed cell may make only the calls that Node needs. A workshop may make all calls except dangerous
 * ones, because the needs of arbitrary programs cannot be listed.
 */
export function buildSeccompFilter(profile: FilterProfile, architecture: CpuArchitecture): Buffer {
  const column = architecture === 'x64' ? 0 : 1
  return assemble([
    ...killForeignArchitecture(architecture),
    ...argumentChecks(profile, column),
    ...(profile === 'sealed'
      ? [...forEachCall(SEALED_SYSCALLS, column, ALLOW), returnVerdict(failWith(EPERM))]
      : [
          ...forEachCall(WORKSHOP_DENIED_SYSCALLS, column, failWith(EPERM)),
          ...rejectUnknownCalls(),
          returnVerdict(ALLOW),
        ]),
  ])
}

export function parseCpuArchitecture(name: string): CpuArchitecture | null {
  return name === 'x64' || name === 'arm64' ? name : null
}

const EPERM = 1
const ENOMEM = 12
const ENOSYS = 38
const AUDIT_ARCH: Record<CpuArchitecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
const X32_CALL_BIT = 0x40000000
const CLONE_THREAD = 0x00010000
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const CLONE_NEW_NAMESPACE = 0x7e020000
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
/** IN_ACCESS, CLOSE_NOWRITE and OPEN. */
const IN_READING = 0x31
const MAP_SHARED = 0x01
const MAP_ANONYMOUS = 0x20
const MAP_GROWSDOWN = 0x100
const MAP_HUGETLB = 0x40000

/** Another instruction set has other call numbers, so the filter could not recognise its calls. */
function killForeignArchitecture(architecture: CpuArchitecture): Instruction[] {
  const foreign: Instruction[] = [
    loadWord(ARCHITECTURE),
    [EQUAL, 1, 0, AUDIT_ARCH[architecture]],
    returnVerdict(KILL_PROCESS),
  ]
  const number = loadWord(CALL_NUMBER)
  if (architecture === 'arm64') return [...foreign, number]
  return [...foreign, number, [AT_LEAST, 0, 1, X32_CALL_BIT], returnVerdict(KILL_PROCESS)]
}

function argumentChecks(profile: FilterProfile, column: 0 | 1): Instruction[] {
  // These requests insert input into the terminal that started the service, which would run it outside the sandbox.
  const noTyping: Instruction[] = [
    loadWord(SECOND_ARGUMENT),
    [EQUAL, 1, 0, TIOCSTI],
    [EQUAL, 0, 1, TIOCLINUX],
    returnVerdict(failWith(EPERM)),
    returnVerdict(ALLOW),
  ]
  return [
    // The flags of clone3 are in memory, which a filter cannot read; when clone3 is missing, libc falls back to clone.
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.clone3[column], [returnVerdict(failWith(ENOSYS))]),
    // V8 handles a missing call, as on a processor without protection keys, but not a refused one.
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.pkey_alloc[column], [returnVerdict(failWith(ENOSYS))]),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.clone[column], profile === 'sealed' ? allowThreadsOnly() : denyNamespaces()),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.ioctl[column], noTyping),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.mmap[column], allowCountedMemoryOnly()),
    ...(profile === 'sealed' ? [] : ifCall(WORKSHOP_CHECKED_SYSCALLS.inotify_add_watch[column], denyReadWatches())),
    ...socketRules(profile, column),
  ]
}

/** Changes of files may be watched. A watch for reading would show which programs of the host others start. */
function denyReadWatches(): Instruction[] {
  return [loadWord(THIRD_ARGUMENT), [ANY_BIT, 0, 1, IN_READING], returnVerdict(failWith(EPERM)), returnVerdict(ALLOW)]
}

function allowThreadsOnly(): Instruction[] {
  return [loadWord(FIRST_ARGUMENT), [ANY_BIT, 1, 0, CLONE_THREAD], returnVerdict(failWith(EPERM)), returnVerdict(ALLOW)]
}

function denyNamespaces(): Instruction[] {
  return [
    loadWord(FIRST_ARGUMENT),
    [ANY_BIT, 0, 1, CLONE_NEW_NAMESPACE],
    returnVerdict(failWith(EPERM)),
    returnVerdict(ALLOW),
  ]
}

/**
 * The data limit counts neither anonymous shared memory nor a growing stack that a program maps itself, and huge pages
 * come from a reserve of the host. Programs can handle the error "no memory".
 */
function allowCountedMemoryOnly(): Instruction[] {
  return [
    loadWord(FOURTH_ARGUMENT),
    [ANY_BIT, 2, 0, MAP_GROWSDOWN | MAP_HUGETLB],
    [ANY_BIT, 0, 2, MAP_ANONYMOUS],
    [ANY_BIT, 0, 1, MAP_SHARED],
    returnVerdict(failWith(ENOMEM)),
    returnVerdict(ALLOW),
  ]
}

function rejectUnknownCalls(): Instruction[] {
  return [[GREATER, 0, 1, NEWEST_KNOWN_SYSCALL], returnVerdict(failWith(ENOSYS))]
}

function forEachCall(calls: SyscallTable, column: 0 | 1, verdict: number): Instruction[] {
  return Object.values(calls).flatMap((numbers) => {
    const call = numbers[column]
    return call === null ? [] : ifCall(call, [returnVerdict(verdict)])
  })
}
