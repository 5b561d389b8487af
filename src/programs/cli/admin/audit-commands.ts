import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { type AuditExportVerdict, verifyAuditExport } from '../../../platform/contract/audit/audit-export.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { createLineSplitter } from '../../../platform/base/lines.ts'
import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE, commandFailed, usageError } from '../shell/failure.ts'
import type { Terminal } from '../shell/terminal.ts'

export const verifyAuditCommand: CliCommand = {
  name: 'audit verify',
  usage: 'FILE|-',
  summary: 'verify an exported audit log, without the service',
  details: (
    svc,
  ) => `Create an export with \`${svc} audit export > audit.jsonl\`. The exit code is 1 if an entry was changed, removed or
added, or if the signed last line is missing. The file itself contains the signing key: compare its id with that of an
export that you trust, or with the lines 'audit checkpoint' in the log of the service (SVC_LOG_LEVEL=debug).`,
  argCount: [1, 1],
  async run(call) {
    const { terminal } = call.context
    const verdict = await verifyFile(commandArg(call, 0))
    if (terminal.isJson) terminal.printJson(verdict)
    else showVerdict(terminal, verdict)
    return verdict.ok ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

export const exportAuditCommand: CliCommand = {
  name: 'audit export',
  usage: '',
  summary: 'write the audit log of the project to stdout, as JSON lines',
  argCount: [0, 0],
  async run({ context: { service } }) {
    const { body } = await service.open('/v1/audit/export')
    // Waits for the reader of stdout, because the log may be larger than the memory.
    for await (const chunk of body ?? []) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
    return EXIT_CODE.ok
  },
}

async function verifyFile(file: string): Promise<AuditExportVerdict> {
  if (file !== '-') await access(file).catch(() => Promise.reject(usageError(`cannot read the file '${file}'`)))
  const input = file === '-' ? process.stdin : createReadStream(file)
  try {
    return await verifyAuditExport(splitLines(input))
  } catch (error) {
    throw commandFailed(
      `${file}: ${errorMessage(error)}`,
      (svc) => `create an export with \`${svc} audit export > audit.jsonl\``,
    )
  }
}

/** Does not use readline, because newer versions of Node also split at U+2028 and U+2029, which JSON strings may contain. */
async function* splitLines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const lines: string[] = []
  const splitter = createLineSplitter(Infinity, (line) => lines.push(line))
  for await (const chunk of input) {
    splitter.push(chunk)
    yield* lines.splice(0)
  }
  yield splitter.rest()
}

function showVerdict(terminal: Terminal, verdict: AuditExportVerdict): void {
  const { ok, entries, problem, signed_by, checkpoints, chain, exported_at } = verdict
  if (!ok) {
    terminal.print(terminal.styled('red', `✗ the audit log of ${chain} does not verify: ${problem}`))
    terminal.note(describeTrust(verdict))
    return
  }
  terminal.print(
    terminal.styled('green', `✓ the audit log of ${chain} verifies: ${entries} ${entries === 1 ? 'entry' : 'entries'}`),
  )
  terminal.print(`signed at ${exported_at} with key ${signed_by}, ${countCheckpoints(checkpoints.signed)}`)
  terminal.note('the key comes from the file: compare its id with that of an export that you trust')
  if (checkpoints.not_verifiable > 0)
    terminal.note(`signed by other keys and not verified: ${countCheckpoints(checkpoints.not_verifiable)}`)
}

/** Hashes alone prove little, because the author of a forged file can compute them. */
function describeTrust({ first_bad_seq, anchored_to, signed_by }: AuditExportVerdict): string {
  const signed = anchored_to ? `signed up to entry ${anchored_to} with key ${signed_by}` : 'none of them is signed'
  return `the hashes of the entries before ${first_bad_seq} are correct; ${signed}`
}

const countCheckpoints = (checkpoints: number) => `${checkpoints} checkpoint${checkpoints === 1 ? '' : 's'}`
