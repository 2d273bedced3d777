import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import type { RetryPolicy } from '../../../src/sources/retry.js'
import { CliSandbox, FAILING_FS, findProcessSetting, type Run, type Running } from '../../support/cli/cli-sandbox.js'
import type { CallSettings } from '../../support/cli/in-process.js'
import { filesBelow } from '../../support/files-below.js'
import { letAnHourPass } from '../../support/let-an-hour-pass.js'
import { csvOf } from '../../support/sample-tree.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  PRESENT,
  START_DATES,
  treeRows,
  weekPath,
} from '../../support/synthetic-tree.js'
import { FaultServer } from './fault-server.js'
import { runInProcess } from './in-process-run.js'

/** How much memory a run may take at most, whatever the server sends, MiB. */
const MOST_MEMORY = 250

export const LIST = 'api/klines/start-dates/15m.json'
export const SYMBOLS_LIST = 'api/klines/symbols.json'
/** Where a mirror keeps them. */
export const STORED_LIST = '.klines/start-dates/15m.json'
export const STORED_SYMBOLS = '.klines/symbols.json'
/** The faulty window, in the middle of its series. */
export const WEEK = FULL_WEEKS[2]
export const FAULTY = weekPath('BTCUSDT', WEEK)
export const ALL_WINDOWS = START_DATES.map(date => weekPath('BTCUSDT', date))
/** Windows that are never final. */
export const OPEN_WINDOWS = [OPEN_WEEK, FUTURE_WEEK].map(date => weekPath('BTCUSDT', date))

const STORED_LISTS: readonly string[] = [STORED_LIST, STORED_SYMBOLS]

/** The path in the tree of a file of a mirror: lists lie elsewhere. */
function treePath(name: string): string {
  return STORED_LISTS.includes(name) ? name.replace('.klines', 'api/klines') : name
}

/** Whether a file of a mirror is what is known of a series. */
function isIndex(name: string): boolean {
  return name.startsWith('.klines/') && !STORED_LISTS.includes(name)
}

/** Files of a mirror that are not part of the tree. */
const OWN_FILES = ['changes.jsonl', 'mirror.json']

/** Which API the healthy tree is downloaded through. */
export type FaultSource = 'static' | 'exchange'

type Env = Record<string, string>

/** Settings of a run of the program. */
export interface RunOptions extends CallSettings {
  readonly env?: Env
  /** Modules of this folder to load before the program, in a process of its own. */
  readonly preload?: readonly string[]
  /** Whether it has a process of its own, whose peak memory is checked. */
  readonly inChildProcess?: boolean
}

/** Settings of a run in this process. */
export interface LibraryOptions {
  readonly policy?: Partial<RetryPolicy>
  /** All symbols instead of one. */
  readonly all?: boolean
  readonly force?: boolean
  readonly concurrency?: number
  readonly refresh?: boolean
  readonly from?: string
  /** This machine's clock, ms UTC. */
  readonly now?: number
}

/** A healthy tree, a server of it that a test can script faults for, and a sandbox that runs the program with its own mirror. */
export class FaultScenario {
  readonly tree: string
  readonly sandbox: CliSandbox
  private runs = 0

  private constructor(
    private readonly folder: string,
    readonly server: FaultServer,
    readonly source: FaultSource,
  ) {
    this.tree = server.root
    this.sandbox = new CliSandbox(folder)
    this.sandbox.now = PRESENT
  }

  static async create(folder: string, source: FaultSource): Promise<FaultScenario> {
    return new FaultScenario(folder, await FaultServer.listen(makeTree(join(folder, 'tree'))), source)
  }

  /** The base address of the healthy service. */
  get baseUrl(): string {
    return this.source === 'exchange' ? `binance:${this.server.url}` : this.server.url
  }

  /** Windows that are never final: of the exchange those that end less than a day before the present. */
  private get openWindows(): string[] {
    return this.source === 'exchange' ? OPEN_WINDOWS.slice(1) : OPEN_WINDOWS
  }

  /** The lists that a mirror of the source has; the calendar of the exchange needs none. */
  get lists(): string[] {
    return this.source === 'exchange' ? [] : [LIST]
  }

  /** The mirror's folder. */
  get mirror(): string {
    return this.sandbox.path('m')
  }

  /** The arguments of the download that all cases run: BTCUSDT 15m into the mirror `m` and the file `x.csv`. */
  args(more: readonly string[] = [], baseUrl = this.baseUrl): string[] {
    return ['download', 'BTCUSDT', '-i', '15m', '--base-url', baseUrl, '--mirror', 'm', '-o', 'x.csv', ...more]
  }

  /** The same download as a shell command. */
  command(...more: string[]): string {
    return ['klines', ...this.args(more)].join(' ')
  }

  download(options: RunOptions & { args?: readonly string[]; baseUrl?: string } = {}): Promise<Run> {
    return this.run(this.args(options.args, options.baseUrl), options)
  }

  /** The same download through the library, in this process. */
  downloadInProcess({ policy, all = false, ...more }: LibraryOptions = {}): Promise<Run> {
    const output = this.sandbox.path('x.csv')
    const symbols = all ? ('all' as const) : (['BTCUSDT'] as const)
    const { mirror, baseUrl } = this
    // The calendar of the exchange begins before the tree.
    const from = this.source === 'exchange' ? START_DATES[0] : undefined
    const request = { symbols, intervals: ['15m'] as const, baseUrl, mirror, output, now: PRESENT, from }
    return runInProcess({ ...request, ...more }, policy)
  }

