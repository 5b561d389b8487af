import type { CliCommand } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'

export const serveCommand: CliCommand = {
  name: 'serve',
  usage: '',
  summary: 'start the service and stay',
  details: `Everything is set by environment variables, see the README. The first start prints the founder key once:
export it as SVC_KEY for the other commands.`,
  argCount: [0, 0],
  async run({ context: shell }) {
    await shell.server.serve(shell.programName)
    return EXIT_CODE.ok
  },
}

export const rotateVaultCommand: CliCommand = {
  name: 'vault rotate',
  usage: '',
  summary: 'seal all secrets anew with SVC_SECRET_KEY, opened with SVC_SECRET_KEY_OLD',
  details: `Run it where the service runs, with its environment: set the new key as SVC_SECRET_KEY and the one before as
SVC_SECRET_KEY_OLD, stop the service, rotate, and start it with the new key. All or nothing, and safe to repeat.`,
  argCount: [0, 0],
  async run({ context: { env, server, programName: svc, terminal } }) {
    const { SVC_SECRET_KEY_OLD: old } = env
    if (!old)
      throw commandFailed('SVC_SECRET_KEY_OLD is not set', 'set it to the key that sealed the secrets until now')
    if (!env.SVC_SECRET_KEY && !env.SVC_SECRET_KEY_FILE) {
      throw commandFailed('SVC_SECRET_KEY is not set', 'make a new key with: openssl rand -base64 32')
    }
    const rotation = await server.rotateVault(old)
    if (terminal.isJson) terminal.printJson(rotation)
    else terminal.print(`secrets sealed anew: ${rotation.resealed}, sealed by this key already: ${rotation.current}`)
    const { unreadable, unsealed } = rotation
    if (unreadable.length > 0) {
      terminal.note(`neither key opens the secrets of ${unreadable.join(', ')}: write them again`)
    }
    if (unsealed.length > 0) {
      terminal.note(
        `neither key has sealed the audit chains ${unsealed.join(', ')} as they are: see ${svc} help audit adopt`,
      )
    }
    return unreadable.length + unsealed.length === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

export const adoptAuditCommand: CliCommand = {
  name: 'audit adopt',
  usage: '',
  summary: 'seal the audit chains anew that SVC_SECRET_KEY has not sealed',
  details: (
    svc,
  ) => `Needed once after an upgrade from a version that did not seal each chain from its beginning, and after a key was set
for the first time or replaced without \`${svc} vault rotate\`: until then, verify says that the chain does not hold. Run it
where the service runs, with its environment. Each chain is taken over as it is, and an entry in it says so: look first
whether an upgrade or a key explains what verify says. A chain that was changed otherwise is left as it is: ends with 1.`,
  argCount: [0, 0],
  async run({ context: { env, server, terminal } }) {
    if (!env.SVC_SECRET_KEY && !env.SVC_SECRET_KEY_FILE) {
      throw commandFailed(
        'SVC_SECRET_KEY is not set',
        'set it to the key of the service; one without a key has none to adopt for',
      )
    }
    const adoption = await server.adoptChains()
    const { adopted, refused } = adoption
    if (terminal.isJson) terminal.printJson(adoption)
    else {
      for (const { chain, found, entries } of adopted) {
        terminal.print(`${chain}: ${HEAD_STATES[found] ?? found}; sealed from entry ${entries + 1} on`)
      }
      terminal.print(`${adopted.length} audit chains adopted`)
    }
    for (const { chain, problem } of refused) terminal.note(`${chain} was left as it is: ${problem}`)
    return refused.length === 0 ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

const HEAD_STATES: Record<string, string> = {
  gone: 'it had no head',
  unsealed: 'its head had no seal',
  foreign: 'its head had the seal of another key',
}
