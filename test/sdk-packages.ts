import { fileURLToPath } from 'node:url'

/**
 * The folder whose node_modules has the libraries that agents use: in the release check their newest versions
 * (`scripts/test-newest-sdks.mjs`), else the pinned ones.
 */
export const SDK_ROOT = process.env['NEWEST_SDKS'] ?? fileURLToPath(new URL('.', import.meta.url))
