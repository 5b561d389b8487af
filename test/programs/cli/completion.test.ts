import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../src/programs/cli/commands.ts'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

/** Each prints the choices for a line whose end is the cursor, one on a line; zsh and fish may not be installed. */
const SHELLS = {
  bash: (file: string, line: string) => [
    'bash',
    '-c',
    `source "$1"; COMP_LINE=$2 COMP_POINT=\${#2}; read -ra COMP_WORDS <<<"$2"
     [[ $2 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
     spec=$(complete -p svc); spec=\${spec##*-F }; "\${spec%% *}"; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    file,
    line,
  ],
  // The functions of the completion system only print what they are given.
  zsh: (file: string, line: string) => [
    'zsh',
    '-f',
    '-c',
    `compdef() { : }; _files() { : }
     compadd() { shift; print -l -- \${(M)@:#$words[CURRENT]*} }
     _describe() { local -a list=("\${(@P)2}"); list=("\${(@)list%%:*}"); print -l -- \${(M)list:#$words[CURRENT]*} }
     source "$1"; words=("\${(@s: :)2}"); CURRENT=$#words; _svc`,
    'zsh',
    file,
    line,
  ],
  fish: (file: string, line: string) => [
    'fish',
    '--no-config',
    '-c',
    'source $argv[1]; complete -C $argv[2]',
    file,
    line,
  ],
} as const

const isInstalled = (shell: string) => spawnSync(shell, ['--version']).status === 0

describe.each(['bash', 'zsh', 'fish'] as const)('the completion for %s', (shell) => {
  test.runIf(isInstalled(shell))('offers commands, subcommands, options and listed values', async () => {
    const folder = temporaryFolder()
    const file = join(folder, `svc.${shell}`)
    const { code, stdout } = await callSvc(['completion', shell])
    expect(code).toBe(0)
    writeFileSync(file, stdout)
    const complete = (line: string) => {
      const [program = '', ...args] = SHELLS[shell](file, line)
      const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
      const output = execFileSync(program, args, { encoding: 'utf8', cwd: folder, env })
      return output.split('\n').flatMap((choice) => choice.split('\t')[0]?.trim() || [])
    }
    const firstWords = [...new Set(COMMANDS.map(({ name }) => name.split(' ')[0] ?? '')), 'help']
    expect(complete('svc ').toSorted()).toEqual(firstWords.toSorted())
    expect(complete('./svc wed')).toEqual(['wedge'])
    expect(complete('svc --url http://a:1 --json wedge ch')).toEqual(['check'])
    expect(complete('svc approvals ').toSorted()).toEqual(
      ['answer', 'approve', 'assign', 'comment', 'edit', 'reject', 'revise', 'show', 'watch'].toSorted(),
    )
    expect(complete('svc approvals --s')).toEqual(['--status'])
    expect(complete('svc approvals approve apr_1 --n')).toEqual(['--note'])
    expect(complete('svc run a b --de')).toEqual(['--detach'])
    expect(complete('svc serve --js')).toEqual(['--json'])
    expect(complete('svc keys create x --role ad')).toEqual(['admin'])
    expect(complete('svc help aud')).toEqual(['audit'])
    expect(complete('svc completion f')).toEqual(['fish'])
    expect(complete('svc connection import ')).toEqual(['openapi'])
    expect(complete('svc nothing x')).toEqual([])
  })
})

test('completion names the shells that it knows', async () => {
  expect(await runSvc(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: "svc: unknown shell 'tcsh'\n     use bash, zsh or fish\n",
  })
})
