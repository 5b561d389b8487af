import { existsSync, readFileSync } from 'node:fs'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { SANDBOX_CHOICES, type SandboxChoice, type SandboxTrial, type ServerCommands } from '../shell/command.ts'
import { type CheckResult, failCheck, okCheck, warnCheck } from './check-result.ts'

const CHOOSE_ANOTHER = 'correct this, or choose another driver with SVC_SANDBOX (docs/security.md)'

/** Checks the driver that SVC_SANDBOX chooses, and a custom agent in its cells. Starts them as the service does. */
export async function checkSandbox(text: string, server: ServerCommands): Promise<CheckResult[]> {
  const choice = SANDBOX_CHOICES.find((name) => name === text)
  if (choice === undefined) return [failCheck('sandbox', `there is no driver ${text}`, CHOOSE_ANOTHER)]
  try {
    const trial = await server.trySandbox(choice)
    return [...describeDriver(choice, trial), describeCustomAgents(trial)]
  } catch (error) {
    return [failCheck('sandbox', `${choice}: ${errorMessage(error)}`, CHOOSE_ANOTHER)]
  }
}

function describeDriver(choice: SandboxChoice, { kind, warnings }: SandboxTrial): CheckResult[] {
  if (choice === 'auto' && kind === 'process') {
    // The first says why, and what to install or to allow.
    const [reason = ''] = warnings
    return [warnCheck('sandbox', reason, NOT_ISOLATED), checkUserNamespaces(kind)]
  }
  if (kind === 'process')
    return [warnCheck('sandbox', 'process is not a security boundary', 'unset SVC_SANDBOX if this is not a test')]
  const driver =
    warnings.length === 0
      ? okCheck('sandbox', `${kind} works`)
      : warnCheck('sandbox', `${kind} works, but ${warnings.join('; ')}`, CHOOSE_ANOTHER)
  return kind === 'bwrap' ? [driver, checkUserNamespaces(kind)] : [driver]
}

const NOT_ISOLATED = 'until this is corrected, agents can use the network, and the shell tool is off (docs/security.md)'

const CHANGE_NODE = 'run the service on another version of Node, or choose another driver with SVC_SANDBOX'
const USE_SOCKET = 'choose another driver with SVC_SANDBOX, or let agents use the socket (docs/agent-protocol.md)'

/** Most libraries of models and of MCP use `fetch`, which can fail in a sandbox on some versions of Node only. */
function describeCustomAgents({ kind, hasLoopback, fetchProblem }: SandboxTrial): CheckResult {
  if (!hasLoopback) return warnCheck('custom agents', `${kind} gives them no port for fetch`, USE_SOCKET)
  if (fetchProblem === null) return okCheck('custom agents', `fetch reaches the service (${kind})`)
  const problem = fetchProblem.replaceAll(/\s+/g, ' ')
  const detail = `fetch does not reach the service (${kind}, Node ${process.versions.node}): ${problem}`
  return failCheck('custom agents', detail, CHANGE_NODE)
}

/** Kernel settings that can forbid user namespaces: name, forbidding value, allowing value. */
const KERNEL_SETTINGS = [
  ['user/max_user_namespaces', '0', '15000'],
  ['kernel/unprivileged_userns_clone', '0', '1'],
  ['kernel/apparmor_restrict_unprivileged_userns', '1', '0'],
] as const

function checkUserNamespaces(driver: string): CheckResult {
  if (process.platform !== 'linux') return okCheck('user namespaces', `not needed on ${process.platform}`)
  const setting = KERNEL_SETTINGS.find(([name, forbidding]) => readKernelSetting(name) === forbidding)
  if (!setting) return okCheck('user namespaces', 'allowed')
  const [name, value, allowing] = setting
  const dotted = name.replace('/', '.')
  if (driver === 'bwrap')
    return okCheck('user namespaces', `restricted by ${dotted}=${value}, but bubblewrap can use them`)
  return warnCheck('user namespaces', `forbidden by ${dotted}=${value}`, `sudo sysctl -w ${dotted}=${allowing}`)
}

function readKernelSetting(name: string): string | null {
  const path = `/proc/sys/${name}`
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}
