import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CliSandbox, Run } from '../../support/cli/cli-sandbox.js'
import type { FailingCall } from '../../support/cli/failing-fs.mjs'
import { letAnHourPass } from '../../support/let-an-hour-pass.js'
import { csvOf, SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'

const SYMBOLS = ['BTCUSDT', 'ETHUSDT']
const INTERVALS = ['1d', '1w']
const FOLDER = 'out'
const OLD = 'what was there before\n'

/** What is at an output. */
export type OutputState = 'absent' | 'old' | 'new' | 'other'

/** An export of four files into one folder, offline from the sample. */
export class SeveralOutputs {
  static readonly paths = INTERVALS.flatMap(interval =>
    SYMBOLS.map(symbol => join(FOLDER, `${symbol}-${interval}.csv`)),
  ).sort()

  private readonly expected = new Map(
    SYMBOLS.flatMap(symbol =>
      INTERVALS.map(interval => [join(FOLDER, `${symbol}-${interval}.csv`), csvOf(sampleRows(symbol, interval))]),
    ),
  )

  private constructor(
    readonly sandbox: CliSandbox,
    private readonly existing: readonly string[],
  ) {}

  /** `existing`: the outputs that are there before each run. */
  static create(sandbox: CliSandbox, existing: readonly string[]): SeveralOutputs {
    const outputs = new SeveralOutputs(sandbox, existing)
    outputs.restore()
    return outputs
  }

  /** Puts the folder back as it is before a run. */
  restore(): void {
    rmSync(this.sandbox.path(FOLDER), { recursive: true, force: true })
    mkdirSync(this.sandbox.path(FOLDER))
    for (const path of this.existing) this.sandbox.write(path, OLD)
  }

  /** The same in a process of its own, which a fault may end. */
  runAlone(faults: readonly FailingCall[], { force }: { force: boolean }): Promise<Run> {
    return this.sandbox.runFailing(this.args(force), onOutputs(faults))
  }

  /** Exports while calls on the outputs fail. */
  run(faults: readonly FailingCall[], { force }: { force: boolean }): Promise<Run> {
    return this.sandbox.call(this.args(force), {}, { faults: onOutputs(faults) })
  }

  /** Exports without a fault. */
  runAgain({ force }: { force: boolean }): Promise<Run> {
    letAnHourPass(this.sandbox.folder)
    return this.sandbox.call(this.args(force))
  }

  /** The state of each output, in the order of `paths`. */
  states(): OutputState[] {
    return SeveralOutputs.paths.map(path => {
      if (!this.sandbox.exists(path)) return 'absent'
      const text = this.sandbox.text(path)
      return text === OLD ? 'old' : text === this.expected.get(path) ? 'new' : 'other'
    })
  }

  /** The state of each output before a run. */
  statesBefore(): OutputState[] {
    return SeveralOutputs.paths.map(path => (this.existing.includes(path) ? 'old' : 'absent'))
  }

  /** Outputs that differ from before. */
  changed(): string[] {
    const [before, now] = [this.statesBefore(), this.states()]
    return SeveralOutputs.paths.filter((_, index) => before[index] !== now[index])
  }

  /** Files beside the outputs. */
  leftovers(): string[] {
    const paths: readonly string[] = SeveralOutputs.paths
    return this.sandbox
      .files(FOLDER)
      .map(name => join(FOLDER, name))
      .filter(path => !paths.includes(path))
  }

  private args(force: boolean): string[] {
    const output = join(FOLDER, '{symbol}-{interval}.csv')
    const place = ['--mirror', SAMPLE_TREE, '-o', output, '--json', ...(force ? ['--force'] : [])]
    return ['export', ...SYMBOLS, '-i', INTERVALS.join(','), ...place]
  }
}

const onOutputs = (faults: readonly FailingCall[]) => faults.map(fault => ({ path: `${FOLDER}/`, ...fault }))
