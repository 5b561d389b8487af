/** One instruction of classic BPF. The two jumps skip that many instructions if the test holds, and if it does not. */
export type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number]

const LOAD = 0x20
export const EQUAL = 0x15
export const GREATER = 0x25
export const AT_LEAST = 0x35
export const ANY_BIT = 0x45
export const AND = 0x54
const RETURN = 0x06

export const ALLOW = 0x7fff0000
export const KILL_PROCESS = 0x80000000
/** With the error number 0 the call succeeds without effect. */
export const failWith = (errno: number) => 0x00050000 | errno

// Offsets in the kernel's struct seccomp_data. Every argument checked here is 32 bits wide, so its low word is enough.
export const CALL_NUMBER = 0
export const ARCHITECTURE = 4
export const FIRST_ARGUMENT = 16
export const SECOND_ARGUMENT = 24
export const THIRD_ARGUMENT = 32
export const FOURTH_ARGUMENT = 40

export const loadWord = (offset: number): Instruction => [LOAD, 0, 0, offset]
export const returnVerdict = (verdict: number): Instruction => [RETURN, 0, 0, verdict]

/** Every branch must end in a verdict, because a check overwrites the call number that later tests need. */
export function ifCall(call: number, branch: Instruction[]): Instruction[] {
  return [[EQUAL, 0, branch.length, call], ...branch]
}

export function assemble(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, whenTrue, whenFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(whenTrue, index * 8 + 2)
    bytes.writeUInt8(whenFalse, index * 8 + 3)
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4)
  }
  return bytes
}
