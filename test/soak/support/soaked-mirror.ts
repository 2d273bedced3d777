import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { CliSandbox, filesBelow, type Run } from '../../support/cli/cli-sandbox.js'
import { expectedSeries, realTree } from '../../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../../support/sample-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const WATCH = fileURLToPath(new URL('../../faults/support/watch-memory.mjs', import.meta.url))
const OWN_FILES = ['CACHEDIR.TAG', 'mirror.json']

/** A run and the most memory that it held. */
export interface WatchedRun extends Run {
  readonly memoryMB: number
}

/** A mirror of a part of the real slice that a bad line leads to. */
export class SoakedMirror {
  private readonly sandbox = new CliSandbox(tempFolder())
  private readonly tree = realTree()

  constructor(
    private readonly symbols: readonly string[],
    private readonly baseUrl: string,
  ) {}

  /** Brings what is missing. */
  async download(): Promise<WatchedRun> {
    const memory = this.sandbox.path('memory')
    const env = { NODE_OPTIONS: `--import=${WATCH}`, KLINES_TEST_MEMORY: memory }
    const place = ['--base-url', this.baseUrl, '--mirror', 'm']
    const run = await this.sandbox.run(['download', ...this.symbols, '-i', 'all', ...place], env)
    return { ...run, memoryMB: Math.ceil(Number(readFileSync(memory, 'utf8')) / 1024) }
  }

  /** Fails when a file is not as served, or is no file of the slice, or a temp file was left. Gives how many there are. */
  expectValid(): number {
    const names = filesBelow(this.sandbox.path('m')).filter(name => !OWN_FILES.includes(name))
    for (const name of names) {
      expect(existsSync(join(this.tree, name)), `${name} is no file of the service`).toBe(true)
      expect(
        this.sandbox.bytes(join('m', name)).equals(readFileSync(join(this.tree, name))),
        `${name} is as served`,
      ).toBe(true)
    }
    return names.length
  }

  /** Every window that has started is there, and the export is what an independent program says it is. */
  async expectComplete(): Promise<void> {
    const windows = ALL_INTERVALS.flatMap(interval => {
      const starts: string[] = JSON.parse(
        readFileSync(join(this.tree, `api/klines/start-dates/${interval}.json`), 'utf8'),
      )
      const started = starts.filter(date => Date.parse(date) <= Date.now())
      return this.symbols.flatMap(symbol => started.map(date => `api/klines/${interval}/${symbol}/${date}.json`))
    })
    expect(this.expectValid()).toBe(windows.length + ALL_INTERVALS.length)
    for (const path of windows) expect(this.sandbox.exists(join('m', path)), path).toBe(true)
    const args = ['export', ...this.symbols, '-i', 'all', '--mirror', 'm', '-o', '{symbol}-{interval}.csv', '-q']
    expect(await this.sandbox.run(args)).toMatchObject({ code: 0, stderr: '' })
    const expected = expectedSeries()
    for (const symbol of this.symbols) {
      for (const interval of ALL_INTERVALS) {
        const hash = createHash('sha256')
          .update(this.sandbox.bytes(`${symbol}-${interval}.csv`))
          .digest('hex')
        expect(hash, `${symbol} ${interval}`).toBe(expected[symbol][interval].csvSha256)
      }
    }
  }
}
