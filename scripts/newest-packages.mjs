// Installs packages of npm in the versions that a plain `npm install` brings today, for tests of the release check.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs the newest versions of these packages, and of what they need, into `node_modules` of the folder, which must have
 * nothing else in it. Returns the version of each package by its name, and throws if npm fails.
 * @param {string[]} names
 * @param {string} folder
 * @returns {Record<string, string>}
 */
export function installNewest(names, folder) {
  mkdirSync(folder, { recursive: true })
  // A folder without a package.json would make npm install into a folder above it.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  // --prefer-online: npm's cache may have the list of versions of last week.
  // Names without `@latest`: npm then leaves out versions that are not for the Node that it runs on.
  const npm = spawnSync('npm', ['install', '--prefer-online', ...options, ...names], { cwd: folder, encoding: 'utf8' })
  if (npm.status !== 0) throw new Error(`npm could not install ${names.join(' ')}: ${npm.error ?? npm.stderr}`)
  return Object.fromEntries(names.map((name) => [name, versionOf(join(folder, 'node_modules', name))]))
}

/** @param {string} packageFolder */
function versionOf(packageFolder) {
  return String(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).version)
}
