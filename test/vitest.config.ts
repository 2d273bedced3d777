import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const { CI, KLINES_TEST_REPORT = '.vitest-report.json' } = process.env
const END_TO_END = ['test/e2e/**/*.test.ts', 'test/faults/**/*.test.ts']
const BROWSER = ['test/e2e/viewer.test.ts', 'test/server/docs/browser.test.ts', 'test/chart/svg/rendered.test.ts']

/**
 * `e2e`, which has the faults too, runs the built program, `dist`; `unit` runs the sources, so that one of its files starts at once. The
 * files of `browser` share one browser, and run `dist` too. Each project transforms and loads the sources for itself.
 */
const projects: TestProjectInlineConfiguration[] = [
  {
    extends: true,
    test: {
      name: 'unit',
      include: ['test/**/*.test.ts'],
      exclude: [...END_TO_END, ...BROWSER],
      globalSetup: ['test/support/built-files.ts'],
    },
  },
  {
    extends: true,
    test: { name: 'e2e', include: END_TO_END, exclude: BROWSER, globalSetup: ['test/support/global-setup.ts'] },
  },
  {
    extends: true,
    test: {
      name: 'browser',
      include: BROWSER,
      globalSetup: ['test/support/global-setup.ts', 'test/support/browser-setup.ts'],
      // The server of the built program is loaded as it is.
      server: { deps: { external: [/\/dist\/server\//] } },
    },
  },
]

export default defineConfig({
  test: {
    projects,
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['test/support/own-cache.ts'],
    // An odd zone with a half-hour offset and daylight saving: any use of local time shows.
    env: { TZ: 'Australia/Lord_Howe' },
    disableConsoleIntercept: true,
    // Limits are for what hangs: a slow or busy machine alone must not reach them.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // A worker runs many files, and loads the sources once. Tests put back what they change of their process.
    isolate: false,
    pool: 'forks',
    maxWorkers: 4,
    // Slow tests get no line of their own.
    slowTestThreshold: Number.MAX_SAFE_INTEGER,
    reporters: CI ? ['default', ['json', { outputFile: KLINES_TEST_REPORT }]] : ['default'],
  },
})
