import { basename } from 'node:path'
import type { JsonObject } from '../../../platform/base/json.ts'
import type { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { type CliCommand, commandArg, stringOption } from '../shell/command.ts'
import { EXIT_CODE, usageError } from '../shell/failure.ts'
import { inlineReferences } from './inline-references.ts'
import { reserveName, toPythonDeclarations, toTypeName } from './python-types.ts'
import { toSchemaShape } from './schema-shape.ts'
import { toTypeScript } from './typescript-types.ts'
import { findWedgeFolder, readWedgeManifest } from './wedge-folders.ts'

const WRITERS = new Map([
  ['typescript', writeTypeScript],
  ['python', writePython],
])

export const wedgeTypesCommand: CliCommand = {
  name: 'wedge types',
  usage: 'DIR|WEDGE [--language typescript|python]',
  summary: 'print the types of the input and output of every task type',
  details: `The types come from input_schema and output_schema in wedge.json. A task type without a schema takes any value.
TypeScript gets one interface for each task type, for run() of the client; Python gets two TypedDicts.`,
  options: { language: { type: 'string' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, env } = call.context
    const language = stringOption(call, 'language') ?? 'typescript'
    const write = WRITERS.get(language)
    if (!write) throw usageError(`unknown language '${language}'`, `languages: ${[...WRITERS.keys()].join(', ')}`)
    const folder = findWedgeFolder(env, commandArg(call, 0))
    const types = write(readWedgeManifest(folder), generatedBy(basename(folder)))
    if (terminal.isJson) terminal.printJson({ wedge: basename(folder), language, types })
    else terminal.print(types)
    return EXIT_CODE.ok
  },
}

const generatedBy = (wedge: string) => `Generated from the wedge.json of ${wedge} by \`svc wedge types\`. Do not edit.`

function writeTypeScript(manifest: WedgeManifest, comment: string): string {
  const interfaces = namedTaskTypes(manifest).map(({ name, type, input_schema, output_schema }) =>
    [
      `export interface ${name} {`,
      `  wedge: '${manifest.wedge}'`,
      `  task_type: '${type}'`,
      `  input: ${toTypeScript(shapeOf(input_schema), '  ')}`,
      `  output: ${toTypeScript(shapeOf(output_schema), '  ')}`,
      '}',
    ].join('\n'),
  )
  return [`// ${comment}`, ...interfaces].join('\n\n')
}

function writePython(manifest: WedgeManifest, comment: string): string {
  const types = namedTaskTypes(manifest).flatMap(({ name, input_schema, output_schema }) => [
    { name: `${name}Input`, schema: input_schema },
    { name: `${name}Output`, schema: output_schema },
  ])
  const usedNames = new Set(types.map(({ name }) => name))
  const declarations = types.flatMap(({ name, schema }) => toPythonDeclarations(name, shapeOf(schema), usedNames))
  const imports =
    'from __future__ import annotations\n\nfrom typing import Any, Literal, NotRequired, TypeAlias, TypedDict'
  return [`# ${comment}\n${imports}`, ...declarations].join('\n\n\n')
}

const shapeOf = (schema: JsonObject | null | undefined) => toSchemaShape(inlineReferences(schema ?? null))

/** Two task types whose names differ only in `-` and `_` would get the same name, so the second one gets a number. */
function namedTaskTypes({ task_types }: WedgeManifest) {
  const usedNames = new Set<string>()
  return Object.entries(task_types).map(([type, declared]) => {
    const base = /^\d/.test(type) ? `Type${toTypeName(type)}` : toTypeName(type)
    return { ...declared, type, name: reserveName(base, usedNames) }
  })
}
