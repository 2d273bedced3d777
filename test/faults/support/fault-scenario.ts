import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import type { RetryPolicy } from '../../../src/http/retry.js'
import { CliSandbox, filesBelow, type Run, type Running } from '../../support/cli/cli-sandbox.js'
import { csvOf } from '../../support/sample-tree.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  START_DATES,
  treeRows,
  weekPath,
} from '../../support/synthetic-tree.js'
import { FaultServer } from './fault-server.js'
import { runInProcess } from './in-process-run.js'

/** Most memory that a run may take, whatever it is sent. */
const MOST_BYTES = 250 * 1024 * 1024

export const LIST = 'api/klines/start-dates/15m.json'
export const SYMBOLS_LIST = 'api/klines/symbols.json'
/** The window that faults are about, in the middle of its series. */
export const WEEK = FULL_WEEKS[2]
export const FAULTY = weekPath('BTCUSDT', WEEK)
export const ALL_WINDOWS = START_DATES.map(date => weekPath('BTCUSDT', date))
/** Windows that no run takes for final. */
export const OPEN_WINDOWS = [OPEN_WEEK, FUTURE_WEEK].map(date => weekPath('BTCUSDT', date))

/** Files of a mirror that are not of the tree. */
const OWN_FILES = ['CACHEDIR.TAG', 'mirror.json']

type Env = Record<string, string>

/** How a run of the real binary is set up. */
export interface RunOptions {
  /** Other times and tries than a user has. */
  readonly policy?: Partial<RetryPolicy>
  readonly env?: Env
  /** More preloads, files of this folder. */
  readonly preload?: readonly string[]
}

/** How a run by the library is set up. */
export interface LibraryOptions {
  readonly policy?: Partial<RetryPolicy>
  /** All symbols, in the place of one. */
  readonly all?: boolean
  readonly force?: boolean
  readonly refresh?: boolean
}

/** One scenario for one fault: a healthy tree, a server over it, and the real binary with a mirror of its own. */
export class FaultScenario {
  readonly tree: string
  readonly sandbox: CliSandbox
  private runs = 0

  private constructor(
    private readonly folder: string,
    readonly server: FaultServer,
  ) {
    this.tree = server.root
    this.sandbox = new CliSandbox(folder)
  }

  static async create(folder: string): Promise<FaultScenario> {
    return new FaultScenario(folder, await FaultServer.listen(makeTree(join(folder, 'tree'))))
  }

  /** Where the mirror lies. */
  get mirror(): string {
    return this.sandbox.path('m')
  }

  /** The arguments of the run that all rows are about: BTCUSDT 15m into the mirror `m` and the file `x.csv`. */
  args(more: readonly string[] = [], baseUrl = this.server.url): string[] {
    return ['download', 'BTCUSDT', '-i', '15m', '--base-url', baseUrl, '--mirror', 'm', '-o', 'x.csv', ...more]
  }

  /** The same run as a shell has it. */
  command(...more: string[]): string {
    return ['klines', ...this.args(more)].join(' ')
  }

  download(options: RunOptions & { args?: readonly string[]; baseUrl?: string } = {}): Promise<Run> {
    return this.run(this.args(options.args, options.baseUrl), options)
  }

  /** The same download by way of the library, in this process. */
  downloadInProcess({ policy, all = false, ...more }: LibraryOptions = {}): Promise<Run> {
    const output = this.sandbox.path('x.csv')
    const symbols = [all ? 'all' : 'BTCUSDT']
    const { mirror, server } = this
    return runInProcess({ symbols, intervals: ['15m'], baseUrl: server.url, mirror, output, ...more }, policy)
  }

  /** Runs the real binary and sees to it that its memory stayed within bounds. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const { running, memory } = this.start(args, options)
    const run = await running.ended
    if (run.signal === null) expect(memory(), 'bytes of memory').toBeLessThan(MOST_BYTES)
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

  private environment({ policy, env = {}, preload = [] }: RunOptions): { env: Env; memory(): number } {
    const file = join(this.folder, `memory-${this.runs++}`)
    const preloads = ['watch-memory.mjs', ...(policy ? ['set-policy.mjs'] : []), ...preload]
    const options = preloads.map(name => `--import=${fileURLToPath(new URL(name, import.meta.url))}`).join(' ')
    const settings = {
      KLINES_TEST_MEMORY: file,
      KLINES_TEST_POLICY: JSON.stringify(policy ?? {}),
      NODE_OPTIONS: options,
      ...env,
    }
    return { env: settings, memory: () => Number(readFileSync(file, 'utf8')) * 1024 }
  }

  /**
   * Files of the tree that the mirror holds. Fails when one of them is not the healthy one, or anything lies about; temp files
   * may, where a run was `killed`.
   */
  mirroredFiles({ killed = false } = {}): string[] {
    const isTemp = (name: string) => killed && name.startsWith('.klines-tmp/')
    const names = filesBelow(this.mirror).filter(name => !OWN_FILES.includes(name) && !isTemp(name))
    for (const name of names) {
      const healthy = join(this.tree, name)
      expect(existsSync(healthy), `${name} is no file of the service`).toBe(true)
      expect(readFileSync(join(this.mirror, name)).equals(readFileSync(healthy)), `${name} is not as served`).toBe(true)
    }
    return names
  }

  /** Every healthy candle of the series, as the run's output has them. */
  expectedCsv(): string {
    return csvOf([...treeRows('BTCUSDT').values()].flat())
  }

  /** What lies on the sandbox beside the mirror and the tools of a test. */
  outputs(): string[] {
    return this.sandbox.files().filter(name => !name.startsWith('m/'))
  }

  /** Files of this scenario that no part of it put there: what got out of the mirror. */
  strayFiles(): string[] {
    const known = /^(tree|work|home|bin)\/|^memory-\d+$/
    return filesBelow(this.folder).filter(name => !known.test(name))
  }

  /** Another run, now that all is well: it ends well and asks for nothing but the list, `missing` and what is not final. */
  async expectRepair(missing: readonly string[] = [], { byBinary = false } = {}): Promise<void> {
    this.server.heal()
    const run = await (byBinary ? this.download({ args: ['--force'] }) : this.downloadInProcess({ force: true }))
    expect(run.stderr.replace(/^Note: .*\n/gm, '')).toBe('')
    expect(run.code).toBe(0)
    expect(this.server.windowRequests().sort()).toEqual([...new Set([...missing, ...OPEN_WINDOWS])].sort())
    expect(this.sandbox.text('x.csv')).toBe(this.expectedCsv())
    expect(this.mirroredFiles().filter(name => name !== SYMBOLS_LIST)).toEqual([...ALL_WINDOWS, LIST].sort())
  }

  /** The mirror is as the tree is, and nothing else. */
  expectHealthy(): void {
    expect(this.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
  }

  stop(): Promise<void> {
    return this.server.stop()
  }
}

/** Makes scenarios for the tests of one file, which may run side by side; all are gone when they are over. */
export function useFaultScenarios(): () => Promise<FaultScenario> {
  // Made with the first scenario: where all tests of a file are left out, nothing would remove it.
  let root: string | undefined
  const scenarios: FaultScenario[] = []
  afterAll(async () => {
    await Promise.all(scenarios.map(scenario => scenario.stop()))
    if (root !== undefined) rmSync(root, { recursive: true, force: true })
  })
  return async () => {
    root ??= mkdtempSync(join(tmpdir(), 'klines-faults-'))
    const scenario = await FaultScenario.create(mkdtempSync(join(root, 'p')))
    scenarios.push(scenario)
    return scenario
  }
}
