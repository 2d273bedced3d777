import { defineConfig } from 'vitest/config'
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['test/support/own-cache.ts'],
    env: { TZ: 'Australia/Lord_Howe' },
    disableConsoleIntercept: true,
    testTimeout: 180000,
    hookTimeout: 180000,
    expect: { poll: { timeout: 60000 } },
    isolate: false,
    pool: 'forks',
    maxWorkers: 1,
  },
})
