import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { CliSandbox, type Run } from '../../support/cli/cli-sandbox.js'
import { filesBelow } from '../../support/files-below.js'
import { expectedSeries, realTree } from '../../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../../support/sample-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const WATCH = fileURLToPath(new URL('../../faults/support/watch-memory.mjs', import.meta.url))
const OWN_FILES = ['CACHEDIR.TAG', 'mirror.json']

/** A run and its peak memory. */
export interface WatchedRun extends Run {
  readonly memoryMB: number
}

/** A mirror of a part of the real slice, downloaded over a faulty network. */
export class SoakedMirror {
  private readonly sandbox = new CliSandbox(tempFolder())
  private readonly tree = realTree()

  constructor(
    private readonly symbols: readonly string[],
    private readonly baseUrl: string,
  ) {}

  /** Downloads what is missing. */
  async download(): Promise<WatchedRun> {
    const memory = this.sandbox.path('memory')
    const env = { NODE_OPTIONS: `--import=${WATCH}`, KLINES_TEST_MEMORY: memory }
    const source = ['--base-url', this.baseUrl, '--mirror', 'm']
    const run = await this.sandbox.run(['download', ...this.symbols, '-i', 'all', ...source], env)
    return { ...run, memoryMB: Math.ceil(Number(readFileSync(memory, 'utf8')) / 1024) }
  }

  /** Fails if a file differs from the served one, is not in the slice, or is a temp file. Returns the number of files. */
  expectValid(): number {
    const names = filesBelow(this.sandbox.path('m')).filter(
      name => !OWN_FILES.includes(name) && !name.startsWith('.klines/'),
    )
    for (const name of names) {
      expect(existsSync(join(this.tree, name)), `${name} is no file of the service`).toBe(true)
      expect(
        this.sandbox.bytes(join('m', name)).equals(readFileSync(join(this.tree, name))),
        `${name} is as served`,
      ).toBe(true)
    }
    return names.length
  }

  /** Expects every window that has started, and the export that an independent program has computed. */
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