  /** Runs the program, in this process where that is possible; checks its peak memory elsewhere. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const { env = {}, faults, policy } = options
    if (!options.inChildProcess && !options.preload && findProcessSetting(env) === undefined) {
      return this.sandbox.call(args, { KLINES_TEST_NOW: String(this.server.now()), ...env }, { faults, policy })
    }
    const { running, memory } = this.start(args, options)
    const run = await running.ended
    if (run.signal === null) expect(memory(), 'bytes of memory').toBeLessThan(MOST_MEMORY * 1024 * 1024)
    return run
  }

  start(args: readonly string[], options: RunOptions = {}): { running: Running; memory(): number } {
    const { env, memory } = this.environment(options)
    return { running: this.sandbox.start(args, env), memory }
  }

  /** Runs a script of bash, for which `klines` is on the PATH. */
  shell(script: string, options: RunOptions = {}): Promise<Run> {
    return this.sandbox.shell(script, this.environment(options).env)
  }

  private environment({ policy, env = {}, preload = [], faults = [] }: RunOptions): { env: Env; memory(): number } {
    const file = join(this.folder, `memory-${this.runs++}`)
    const preloads = [
      'watch-memory.mjs',
      '../../support/cli/shifted-clock.mjs',
      ...(policy ? ['set-policy.mjs'] : []),
      ...(faults.length > 0 ? [FAILING_FS] : []),
      ...preload,
    ]
    const options = preloads.map(name => `--import=${fileURLToPath(new URL(name, import.meta.url))}`).join(' ')
    const settings = {
      KLINES_TEST_MEMORY: file,
      KLINES_TEST_NOW: String(this.server.now()),
      KLINES_TEST_POLICY: JSON.stringify(policy ?? {}),
      NODE_OPTIONS: options,
      ...(faults.length > 0 ? { KLINES_TEST_FAIL: JSON.stringify(faults) } : {}),
      ...env,
    }
    return { env: settings, memory: () => Number(readFileSync(file, 'utf8')) * 1024 }
  }

  /**
   * The tree's files in the mirror, lists by their path in the tree. Fails when one of them differs from the healthy file or another file is beside them;
   * temp files are allowed if a run was `killed`.
   */
  mirroredFiles({ killed = false } = {}): string[] {
    const isTemp = (name: string) => killed && name.startsWith('.klines-tmp/')
    const own = this.source === 'exchange' ? [...OWN_FILES, SYMBOLS_LIST] : OWN_FILES
    const names = filesBelow(this.mirror).filter(name => !own.includes(name) && !isIndex(name) && !isTemp(name))
    for (const name of names) {
      const healthy = join(this.tree, treePath(name))
      expect(existsSync(healthy), `${name} is no file of the service`).toBe(true)
      expect(readFileSync(join(this.mirror, name)).equals(readFileSync(healthy)), `${name} is not as served`).toBe(true)
    }
    return names.map(treePath).sort()
  }

  /** The expected output: every healthy candle of the series. */
  expectedCsv(): string {
    return csvOf([...treeRows('BTCUSDT').values()].flat())
  }

  /** Files in the working folder outside the mirror. */
  outputs(): string[] {
    return this.sandbox.files().filter(name => !name.startsWith('m/'))
  }

  /** Unexpected files of the scenario: those that escaped from the mirror. */
  strayFiles(): string[] {
    const known = /^(tree|work|home|bin)\/|^memory-\d+$/
    return filesBelow(this.folder).filter(name => !known.test(name))
  }

  /**
   * Runs the download over the healthy service: it succeeds and requests only the list, `missing` and windows that are not final. A run
   * that was `killed` may not have written what it knew of the empty window.
   */
  async expectRepair(missing: readonly string[] = [], { byProgram = false, killed = false } = {}): Promise<void> {
    this.server.heal()
    letAnHourPass(this.sandbox.folder)
    const run = await (byProgram ? this.download({ args: ['--force'] }) : this.downloadInProcess({ force: true }))
    expect(run.stderr.replace(/^Note: .*\n/gm, '')).toBe('')
    expect(run.code).toBe(0)
    const isSure = (path: string) => !killed || path !== ALL_WINDOWS[0]
    expect(this.server.windowRequests().filter(isSure).sort()).toEqual(
      [...new Set([...missing, ...this.openWindows])].filter(isSure).sort(),
    )
    expect(this.sandbox.text('x.csv')).toBe(this.expectedCsv())
    expect(this.mirroredFiles().filter(name => name !== SYMBOLS_LIST)).toEqual([...ALL_WINDOWS, ...this.lists].sort())
  }

  /** Fails unless the mirror holds exactly the tree's files. */
  expectHealthy(): void {
    expect(this.mirroredFiles()).toEqual([...ALL_WINDOWS, ...this.lists].sort())
  }

  stop(): Promise<void> {
    return this.server.stop()
  }
}

/** Returns a function that creates scenarios for the tests of one file; all are removed after its last test. */
export function useFaultScenarios(): (source?: FaultSource) => Promise<FaultScenario> {
  // Created with the first scenario: if all tests of a file are skipped, `afterAll` does not run and would not remove it.
  let root: string | undefined
  const scenarios: FaultScenario[] = []
  afterAll(async () => {
    await Promise.all(scenarios.map(scenario => scenario.stop()))
    if (root !== undefined) rmSync(root, { recursive: true, force: true })
  })
  return async (source = 'static') => {
    root ??= mkdtempSync(join(tmpdir(), 'klines-faults-'))
    const scenario = await FaultScenario.create(mkdtempSync(join(root, 'p')), source)
    scenarios.push(scenario)
    return scenario
  }
}
