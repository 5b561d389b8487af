import { readSetting } from '../../../platform/contract/settings.ts'
import type { CliCommand } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'

export const serveCommand: CliCommand = {
  name: 'serve',
  usage: '',
  summary: 'start the service',
  details: `All settings are environment variables, see docs/settings.md. The first start prints the founder key once: export it
as SVC_KEY for the other commands.`,
  argCount: [0, 0],
  async run({ context }) {
    await context.server.serve(context.programName)
    return EXIT_CODE.ok
  },
}

export const rotateVaultCommand: CliCommand = {
  name: 'vault rotate',
  usage: '',
  summary: 'encrypt all secrets with a new SVC_SECRET_KEY',
  details: `Run it on the machine of the service, with its environment: stop the service, set the new key as SVC_SECRET_KEY and the
old one as SVC_SECRET_KEY_OLD, run this command, and start the service with the new key. The change is made completely
or not at all, and you can repeat the command.`,
  argCount: [0, 0],
  async run({ context: { env, server, programName: svc, terminal } }) {
    const { SVC_SECRET_KEY_OLD: old } = env
    if (!old) throw commandFailed('SVC_SECRET_KEY_OLD is not set', 'set it to the key that was used until now')
    if (!readSetting(env, 'SVC_SECRET_KEY')) {
      throw commandFailed('SVC_SECRET_KEY is not set', 'create a new key with: openssl rand -base64 32')
    }
    const rotation = await server.rotateVault(old)
    if (terminal.isJson) terminal.printJson(rotation)
    else
      terminal.print(
        `secrets encrypted with the new key: ${rotation.resealed}, already encrypted with it: ${rotation.current}`,
      )
    const { unreadable, unsealed } = rotation
    if (unreadable.length > 0) {
      terminal.note(`neither key decrypts the secrets of ${unreadable.join(', ')}: enter them again`)
    }
    if (unsealed.length > 0) {
      terminal.note(`neither key has sealed the audit logs of ${unsealed.join(', ')}: see ${svc} help audit adopt`)
    }
    return unreadable.length + unsealed.length === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

export const adoptAuditCommand: CliCommand = {
  name: 'audit adopt',
  usage: '',
  summary: 'seal the audit logs that are not sealed by SVC_SECRET_KEY',
  details: (
    svc,
  ) => `Needed once after SVC_SECRET_KEY was set for the first time, or replaced without \`${svc} vault rotate\`. Until then, verify
reports that the audit log does not verify. Run it on the machine of the service, with its environment. Each audit log
is sealed as it is, and an entry in it says so: first make sure that a changed key explains the report. An audit log
with any other problem is left unchanged, and the exit code is 1.`,
  argCount: [0, 0],
  async run({ context: { env, server, terminal } }) {
    if (!readSetting(env, 'SVC_SECRET_KEY')) {
      throw commandFailed(
        'SVC_SECRET_KEY is not set',
        'set it to the key of the service; without a key there is nothing to adopt',
      )
    }
    const adoption = await server.adoptChains()
    const { adopted, refused } = adoption
    if (terminal.isJson) terminal.printJson(adoption)
    else {
      for (const { chain, found, entries } of adopted) {
        terminal.print(`${chain}: ${HEAD_STATES[found] ?? found}; sealed from entry ${entries + 1} on`)
      }
      terminal.print(`${adopted.length} audit logs adopted`)
    }
    for (const { chain, problem } of refused) terminal.note(`${chain} was left unchanged: ${problem}`)
    return refused.length === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

const HEAD_STATES: Record<string, string> = {
  gone: 'had no head',
  unsealed: 'had no seal',
  foreign: 'had the seal of another key',
}
