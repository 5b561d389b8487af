import {
  ARGUMENT_CHECKED_SYSCALLS,
  LOOPBACK_CHECKED_SYSCALLS,
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

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number]

const LOAD = 0x20
const EQUAL = 0x15
const GREATER = 0x25
const AT_LEAST = 0x35
const ANY_BIT = 0x45
const RETURN = 0x06
const AND = 0x54

const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const failWith = (errno: number) => 0x00050000 | errno
const EPERM = 1
const ENOMEM = 12
const ENOSYS = 38
const ENOPROTOOPT = 92
const EOPNOTSUPP = 95
const EAFNOSUPPORT = 97

// Offsets in the kernel's struct seccomp_data. Every argument checked here is 32 bits wide, so its low word is enough.
const CALL_NUMBER = 0
const ARCHITECTURE = 4
const FIRST_ARGUMENT = 16
const SECOND_ARGUMENT = 24
const THIRD_ARGUMENT = 32
const FOURTH_ARGUMENT = 40

const AUDIT_ARCH: Record<CpuArchitecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
const X32_CALL_BIT = 0x40000000
const AF_UNIX = 1
const AF_INET = 2
const SOCK_STREAM = 1
const SOCK_NONBLOCK_OR_CLOEXEC = 0o2004000
const IPPROTO_TCP = 6
const CLONE_THREAD = 0x00010000
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const CLONE_NEW_NAMESPACE = 0x7e020000
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const SOL_SOCKET = 1
const SO_SNDBUF = 7
const SO_RCVBUF = 8
/** The last of the options that every system has; those with higher numbers attach programs, devices and marks. */
const SO_SNDTIMEO = 21
/** SO_PEERNAME, TIMESTAMP, ACCEPTCONN, PEERSEC, PROTOCOL, DOMAIN and PEERGROUPS. */
const READABLE_SOCKET_OPTIONS = [28, 29, 30, 31, 38, 39, 59]
/** TCP_NODELAY, KEEPIDLE, KEEPINTVL, KEEPCNT, QUICKACK and USER_TIMEOUT. */
const TCP_OPTIONS = [1, 4, 5, 6, 12, 18]
const TCP_INFO = 11
const MSG_FASTOPEN = 0x20000000
/** IN_ACCESS, CLOSE_NOWRITE and OPEN. */
const IN_READING = 0x31
const MAP_SHARED = 0x01
const MAP_ANONYMOUS = 0x20
const MAP_GROWSDOWN = 0x100
const MAP_HUGETLB = 0x40000

const loadWord = (offset: number): Instruction => [LOAD, 0, 0, offset]
const returnVerdict = (verdict: number): Instruction => [RETURN, 0, 0, verdict]

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
  const localOnly: Instruction[] = [
    loadWord(FIRST_ARGUMENT),
    [EQUAL, 1, 0, AF_UNIX],
    returnVerdict(failWith(EAFNOSUPPORT)),
    returnVerdict(ALLOW),
  ]
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
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.socket[column], profile === 'loopback' ? allowLocalOrTcp() : localOnly),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.socketpair[column], localOnly),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.ioctl[column], noTyping),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.mmap[column], allowCountedMemoryOnly()),
    ...ifCall(
      ARGUMENT_CHECKED_SYSCALLS.setsockopt[column],
      profile === 'loopback' ? allowCommonOptions(settableOptions(), TCP_OPTIONS) : ignoreSendBufferSize(),
    ),
    ...(profile === 'sealed' ? [] : ifCall(WORKSHOP_CHECKED_SYSCALLS.inotify_add_watch[column], denyReadWatches())),
    ...(profile === 'loopback' ? loopbackChecks(column) : []),
  ]
}

/** A filter cannot see an address; the network namespace of the cell, which has no route, keeps the connections inside. */
function loopbackChecks(column: 0 | 1): Instruction[] {
  const { getsockopt, sendto, sendmsg, sendmmsg } = LOOPBACK_CHECKED_SYSCALLS
  return [
    ...ifCall(getsockopt[column], allowCommonOptions(readableOptions(), [...TCP_OPTIONS, TCP_INFO])),
    ...ifCall(sendto[column], denyFastOpen(FOURTH_ARGUMENT)),
    ...ifCall(sendmmsg[column], denyFastOpen(FOURTH_ARGUMENT)),
    ...ifCall(sendmsg[column], denyFastOpen(THIRD_ARGUMENT)),
  ]
}

