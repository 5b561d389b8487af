import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { ROOT } from '../docs/pages.ts'
import { CLIENT_GUIDE, documentedPrograms, refundDeskTypes } from './documented-programs.ts'
import { PYTHON_CLIENT_FOLDER } from './run-python.ts'

const run = promisify(execFile)

/** What is installed beside the client: its dependency, the tool that builds it, and the type checker. */
const PACKAGES = ['httpx==0.28.1', 'setuptools==80.9.0', 'mypy==2.4.0']

const ENVIRONMENT = join(ROOT, 'node_modules/.cache/python-client', PACKAGES.join('-'))

/** Prints the files of the installed package. */
const INSPECT = `
import agent_work_service_client as client, pathlib
print(sorted(file.name for file in pathlib.Path(client.__file__).parent.iterdir() if file.is_file()))
`

test('pip installs the client as a typed package, and mypy accepts it and the documented programs', async ({
  skip,
}) => {
  const problem = await createEnvironment()
  if (problem !== null) skip(problem)
  const folder = mkdtempSync(join(tmpdir(), 'svc-python-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // pip writes into the folder that it builds.
  cpSync(PYTHON_CLIENT_FOLDER, join(folder, 'source'), { recursive: true })
  // The programs of an environment that was renamed, such as `pip`, do not find it: only `python -m` does.
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--force-reinstall',
    '--no-deps',
    '--no-build-isolation',
    '--no-index',
    './source',
  ]
  const python = join(ENVIRONMENT, 'bin/python')
  await run(python, pip, { cwd: folder })
  const { stdout: installed } = await run(python, ['-I', '-B', '-c', INSPECT], { cwd: folder })
  expect(installed).toBe("['__init__.py', 'py.typed']\n")
  const guide = documentedPrograms(CLIENT_GUIDE, 'python')
  const readme = documentedPrograms('clients/python/README.md', 'python')
  writeFiles(folder, {
    'refund_desk.py': await refundDeskTypes('python'),
    'guide_caller.py': guide.caller(''),
    'guide_agent.py': guide.sandbox,
    'guide_webhook.py': guide.webhook,
    'readme_caller.py': readme.caller(''),
    'readme_agent.py': readme.sandbox,
    'wrong.py': MISTAKES,
  })
  const mypy = ['-m', 'mypy', '--strict', '--cache-dir', join(ENVIRONMENT, 'mypy-cache')]
  const names = ['guide_caller', 'guide_agent', 'guide_webhook', 'readme_caller', 'readme_agent', 'refund_desk']
  const files = [...names, 'source/agent_work_service_client', 'wrong'].map((name) => `${name}.py`)
  const { stdout } = await run(python, [...mypy, ...files], { cwd: folder })
  expect(stdout).toMatch(/^Success: no issues found in 8 source files/)
})

/** mypy must find each of these mistakes: it reports a comment that ignores nothing. */
const MISTAKES = `
from agent_work_service_client import AgentWorkClient, Event, Sandbox

def show(event: Event) -> None:
    if event["type"] == "progress":
        print(event["data"]["text"])
        print(event["data"]["approval_id"])  # type: ignore[typeddict-item]

def use(service: AgentWorkClient, sandbox: Sandbox) -> None:
    task = service.run("a", "b", on_event=show)
    print(task["statuss"])  # type: ignore[typeddict-item]
    service.run("a", "b", constrants={})  # type: ignore[call-arg]
    service.follow(1)  # type: ignore[arg-type]
    print(sandbox.act("a", {})["note"] + 1)  # type: ignore[operator]
`

/** Installs the packages once for all runs. Returns why that is impossible here, or null. */
async function createEnvironment(): Promise<string | null> {
  if (existsSync(ENVIRONMENT)) return null
  const partial = `${ENVIRONMENT}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  try {
    await run('python3', ['-m', 'venv', partial])
    await run(join(partial, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--retries', '1', ...PACKAGES])
  } catch (error) {
    return `pip cannot install ${PACKAGES.join(', ')}: ${String(error)}`
  }
  renameSync(partial, ENVIRONMENT)
  return null
}
