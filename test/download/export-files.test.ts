import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, constants, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/download/download.js'
import { exportKlines } from '../../src/export/export.js'
import { runChild } from '../support/cli/run-child.js'
import { downloadSetup } from '../support/download-setup.js'
import { filesBelow } from '../support/files-below.js'
import {
  FULL_WEEKS,
  NOW,
  OPEN_WEEK,
  putFile,
  RENDERED,
  SYMBOLS,
  treeRows,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

async function exportSetup() {
  const setup = await downloadSetup()
  const out = tempFolder()
  return { ...setup, out, request: { ...setup.request, output: join(out, 'out.csv') } }
}

/** The data lines a CSV of the whole made tree has. */
const csvRows = (symbol: string) => [...treeRows(symbol).values()].flat().map(row => row.join(','))
const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(1)

describe('an export through the service', () => {
  it('brings what is missing into the mirror, then writes every row', async () => {
    const { server, out, mirror, request } = await exportSetup()
    const report = await exportKlines(request)
    expect(linesOf(request.output)).toEqual(csvRows('BTCUSDT'))
    expect(report.files).toMatchObject([{ path: request.output, format: 'csv', rows: 42, inexactDoubles: 0 }])
    expect(report.series[0].windows).toMatchObject({ fetched: 7 })
    expect(server.paths('windows')).toHaveLength(7)
    expect(filesBelow(join(mirror, 'api', 'klines', '15m', 'BTCUSDT'))).toHaveLength(7)
    expect(filesBelow(out)).toEqual(['out.csv'])
  })

  it.each(['out.csv', '{symbol}.csv', '{interval}.parquet'])('asks for each window once, for %s', async name => {
    const { server, out, request } = await exportSetup()
    await exportKlines({ ...request, symbols: [...SYMBOLS], output: join(out, name), refresh: true })
    expect(new Set(server.paths()).size).toBe(server.log.length)
  })

  it('writes series that share a file with their names in front', async () => {
    const { request } = await exportSetup()
    await exportKlines({ ...request, symbols: [...SYMBOLS] })
    const expected = SYMBOLS.flatMap(symbol => csvRows(symbol).map(row => `${symbol},15m,${row}`))
    expect(linesOf(request.output)).toEqual(expected)
  })
})

describe('a file that exists', () => {
  it('is not touched without force, and no window is asked for', async () => {
    const { server, request } = await exportSetup()
    writeFileSync(request.output, 'old')
    await expect(exportKlines(request)).rejects.toMatchObject({ code: 'output_exists' })
    expect(readFileSync(request.output, 'utf8')).toBe('old')
    expect(server.paths('windows')).toEqual([])
  })

  it('is replaced whole with force', async () => {
    const { out, request } = await exportSetup()
    writeFileSync(request.output, 'x'.repeat(1_000_000))
    await exportKlines({ ...request, force: true })
    expect(linesOf(request.output)).toEqual(csvRows('BTCUSDT'))
    expect(filesBelow(out)).toEqual(['out.csv'])
  })

  it('is as it was when a window cannot be had', async () => {
    const { server, out, request } = await exportSetup()
    writeFileSync(request.output, 'old')
    server.always(weekPath('BTCUSDT', FULL_WEEKS[2]), { status: 404 })
    await expect(exportKlines({ ...request, force: true })).rejects.toMatchObject({ code: 'incomplete' })
    expect(readFileSync(request.output, 'utf8')).toBe('old')
    expect(filesBelow(out)).toEqual(['out.csv'])
  })
})

it('a pipe gets no byte when a window cannot be had: what is in it could not be taken back', async () => {
  const { server, tree, request } = await exportSetup()
  server.always(weekPath('BTCUSDT', FULL_WEEKS[4]), { status: 404 })
  const rows = weekRows(FULL_WEEKS[0])
  // More than is gathered before it is written.
  rows[0][11] = 'x'.repeat(300_000)
  putFile(tree, weekPath('BTCUSDT', FULL_WEEKS[0]), rows)
  execFileSync('mkfifo', [request.output])
  const pipe = openSync(request.output, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    await expect(exportKlines(request)).rejects.toMatchObject({ code: 'incomplete' })
    expect(readSync(pipe, Buffer.alloc(1))).toBe(0)
  } finally {
    closeSync(pipe)
  }
})

describe('several files', () => {
  it('are not there when windows cannot be had; all of these are named, and all others are in the mirror', async () => {
    const { server, mirror, out, request } = await exportSetup()
    const missing = SYMBOLS.map(symbol => weekPath(symbol, FULL_WEEKS[1]))
    for (const path of missing) server.always(path, { status: 404 })
    const both = { ...request, symbols: [...SYMBOLS], output: join(out, '{symbol}.csv') }
    await expect(exportKlines(both)).rejects.toMatchObject({
      code: 'incomplete',
      data: { failures: SYMBOLS.map(symbol => ({ symbol, startDate: FULL_WEEKS[1], reason: 'status 404' })) },
    })
    expect(filesBelow(out)).toEqual([])
    for (const symbol of SYMBOLS) expect(filesBelow(join(mirror, 'api', 'klines', '15m', symbol))).toHaveLength(6)
  })

  it('are all or none: one that cannot be written leaves the others as they were', async () => {
    const { tree, out, request } = await exportSetup()
    const rows = weekRows(FULL_WEEKS[4], { seed: 1 })
    rows[3][5] = '0.123456789'
    putFile(tree, weekPath('ETHUSDT', FULL_WEEKS[4]), rows)
    writeFileSync(join(out, 'BTCUSDT.parquet'), 'old')
    const output = join(out, '{symbol}.parquet')
    const both = { ...request, symbols: [...SYMBOLS], output, numbers: 'decimal', force: true } as const
    await expect(exportKlines(both)).rejects.toMatchObject({ code: 'digits_lost' })
    expect(readFileSync(join(out, 'BTCUSDT.parquet'), 'utf8')).toBe('old')
    expect(filesBelow(out)).toEqual(['BTCUSDT.parquet'])
  })

  it('of which one is a folder are refused before a window is asked for', async () => {
    const { server, out, request } = await exportSetup()
    mkdirSync(join(out, 'ETHUSDT.csv'))
    const both = { ...request, symbols: [...SYMBOLS], output: join(out, '{symbol}.csv') }
    await expect(exportKlines(both)).rejects.toMatchObject({ code: 'bad_output' })
    expect(server.paths('windows')).toEqual([])
    expect(filesBelow(out)).toEqual([])
  })

  it('have each its own rows', async () => {
    const { out, request } = await exportSetup()
    await exportKlines({ ...request, symbols: 'all' as const, output: join(out, '{symbol}-{interval}.csv') })
    expect(filesBelow(out)).toEqual(SYMBOLS.map(symbol => `${symbol}-15m.csv`))
    for (const symbol of SYMBOLS) expect(linesOf(join(out, `${symbol}-15m.csv`))).toEqual(csvRows(symbol))
  })
})

describe('digits', () => {
  const long = ['12345678901234567890.12345678', '0.123456789']

  async function longDigits() {
    const setup = await exportSetup()
    const rows = weekRows(FULL_WEEKS[0])
    rows[1][7] = long[0]
    rows[2][7] = long[1]
    putFile(setup.tree, weekPath('BTCUSDT', FULL_WEEKS[0]), rows, RENDERED)
    return setup
  }

  it('are all in text', async () => {
    const { warnings, request } = await longDigits()
    await exportKlines(request)
    expect([1, 2].map(line => linesOf(request.output)[line].split(',')[7])).toEqual(long)
    expect(warnings).toEqual([])
  })

  it('that a double does not hold are counted and warned of', async () => {
    const { out, warnings, request } = await longDigits()
    const output = join(out, 'out.parquet')
    const report = await exportKlines({ ...request, output })
    expect(report.files[0].inexactDoubles).toBe(1)
    expect(warnings).toEqual([
      expect.stringMatching(/^.*out\.parquet: 1 decimal.* `numbers: 'decimal'` keeps them all\.$/),
    ])
  })

  it('that DECIMAL(38,8) does not hold are an error, and no file', async () => {
    const { out, request } = await longDigits()
    const wrong = { ...request, output: join(out, 'out.parquet'), numbers: 'decimal' } as const
    await expect(exportKlines(wrong)).rejects.toMatchObject({ code: 'digits_lost' })
    expect(filesBelow(out)).toEqual([])
  })
})

describe('an export whose mirror cannot be written', () => {
  it('because its path is a file warns once and works from memory', async () => {
    const { server, mirror, warnings, request } = await exportSetup()
    writeFileSync(mirror, 'precious')
    await exportKlines(request)
    expect(linesOf(request.output)).toEqual(csvRows('BTCUSDT'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^Cannot write the mirror .*Going on from memory/)
    expect(readFileSync(mirror, 'utf8')).toBe('precious')
    expect(server.paths('windows')).toHaveLength(7)
  })

  /** Runs the export as a user without rights; `out` is open to all. */
  async function asNobody(setup: Awaited<ReturnType<typeof exportSetup>>) {
    chmodSync(setup.out, 0o777)
    const { stdout, stderr } = await runChild(
      'cli/export-child.ts',
      [setup.server.url, setup.mirror, setup.request.output, String(NOW)],
      { nobody: true },
    )
    expect(stderr).toBe('')
    return JSON.parse(stdout)
  }

  it('for want of permission warns once and works from memory', async () => {
    const setup = await exportSetup()
    chmodSync(setup.folder, 0o755)
    const result = await asNobody(setup)
    expect(result).toMatchObject({ code: 'none', rows: 42, warnings: [expect.stringContaining('permission denied')] })
    expect(linesOf(setup.request.output)).toEqual(csvRows('BTCUSDT'))
    expect(filesBelow(setup.folder)).toEqual([])
  })

  it('but read still gives its final windows without asking', async () => {
    const setup = await exportSetup()
    chmodSync(setup.folder, 0o755)
    await downloadKlines(setup.request)
    setup.server.reset()
    const result = await asNobody(setup)
    expect(result).toMatchObject({ code: 'none', rows: 42 })
    expect(setup.server.paths('windows')).toEqual([weekPath('BTCUSDT', OPEN_WEEK)])
    expect(linesOf(setup.request.output)).toEqual(csvRows('BTCUSDT'))
  })
})

it('a candle restated between two exports is in the second one', async () => {
  const { tree, request } = await exportSetup()
  await exportKlines(request)
  const rows = weekRows(OPEN_WEEK, { days: 2 })
  rows[1][4] = '7.70000000'
  putFile(tree, weekPath('BTCUSDT', OPEN_WEEK), rows, RENDERED + 1_000)
  const report = await exportKlines({ ...request, force: true })
  expect(report.series[0].restated).toBe(1)
  expect(linesOf(request.output).at(-1)).toBe(rows[1].join(','))
})