/** Of `socket(family, type, protocol)`: local sockets, and TCP over IPv4. */
function allowLocalOrTcp(): Instruction[] {
  return [
    loadWord(FIRST_ARGUMENT),
    [EQUAL, 8, 0, AF_UNIX],
    [EQUAL, 0, 6, AF_INET],
    loadWord(SECOND_ARGUMENT),
    [AND, 0, 0, 0xffffffff & ~SOCK_NONBLOCK_OR_CLOEXEC],
    [EQUAL, 0, 3, SOCK_STREAM],
    loadWord(THIRD_ARGUMENT),
    [EQUAL, 2, 0, 0],
    [EQUAL, 1, 0, IPPROTO_TCP],
    returnVerdict(failWith(EAFNOSUPPORT)),
    returnVerdict(ALLOW),
  ]
}

/** `socketOptions` decides about the options of sockets; of other levels only these options of TCP are allowed. */
function allowCommonOptions(socketOptions: Instruction[], tcpOptions: number[]): Instruction[] {
  const tcp = [loadWord(THIRD_ARGUMENT), ...allowListed(tcpOptions)]
  return [
    loadWord(SECOND_ARGUMENT),
    [EQUAL, 0, socketOptions.length, SOL_SOCKET],
    ...socketOptions,
    [EQUAL, 0, tcp.length, IPPROTO_TCP],
    ...tcp,
    returnVerdict(failWith(ENOPROTOOPT)),
  ]
}

/** Buffers keep their size, as in `ignoreSendBufferSize`. */
function settableOptions(): Instruction[] {
  return [
    loadWord(THIRD_ARGUMENT),
    [EQUAL, 2, 0, SO_SNDBUF],
    [EQUAL, 1, 0, SO_RCVBUF],
    [GREATER, 1, 2, SO_SNDTIMEO],
    returnVerdict(failWith(0)),
    returnVerdict(failWith(ENOPROTOOPT)),
    returnVerdict(ALLOW),
  ]
}

function readableOptions(): Instruction[] {
  const others = allowListed(READABLE_SOCKET_OPTIONS)
  return [loadWord(THIRD_ARGUMENT), [GREATER, 0, others.length - 1, SO_SNDTIMEO], ...others]
}

/** Allows the loaded word if it is in the list; the last instruction allows the call. */
function allowListed(list: number[]): Instruction[] {
  return [
    ...list.map((option, index): Instruction => [EQUAL, list.length - index, 0, option]),
    returnVerdict(failWith(ENOPROTOOPT)),
    returnVerdict(ALLOW),
  ]
}

/** Changes of files may be watched. A watch for reading would show which programs of the host others start. */
function denyReadWatches(): Instruction[] {
  return [loadWord(THIRD_ARGUMENT), [ANY_BIT, 0, 1, IN_READING], returnVerdict(failWith(EPERM)), returnVerdict(ALLOW)]
}

/** Data with the first packet would connect a socket without `connect`, and the kernel keeps it outside of the buffers. */
function denyFastOpen(flags: number): Instruction[] {
  return [loadWord(flags), [ANY_BIT, 0, 1, MSG_FASTOPEN], returnVerdict(failWith(EOPNOTSUPP)), returnVerdict(ALLOW)]
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

/**
 * Keeps send buffers at their default size, because the memory monitor counts sockets and not their content. The call
 * succeeds without effect, as it does in the kernel for a size above the maximum.
 */
function ignoreSendBufferSize(): Instruction[] {
  return [
    loadWord(SECOND_ARGUMENT),
    [EQUAL, 0, 3, SOL_SOCKET],
    loadWord(THIRD_ARGUMENT),
    [EQUAL, 0, 1, SO_SNDBUF],
    returnVerdict(failWith(0)),
    returnVerdict(ALLOW),
  ]
}

function rejectUnknownCalls(): Instruction[] {
  return [[GREATER, 0, 1, NEWEST_KNOWN_SYSCALL], returnVerdict(failWith(ENOSYS))]
}

/** Every branch must end in a verdict, because a check overwrites the call number that later tests need. */
function ifCall(call: number, branch: Instruction[]): Instruction[] {
  return [[EQUAL, 0, branch.length, call], ...branch]
}

function forEachCall(calls: SyscallTable, column: 0 | 1, verdict: number): Instruction[] {
  return Object.values(calls).flatMap((numbers) => {
    const call = numbers[column]
    return call === null ? [] : ifCall(call, [returnVerdict(verdict)])
  })
}

function assemble(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, whenTrue, whenFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(whenTrue, index * 8 + 2)
    bytes.writeUInt8(whenFalse, index * 8 + 3)
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4)
  }
  return bytes
}
