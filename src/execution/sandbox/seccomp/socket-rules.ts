import { ALLOW, AND, ANY_BIT, EQUAL, failWith, FIRST_ARGUMENT, FOURTH_ARGUMENT, GREATER } from './bpf-program.ts'
import { ifCall, type Instruction, loadWord, returnVerdict, SECOND_ARGUMENT, THIRD_ARGUMENT } from './bpf-program.ts'
import type { FilterProfile } from './seccomp-filter.ts'
import { ARGUMENT_CHECKED_SYSCALLS, LOOPBACK_CHECKED_SYSCALLS } from './syscall-table.ts'

const ENOPROTOOPT = 92
const EOPNOTSUPP = 95
const EAFNOSUPPORT = 97
const AF_UNIX = 1
const AF_INET = 2
const SOCK_STREAM = 1
const SOCK_NONBLOCK_OR_CLOEXEC = 0o2004000
const IPPROTO_IP = 0
const IPPROTO_TCP = 6
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
const IP_TOS = 1
const MSG_FASTOPEN = 0x20000000

/** The part of a filter that decides which sockets a cell may make, and how it may use them. */
export function socketRules(profile: FilterProfile, column: 0 | 1): Instruction[] {
  const { socket, socketpair, setsockopt } = ARGUMENT_CHECKED_SYSCALLS
  const localOnly = allowLocal()
  if (profile !== 'loopback') {
    return [
      ...ifCall(socket[column], localOnly),
      ...ifCall(socketpair[column], localOnly),
      ...ifCall(setsockopt[column], ignoreSendBufferSize()),
    ]
  }
  const { getsockopt, sendto, sendmsg, sendmmsg } = LOOPBACK_CHECKED_SYSCALLS
  return [
    // A filter cannot see an address; the network namespace of the cell, which has no route, keeps the connections inside.
    ...ifCall(socket[column], allowLocalOrTcp()),
    ...ifCall(socketpair[column], localOnly),
    ...ifCall(setsockopt[column], allowCommonOptions(settableOptions(), TCP_OPTIONS, ignoreTypeOfService())),
    ...ifCall(getsockopt[column], allowCommonOptions(readableOptions(), [...TCP_OPTIONS, TCP_INFO], [])),
    ...ifCall(sendto[column], denyFastOpen(FOURTH_ARGUMENT)),
    ...ifCall(sendmmsg[column], denyFastOpen(FOURTH_ARGUMENT)),
    ...ifCall(sendmsg[column], denyFastOpen(THIRD_ARGUMENT)),
  ]
}

function allowLocal(): Instruction[] {
  return [loadWord(FIRST_ARGUMENT), [EQUAL, 1, 0, AF_UNIX], returnVerdict(failWith(EAFNOSUPPORT)), returnVerdict(ALLOW)]
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

/**
 * `socketOptions` decides about the options of sockets. Of other levels only these options of TCP are allowed, and
 * `otherOptions` may return a verdict.
 */
function allowCommonOptions(
  socketOptions: Instruction[],
  tcpOptions: number[],
  otherOptions: Instruction[],
): Instruction[] {
  const tcp = [loadWord(THIRD_ARGUMENT), ...allowListed(tcpOptions)]
  return [
    loadWord(SECOND_ARGUMENT),
    [EQUAL, 0, socketOptions.length, SOL_SOCKET],
    ...socketOptions,
    [EQUAL, 0, tcp.length, IPPROTO_TCP],
    ...tcp,
    ...otherOptions,
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

/** `fetch` of Node 24.15 to 26.0 sets the type of service to 0, its default, and ends the process if that is refused. */
function ignoreTypeOfService(): Instruction[] {
  return [[EQUAL, 0, 3, IPPROTO_IP], loadWord(THIRD_ARGUMENT), [EQUAL, 0, 1, IP_TOS], returnVerdict(failWith(0))]
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

/** Data with the first packet would connect a socket without `connect`, and the kernel keeps it outside of the buffers. */
function denyFastOpen(flags: number): Instruction[] {
  return [loadWord(flags), [ANY_BIT, 0, 1, MSG_FASTOPEN], returnVerdict(failWith(EOPNOTSUPP)), returnVerdict(ALLOW)]
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
