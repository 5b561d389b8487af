import { SEALED_SYSCALLS, WORKSHOP_DENIED_SYSCALLS } from '../seccomp/syscall-table.ts'
import type { FilterProfile } from '../seccomp/seccomp-filter.ts'

/** The `linux.seccomp` part of an OCI configuration. */
export interface OciSeccomp {
  defaultAction: OciAction
  syscalls: OciRule[]
}

type OciAction = 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO'

interface OciRule {
  names: string[]
  action: OciAction
  args?: OciArgument[]
}

interface OciArgument {
  index: number
  value: number
  valueTwo?: number
  op: 'SCMP_CMP_EQ' | 'SCMP_CMP_NE' | 'SCMP_CMP_GT' | 'SCMP_CMP_MASKED_EQ'
}

/**
 * The rules of seccomp-filter.ts for gVisor, as far as they concern a program in it. gVisor fails every refused call
 * with EPERM. It needs no rules about memory, buffers and socket options: all of that stays in its own process.
 */
export function ociSeccomp(profile: FilterProfile): OciSeccomp {
  if (profile === 'sealed') return { defaultAction: 'SCMP_ACT_ERRNO', syscalls: sealedRules() }
  const sockets = profile === 'loopback' ? denyAllButLocalAndTcp() : [deny('socket', [notEqual(0, AF_UNIX)])]
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [
      { names: Object.keys(WORKSHOP_DENIED_SYSCALLS), action: 'SCMP_ACT_ERRNO' },
      ...NAMESPACE_FLAGS.map((flag) => deny('clone', [hasBits(0, flag)])),
      ...[TIOCSTI, TIOCLINUX].map((request) => deny('ioctl', [equal(1, request)])),
      deny('socketpair', [notEqual(0, AF_UNIX)]),
      ...sockets,
    ],
  }
}

const AF_UNIX = 1
const AF_INET = 2
const CLONE_THREAD = 0x00010000
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const SOCKET_TYPE_MASK = 0xf
/** Datagram, raw, reliable datagram, packet, DCCP and old packet sockets. */
const OTHER_SOCKET_TYPES = [2, 3, 4, 5, 6, 10]
const IPPROTO_TCP = 6

/** gVisor answers clone3 and pkey_alloc itself, as a kernel that has no such calls. */
function sealedRules(): OciRule[] {
  const checked = ['ioctl', 'mmap', 'setsockopt', 'clone3', 'pkey_alloc']
  return [
    { names: [...Object.keys(SEALED_SYSCALLS), ...checked], action: 'SCMP_ACT_ALLOW' },
    { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [hasBits(0, CLONE_THREAD)] },
    { names: ['socket', 'socketpair'], action: 'SCMP_ACT_ALLOW', args: [equal(0, AF_UNIX)] },
  ]
}

function denyAllButLocalAndTcp(): OciRule[] {
  const internet = equal(0, AF_INET)
  const otherProtocols = Array.from({ length: IPPROTO_TCP - 1 }, (_, index) => equal(2, index + 1))
  return [
    deny('socket', [equal(0, 0)]),
    deny('socket', [greater(0, AF_INET)]),
    ...OTHER_SOCKET_TYPES.map((type) => deny('socket', [internet, hasMasked(1, SOCKET_TYPE_MASK, type)])),
    ...[...otherProtocols, greater(2, IPPROTO_TCP)].map((protocol) => deny('socket', [internet, protocol])),
  ]
}

const deny = (name: string, args: OciArgument[]): OciRule => ({ names: [name], action: 'SCMP_ACT_ERRNO', args })
const equal = (index: number, value: number): OciArgument => ({ index, value, op: 'SCMP_CMP_EQ' })
const notEqual = (index: number, value: number): OciArgument => ({ index, value, op: 'SCMP_CMP_NE' })
const greater = (index: number, value: number): OciArgument => ({ index, value, op: 'SCMP_CMP_GT' })
const hasBits = (index: number, bits: number): OciArgument => hasMasked(index, bits, bits)
const hasMasked = (index: number, mask: number, value: number): OciArgument => ({
  index,
  value: mask,
  valueTwo: value,
  op: 'SCMP_CMP_MASKED_EQ',
})
