import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { exportKlines } from '../../../src/engine/export.js'
import { kindOfFile } from '../cases.js'
import { filesBelow } from '../files-below.js'
import { letAnHourPass } from '../let-an-hour-pass.js'
import { TreeServer } from '../servers/tree-server.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  PRESENT,
  putFile,
  RENDERED,
  weekPath,
  weekRows,
} from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import { CLOCK, CliSandbox, type Run } from './cli-sandbox.js'

/** A kind of calls, and how one of them fails (`failing-calls.mjs`). */
export interface CallFault {
  readonly kind: 'file' | 'room' | 'bytes' | 'write' | 'net'
  readonly fault: string
  /** Every later call fails too. */
  readonly lasting?: boolean
}

/** A download into a mirror with windows in every state, or an export from a complete one. */
export type Task = 'download' | 'export'
const OUTPUT = { download: 'out.csv', export: 'out.parquet' }

const PRELOAD = fileURLToPath(new URL('failing-calls.mjs', import.meta.url))
const OLD = Buffer.from('what was there before\n')
const [MISSING, CACHED, CORRUPT] = FULL_WEEKS.slice(-3).map(date => weekPath('BTCUSDT', date))
/** Never final. */
const STALE = weekPath('BTCUSDT', OPEN_WEEK)
const WINDOWS = [MISSING, CACHED, CORRUPT, STALE]
const RANGE = { from: FULL_WEEKS[2], to: FUTURE_WEEK }
const RANGE_FLAGS = ['--from', RANGE.from, '--to', RANGE.to]
/** The name of a killed run's temp file. */
const LEFTOVER = '99999999~0123456789abcdef'

/** What the mirror knows of its windows: the times are those of each run. */
const INDEXES = 'm/.klines/'

/** Runs one task repeatedly from the same state, each time with another failing call. */
export class Torture {
  private readonly start = tempFolder()
  private readonly expected = new Map<string, Buffer>()
  private readonly sandbox = new CliSandbox(tempFolder())

  private constructor(
    private readonly task: Task,
    private readonly server: TreeServer,
  ) {}

  static async make(task: Task): Promise<Torture> {
    const server = await TreeServer.start(makeTree(tempFolder()))
    server.date = PRESENT
    const torture = new Torture(task, server)
    torture.sandbox.now = PRESENT
    await torture.makeStart()
    return torture
  }

  /** The calls of a kind in a run without a fault: their names and files. */
  async list({ kind }: Pick<CallFault, 'kind'>): Promise<string[]> {
    this.restore()
    const { run, calls } = await this.run({ kind, fault: 'none' }, 0)
    expect(run).toMatchObject({ code: 0, signal: null })
    this.expectRepaired()
    return calls.map(kindOfFile)
  }

  /**
   * Runs with one failing call and checks the result, then checks that the next run repairs everything. Returns the name of
   * the call, if there was one, and the exit code.
   */
  async check(fault: CallFault, index: number): Promise<{ name: string | undefined; code: string }> {
    this.restore()
    const { run, failed } = await this.run(fault, index)
    const where = `${failed[0]} (${fault.kind} ${index}) ${fault.fault}`
    const end = { code: run.code, signal: run.signal, stdout: run.stdout, stderr: run.stderr }
    expect(end, where).toSatisfy(() => endsAsDocumented(run, fault), `${where}: ${JSON.stringify(end)}`)
    this.expectNothingTorn(where, run.code === 0)
    const missing = WINDOWS.filter(path => !this.isExpected(`m/${path}`))
    this.server.log.length = 0
    await this.repair()
    this.expectRepaired(where)
    const asked = this.task === 'export' ? [] : [...new Set([...missing, STALE])]
    expect(this.server.paths('windows').sort(), where).toEqual(asked.sort())
    return { name: failed[0], code: String(run.code) }
  }

  /** The next run, without a fault and in this process, which is faster. */
  private async repair(): Promise<void> {
    const { task, server, sandbox, output } = this
    await exportKlines({
      symbols: ['BTCUSDT'],
      intervals: ['15m'],
      ...RANGE,
      ...(task === 'download' ? { baseUrl: server.url } : { offline: true }),
      mirror: sandbox.path('m'),
      output: sandbox.path(output),
      force: true,
    })
  }

  private get args(): string[] {
    const place = this.task === 'download' ? ['--base-url', this.server.url, '--concurrency', '1'] : []
    return [
      this.task,
      'BTCUSDT',
      '-i',
      '15m',
      ...RANGE_FLAGS,
      ...place,
      '--mirror',
      'm',
      '-o',
      this.output,
      '--force',
      '-q',
    ]
  }

