import { defineConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/** Long loops with limits of their own. */
export default defineConfig({
  test: {
    ...base.test,
    projects: undefined,
    globalSetup: ['test/support/run-folder.ts', 'test/support/global-setup.ts'],
    include: ['test/soak/**/*.soak.ts'],
    env: { ...base.test?.env, KLINES_TEST_LIMIT_MS: String(10 * 60_000) },
    testTimeout: 60 * 60_000,
    maxWorkers: 2,
  },
})
