import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startManyWindows } from '../support/cli/many-windows-server.js'
import { onWindow } from '../support/events.js'
import { MANY_END, MANY_SYMBOLS, MANY_WINDOWS, manyRows, manyWindows } from '../support/many-windows.js'
import { csvOf } from '../support/sample-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
let mirror: string
beforeAll(() => {
  mirror = manyWindows(newSandbox().path('m'))
})

/** An export into `out`, with its report without times. */
async function exportAll(
  sandbox: CliSandbox,
  threads: number,
  args: readonly string[],
): Promise<Run & { json: object }> {
  const place = ['--mirror', mirror, '--threads', String(threads), '--json']
  const run = await sandbox.call(['export', 'all', '-i', '15m', ...place, ...args])
  const json = JSON.parse(run.stdout.replaceAll(/"elapsed\w*": ?[\d.]+/g, '"elapsed": 0'))
  return { ...run, json }
}

describe.concurrent('an export with several threads', () => {
  it.each([
    ['CSV files', ['-o', 'out/{symbol}.csv']],
    ['gzip', ['-o', 'out/{symbol}.csv.gz']],
    ['JSON Lines with the columns of the series', ['-o', 'out/{symbol}.jsonl', '--columns', 'symbol,open_time,close']],
    ['Parquet with decimals', ['-o', 'out/{symbol}.parquet', '--numbers', 'decimal']],
    ['Arrow', ['-o', 'out/{symbol}.arrow']],
    ['resampled candles', ['-o', 'out/{symbol}-{interval}.csv', '--resample', '3h']],
    ['incomplete ones', ['-o', 'out/{symbol}.csv', '--resample', '2w', '--partial', '--from', '2018-01-03']],
    ['candles of a range', ['-o', 'out/{symbol}.csv', '--from', '2018-02-05T00:30']],
  ] as [string, string[]][])('writes the same %s with the same report as one thread', async (_, args) => {
    const [alone, ...others] = await Promise.all(
      [1, ...[2, 4]].map(async threads => {
        const sandbox = newSandbox()
        const { code, stderr, json } = await exportAll(sandbox, threads, args)
        const files = Object.fromEntries(sandbox.files().map(name => [name, sandbox.bytes(name).toString('hex')]))
        return { code, stderr, json, files }
      }),
    )
    expect(alone.code).toBe(0)
    expect(Object.keys(alone.files)).toHaveLength(MANY_SYMBOLS.length)
    for (const other of others) expect(other).toEqual(alone)
  })

  it('writes the rows of each series to its own file', async () => {
    const sandbox = newSandbox()
    const place = ['--mirror', mirror, '--threads', '4']
    // The real program, whose workers are those of the package.
    const run = await sandbox.run(['export', 'all', '-i', '15m', '-o', 'out/{symbol}.csv', ...place])
    expect(run).toMatchObject({ code: 0 })
    for (const symbol of MANY_SYMBOLS) expect(sandbox.text(`out/${symbol}.csv`)).toBe(csvOf(manyRows(symbol).flat()))
  })
})

const SYMBOL_ARGS = ['download', ...MANY_SYMBOLS, '-i', '15m', '--to', MANY_END, '--json']

describe('a download with several threads', () => {
  async function download(threads: number) {
    const sandbox = newSandbox()
    const server = await startManyWindows(sandbox)
    const place = ['--base-url', server.url, '--mirror', 'm', '-o', '{symbol}.csv', '--threads', String(threads)]
    const run = await sandbox.call([...SYMBOL_ARGS, ...place])
    const report = run.stdout
      .replaceAll(server.url, 'URL')
      .replaceAll(sandbox.folder, '')
      .replaceAll(/"elapsed\w*": ?[\d.]+/g, '"elapsed": 0')
    return { code: run.code, stderr: run.stderr, report, sandbox, windows: server.paths('windows').length }
  }

  it('writes the same files with the same report as one thread', async () => {
    const [alone, several] = await Promise.all([download(1), download(4)])
    expect(several).toMatchObject({ code: 0, stderr: '', report: alone.report })
    expect([alone.windows, several.windows]).toEqual([MANY_WINDOWS, MANY_WINDOWS])
    for (const { sandbox } of [alone, several]) {
      for (const symbol of MANY_SYMBOLS) expect(sandbox.text(`${symbol}.csv`)).toBe(csvOf(manyRows(symbol).flat()))
    }
  })
})

it('a listener that throws ends an export with several threads, and leaves nothing', async () => {
  const { exportKlines } = await import('../../dist/index.js')
  const out = join(tempFolder(), 'out')
  const stop = new Error('stop')
  const done = exportKlines({
    ...{ symbols: 'all', intervals: ['15m'], mirror, offline: true, threads: 3 },
    output: join(out, '{symbol}.csv'),
    onEvent: onWindow(({ window }) => {
      if (window.symbol === MANY_SYMBOLS[0]) throw stop
    }),
  })
  await expect(done).rejects.toBe(stop)
  expect(existsSync(out)).toBe(false)
})

it.each(['0', '257', '1.5', 'x'])('--threads %s is a usage error', async threads => {
  const args = ['export', 'all', '-i', '15m', '--mirror', mirror, '-o', 'x-{symbol}.csv', '--threads', threads]
  for (const mode of [[], ['--dry-run']]) {
    const run = await newSandbox().call([...args, ...mode])
    expect(run.code).toBe(2)
    expect(run.stderr).toContain('--threads')
  }
})