  private get output(): string {
    return OUTPUT[this.task]
  }

  /** Prepares a mirror with windows in every state, an old output, and temp files of killed runs beside both. */
  private async makeStart(): Promise<void> {
    expect(await this.sandbox.call(this.downloadArgs())).toMatchObject({ code: 0, stderr: '' })
    expect(await this.sandbox.call(this.args)).toMatchObject({ code: 0, stderr: '' })
    for (const name of this.sandbox.files()) this.expected.set(name, this.sandbox.bytes(name))
    cpSync(this.sandbox.folder, this.start, { recursive: true, preserveTimestamps: true })
    if (this.task === 'download') {
      rmSync(join(this.start, 'm', MISSING))
      truncateSync(join(this.start, 'm', CORRUPT), 100)
      putFile(join(this.start, 'm'), STALE, weekRows(OPEN_WEEK, { days: 1 }), RENDERED - 86_400_000)
      putFile(join(this.start, 'm'), `.klines-tmp/${LEFTOVER}`, 'half a win')
    }
    writeFileSync(join(this.start, this.output), OLD)
    putFile(this.start, `.${this.output}.${LEFTOVER}.tmp`, 'half a fi')
    letAnHourPass(this.start)
  }

  private downloadArgs(): string[] {
    return ['download', 'BTCUSDT', '-i', '15m', ...RANGE_FLAGS, '--base-url', this.server.url, '--mirror', 'm', '-q']
  }

  private restore(): void {
    rmSync(this.sandbox.folder, { recursive: true, force: true })
    mkdirSync(this.sandbox.folder)
    cpSync(this.start, this.sandbox.folder, { recursive: true, preserveTimestamps: true })
  }

  private async run(fault: CallFault, index: number): Promise<{ run: Run; calls: string[]; failed: string[] }> {
    const report = `${this.sandbox.folder}.json`
    const env = {
      KLINES_TEST_CALLS: JSON.stringify({ ...fault, at: index, report, folder: this.sandbox.folder }),
      NODE_OPTIONS: `--import=${CLOCK} --import=${PRELOAD}`,
    }
    const run = await this.sandbox.run(this.args, env)
    return { run, ...JSON.parse(readFileSync(report, 'utf8')) }
  }

  private isExpected(name: string): boolean {
    if (name.startsWith(INDEXES)) return this.sandbox.exists(name)
    return this.sandbox.exists(name) && this.expected.get(name)?.equals(this.sandbox.bytes(name)) === true
  }

  /** Every file is as before or as after a complete run, and there are no new ones. */
  private expectNothingTorn(where: string, done: boolean): void {
    for (const name of this.sandbox.files()) {
      if (name.startsWith(INDEXES)) continue
      const versions = [this.expected.get(name), read(join(this.start, name))].filter(bytes => bytes !== undefined)
      expect(
        versions.some(bytes => bytes.equals(this.sandbox.bytes(name))),
        `${where}: ${name}`,
      ).toBe(true)
    }
    expect(this.sandbox.exists(this.output), where).toBe(true)
    if (done) expect(this.isExpected(this.output), `${where}: the export is whole`).toBe(true)
  }

  private expectRepaired(where = 'without a fault'): void {
    expect(filesBelow(this.sandbox.folder), where).toEqual([...this.expected.keys()].sort())
    for (const name of this.expected.keys()) expect(this.isExpected(name), `${where}: ${name}`).toBe(true)
  }
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** Whether a run succeeded, or ended with a documented exit code and message. */
function endsAsDocumented({ code, signal, stdout, stderr }: Run, { kind, fault }: CallFault): boolean {
  const isPlain = signal === null && stdout === '' && !/^ +at .*:\d+/m.test(stderr) && !stderr.includes('not expected')
  // A failing connection is retried, and a short write is continued.
  if (kind === 'net' || fault === 'short') return isPlain && code === 0
  if (code === 0) return isPlain
  const cause = fault === 'lying' ? /Short write|the disk took \d+ of \d+ bytes/ : new RegExp(`\\(${fault}\\)`)
  const isNamed = /(^klines: |corrupt in the mirror: )Cannot (read|write) /m.test(stderr) && cause.test(stderr)
  return isPlain && (code === 1 || code === 3) && isNamed && !stderr.includes('..') && !stderr.includes('. (')
}
