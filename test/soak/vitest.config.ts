import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/** The tests of `npm test` that have more cases in a soak of full length. Those in a browser need a set-up of their own. */
const withMoreCases = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.test.ts') && !path.includes('viewer') && Number(process.env.KLINES_SOAK ?? 1) >= 1)
  .map(path => join('test', path))
  .filter(path => /support\/(cases|soak)\.js/.test(readFileSync(path, 'utf8')))

/** Long loops with limits of their own, and in full length all cases of the tests that have very many. */
export default defineConfig({
  test: {
    ...base.test,
    projects: undefined,
    globalSetup: ['test/support/run-folder.ts', 'test/support/global-setup.ts'],
    include: ['test/soak/**/*.soak.ts', ...withMoreCases],
    env: {
      ...base.test?.env,
      KLINES_SOAK: process.env.KLINES_SOAK ?? '1',
      KLINES_TEST_LIMIT_MS: String(10 * 60_000),
    },
    testTimeout: 60 * 60_000,
    maxWorkers: 2,
  },
})
