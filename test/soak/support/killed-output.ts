import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CliSandbox, type Running } from '../../support/cli/cli-sandbox.js'
import { filesBelow } from '../../support/files-below.js'
import { letAnHourPass } from '../../support/let-an-hour-pass.js'
import { tempFolder } from '../../support/temp-folder.js'
import { startNaiveWriter } from './naive-writer.js'
import { SOAK_SYMBOLS } from './soak-tree.js'
import { contents, type Survey, survey } from './survey.js'

/** Values of `-o`, one for each format and one more; those with `{symbol}` write several files. */
export const OUTPUTS = [
  'out.csv',
  'out.csv.gz',
  'out.jsonl',
  'out.parquet',
  'out.arrow',
  '{symbol}.json',
  '{symbol}.csv',
  '{symbol}.jsonl.gz',
]

const FOLDER = 'out'
const OLD = Buffer.from('what was there before\n')
/** Temp files are hidden and named after the output, the host and the process. */
const TEMP = /^\.[^/]+\.\d+~[0-9a-f]{16}\.tmp$/

/** An existing output, and exports from a bare tree that are killed while they replace it. */
export class KilledOutput {
  readonly sandbox = new CliSandbox(tempFolder())
  private expected = new Map<string, Buffer>()

  private constructor(
    private readonly tree: string,
    private readonly output: string,
  ) {
    mkdirSync(this.folder)
  }

  /** Also completes a run, which shows what the output contains. */
  static async make(tree: string, output: string): Promise<KilledOutput> {
    const killed = new KilledOutput(tree, output)
    const run = await killed.export().ended
    expect(run).toMatchObject({ code: 0, stderr: '' })
    killed.expected = contents(killed.folder)
    expect(killed.expected.size).toBe(output.includes('{symbol}') ? SOAK_SYMBOLS.length : 1)
    killed.restore()
    return killed
  }

  export(): Running {
    const args = [
      'export',
      ...SOAK_SYMBOLS,
      '-i',
      '15m',
      '--mirror',
      this.tree,
      '-o',
      join(FOLDER, this.output),
      '--force',
    ]
    return this.sandbox.start(args)
  }

  /** Starts the careless writer, whose torn file the survey must find. */
  naiveExport(): Running {
    const [[name, bytes]] = this.expected
    writeFileSync(this.sandbox.path('source'), bytes)
    return startNaiveWriter(this.sandbox, ['file', 'source', join(FOLDER, name)])
  }

  hasBegun = (): boolean => readdirSync(this.folder).some(name => TEMP.test(name))

  /** Whether an old file has changed. */
  isTouched = (): boolean => !this.read().every(([, bytes]) => bytes.equals(OLD))

  /** Checks every file of the folder: each is the old one or the complete new one. */
  survey(): Survey {
    return survey(
      this.folder,
      name => [OLD, ...(this.expected.has(name) ? [this.expected.get(name) ?? OLD] : [])],
      TEMP.test.bind(TEMP),
    )
  }

  /** Expects that a run writes the expected files and leaves nothing else. It may say that it found a part of them in place. */
  async expectRepair(): Promise<void> {
    letAnHourPass(this.folder)
    const run = await this.export().ended
    expect(run.code).toBe(0)
    expect(run.stderr.replace(/^Note: An earlier export was killed while it replaced its files\. .*\n/, '')).toBe('')
    expect(filesBelow(this.folder)).toEqual([...this.expected.keys()].sort())
    for (const [name, bytes] of this.read()) expect(bytes.equals(this.expected.get(name) ?? OLD), name).toBe(true)
  }

  /** Puts the old files back. */
  restore(): void {
    for (const name of this.expected.keys()) writeFileSync(join(this.folder, name), OLD)
  }

  private get folder(): string {
    return this.sandbox.path(FOLDER)
  }

  private read(): [string, Buffer][] {
    return filesBelow(this.folder).map(name => [name, readFileSync(join(this.folder, name))])
  }
}
