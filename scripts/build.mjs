// Generates the API types, and bundles the service with its command line, the programs that run inside a sandbox, and the console.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import { buildConsole, isNewerThan } from './console.mjs'
import { describeTables } from './table-descriptions.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const stamp = '.built'

/** A CommonJS bundle has no `import.meta.url`. */
const banner = "'use strict';const __moduleUrl=require('node:url').pathToFileURL(__filename).href;"

/**
 * Leaves out the other languages of the validator, which would be a tenth of the program.
 * @type {import('esbuild').Plugin}
 */
const englishOnly = {
  name: 'english only',
  setup: (build) =>
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
      resolveDir: join(root, 'node_modules/zod/v4/locales'),
    })),
}

/** Files with a large library that few deployments use. The service loads their bundles at first use, so they cost no start. */
const loadedAtFirstUse = [
  'src/customers/channels/mail/imap-client.ts',
  'src/customers/channels/parsers/parser-table.ts',
  'src/platform/base/parse-yaml.ts',
  'src/connections/mail/smtp-client.ts',
  'src/connections/mcp/mcp-client.ts',
]

/** @param {string} entry */
const nameOfBundle = (entry) => basename(entry).replace(/\.ts$/, '.cjs')

/**
 * Leaves a dynamic import of such a file to its own bundle, which is beside the bundle of the service.
 * @type {import('esbuild').Plugin}
 */
const firstUseBundles = {
  name: 'bundles that are loaded at first use',
  setup: (build) =>
    build.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      const entry = loadedAtFirstUse.find(
        (file) => kind === 'dynamic-import' && join(root, file) === join(resolveDir, path),
      )
      return entry ? { path: `./${nameOfBundle(entry)}`, external: true } : undefined
    }),
}

/** @type {import('esbuild').BuildOptions} */
const firstUseOptions = { minify: true, format: 'cjs' }

/**
 * For code that asks for `import.meta.url`.
 * @type {import('esbuild').BuildOptions}
 */
const moduleUrl = { define: { 'import.meta.url': '__moduleUrl' }, banner: { js: banner } }

/** @type {{ entry: string, out: string, options: import('esbuild').BuildOptions }[]} */
const bundles = [
  {
    entry: 'src/main.ts',
    out: 'service.cjs',
    options: {
      plugins: [englishOnly, firstUseBundles],
      // The launcher gives the service `require`, and no `import()`.
      supported: { 'dynamic-import': false },
      external: ['@photostructure/sqlite', 'pg-native'],
      format: 'cjs',
      ...moduleUrl,
      minifySyntax: true,
      minifyWhitespace: true,
    },
  },
  // CommonJS starts a few milliseconds faster, and these two programs are started often.
  { entry: 'src/programs/harness/main.ts', out: 'harness.cjs', options: { minify: true, format: 'cjs' } },
  { entry: 'src/programs/workflow-cell/main.ts', out: 'workflow-cell.cjs', options: { minify: true, format: 'cjs' } },
  {
    entry: 'src/programs/workflow-cell/program-setup.ts',
    out: 'program-setup.cjs',
    options: { minify: true, format: 'cjs' },
  },
  {
    entry: 'src/customers/channels/parsers/parser-thread.ts',
    out: 'parser-thread.cjs',
    options: { ...firstUseOptions, plugins: [firstUseBundles], supported: { 'dynamic-import': false } },
  },
  {
    entry: 'src/platform/store/sqlite/reader-thread.ts',
    out: 'reader-thread.cjs',
    options: { ...firstUseOptions, ...moduleUrl },
  },
  ...loadedAtFirstUse.map((entry) => ({ entry, out: nameOfBundle(entry), options: firstUseOptions })),
]

try {
  await build()
} catch (error) {
  const isPrinted = error instanceof Error && 'errors' in error // esbuild has printed it with its source lines
  process.stderr.write(`svc: the build failed${isPrinted ? ', see above' : `: ${String(error)}`}\n`)
  process.exitCode = 1
}

/** Renames complete files into dist, so a service that starts meanwhile reads either the old or the new build. */
async function build() {
  mkdirSync(dist, { recursive: true })
  // Before the stamp, because the generated files are among the sources that the next start compares with it.
  generateApiTypes()
  const fresh = mkdtempSync(join(dist, '.next-'))
  try {
    // The stamp has the time of the start, so that files edited during the build are newer than the build.
    writeFileSync(join(fresh, stamp), '')
    const programs = bundles.filter(({ entry }) => existsSync(join(root, entry)))
    // The tests of the service do not need the console.
    const pages = process.argv.includes('--programs') ? [] : [buildConsole(dist)]
    copyFileSync(join(root, 'scripts/launcher.mjs'), join(fresh, 'svc.mjs'))
    chmodSync(join(fresh, 'svc.mjs'), 0o755)
    // For the views of PostgreSQL, which show the comments of the tables.
    writeFileSync(join(fresh, 'table-descriptions.json'), JSON.stringify(describeTables()))
    await Promise.all([...programs.map((program) => bundle(program, fresh)), ...pages])
    for (const name of readdirSync(dist).filter(isCodeCache)) rmSync(join(dist, name))
    const outputs = readdirSync(fresh).filter((name) => name !== stamp)
    for (const name of [...outputs, stamp]) renameSync(join(fresh, name), join(dist, name))
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** The types of all operations, for the console and the TypeScript client. They are not committed. */
function generateApiTypes() {
  const generatedAt = join(dist, '.api-types')
  const files = ['console/src/api/openapi.ts', 'console/src/portal/operations.ts', 'clients/typescript/src/openapi.ts']
  const isGenerated = files.every((file) => existsSync(join(root, file)))
  if (isGenerated && isNewerThan(generatedAt, ['src', 'client-text', 'scripts'])) return
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/api-types.ts', '--not-committed'], {
    cwd: root,
    stdio: 'inherit',
  })
  writeFileSync(generatedAt, '')
}

/**
 * The launcher stores compiled code of a build in such files.
 * @param {string} name
 */
function isCodeCache(name) {
  return name.startsWith('.compiled-')
}

/**
 * @param {typeof bundles[number]} program
 * @param {string} folder
 */
async function bundle({ entry, out, options }, folder) {
  const outfile = join(folder, out)
  await esbuild.build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    logLevel: 'warning',
    ...options,
  })
  chmodSync(outfile, 0o755)
}
