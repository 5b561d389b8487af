// Builds the console, the portal and the widget into dist/console, if their sources are newer than the last build.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = '.built'
const COMPRESSED = /\.(js|css|html|svg)$/

/** @param {string} dist */
export async function buildConsole(dist) {
  const built = join(dist, 'console')
  if (isNewerThan(join(built, stamp), ['console', 'client-text', 'clients/typescript/src', 'scripts/console.mjs']))
    return
  const started = Date.now()
  const fresh = mkdtempSync(join(dist, '.console-'))
  try {
    // Imported on use, because a build without console changes does not need it.
    const [{ build }, { default: config }] = await Promise.all([import('vite'), import('../console/vite.config.mjs')])
    await build({ ...config, configFile: false, build: { ...config.build, outDir: fresh, emptyOutDir: true } })
    await buildWidget(fresh)
    await compressAll(fresh)
    writeFileSync(join(fresh, stamp), '')
    // The stamp has the time of the start, so that files edited during the build are newer than the build.
    utimesSync(join(fresh, stamp), started / 1000, started / 1000)
    chmodSync(fresh, 0o755)
    rmSync(built, { recursive: true, force: true })
    renameSync(fresh, built)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/**
 * One script without imports, because other people's pages load it by one tag.
 * @param {string} folder
 */
async function buildWidget(folder) {
  const { default: esbuild } = await import('esbuild')
  await esbuild.build({
    entryPoints: [join(root, 'console/src/widget/main.ts')],
    outfile: join(folder, 'widget.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    logLevel: 'warning',
  })
}

/**
 * Whether a file was written after the last change of these sources and of the installed packages.
 * @param {string} file
 * @param {string[]} sources
 */
export function isNewerThan(file, sources) {
  const all = [...sources, 'node_modules/.package-lock.json']
  return changedAt(file) >= Math.max(...all.map((source) => newestIn(join(root, source))))
}

/**
 * Includes folders, whose time changes when a file in them is created, deleted or renamed.
 * @param {string} path
 * @returns {number}
 */
function newestIn(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return 0
  const inside = stats.isDirectory() ? readdirSync(path).map((name) => newestIn(join(path, name))) : []
  return Math.max(stats.mtimeMs, ...inside)
}

/** @param {string} file */
function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/**
 * Compresses at build time instead of at every request.
 * @param {string} folder
 */
async function compressAll(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => COMPRESSED.test(name))
  await Promise.all(files.map((name) => compress(join(folder, name))))
}

/** @param {string} file */
async function compress(file) {
  writeFileSync(`${file}.gz`, await promisify(gzip)(readFileSync(file), { level: 9 }))
}
