import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { downloadSetup } from '../support/download-setup.js'
import { onWindow } from '../support/events.js'
import { filesBelow } from '../support/files-below.js'
import {
  FULL_WEEKS,
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

/** The data lines of a CSV file with the whole synthetic tree. */
const csvRows = (symbol: string) => [...treeRows(symbol).values()].flat().map(row => row.join(','))
const dataLines = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(1)

describe('an export through the service', () => {
  it('downloads what the mirror lacks, then writes every row', async () => {
    const { server, out, mirror, request } = await exportSetup()
    const report = await exportKlines(request)
    expect(dataLines(request.output)).toEqual(csvRows('BTCUSDT'))
    expect(report.files).toMatchObject([{ path: request.output, format: 'csv', candles: 42, inexactDoubles: 0 }])
    expect(report.series[0].windows).toMatchObject({ fetched: 7 })
    expect(server.paths('windows')).toHaveLength(7)
    expect(filesBelow(join(mirror, 'api', 'klines', '15m', 'BTCUSDT'))).toHaveLength(7)
    expect(filesBelow(out)).toEqual(['out.csv'])
    server.reset()
    await exportKlines({ ...request, tail: 1, force: true })
    expect(server.paths('windows')).toEqual([weekPath('BTCUSDT', OPEN_WEEK)])
  })

  it('adds columns for symbol and interval when several series share a file', async () => {
    const { request } = await exportSetup()
    await exportKlines({ ...request, symbols: [...SYMBOLS] })
    const expected = SYMBOLS.flatMap(symbol => csvRows(symbol).map(row => `${symbol},15m,${row}`))
    expect(dataLines(request.output)).toEqual(expected)
  })
})

describe('several files', () => {
  it('are not written when windows cannot be downloaded; the error lists these, and the mirror has all others', async () => {
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

  it('are replaced all or not at all: if one cannot be written, the others stay unchanged', async () => {
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
})

describe('folders that are missing', () => {
  async function setUp() {
    const setup = await exportSetup()
    const output = join(setup.out, 'a', '{symbol}', '{interval}.csv')
    return { ...setup, request: { ...setup.request, symbols: SYMBOLS, output } }
  }

  it('are not left behind after a window that cannot be downloaded', async () => {
    const { server, out, request } = await setUp()
    server.always(weekPath('ETHUSDT', FULL_WEEKS[2]), { status: 404 })
    await expect(exportKlines(request)).rejects.toMatchObject({ name: 'KlinesError' })
    expect(readdirSync(out)).toEqual([])
  })

  it('are not left behind when the files cannot be put in place, nor after an interruption', async () => {
    const { out, request } = await setUp()
    const controller = new AbortController()
    let done = 0
    const interrupt = () => {
      if (++done === 10) controller.abort(new Error('enough'))
    }
    const { signal } = controller
    await expect(exportKlines({ ...request, signal, onEvent: onWindow(interrupt) })).rejects.toThrow('enough')
    expect(readdirSync(out)).toEqual([])
    await downloadKlines(request)
    let isOver = false
    const occupy = () => {
      if (existsSync(join(out, 'a', 'ETHUSDT'))) mkdirSync(join(out, 'a', 'ETHUSDT', '15m.csv'), { recursive: true })
      if (!isOver) setImmediate(occupy)
    }
    occupy()
    await expect(exportKlines({ ...request, offline: true })).rejects.toMatchObject({ name: 'KlinesError' })
    isOver = true
    expect(filesBelow(out)).toEqual([])
    expect(readdirSync(join(out, 'a'))).toEqual(['ETHUSDT'])
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

  it('are all kept as text', async () => {
    const { warnings, request } = await longDigits()
    await exportKlines(request)
    expect([1, 2].map(line => dataLines(request.output)[line].split(',')[7])).toEqual(long)
    expect(warnings).toEqual([])
  })

  it('that a double cannot represent are counted, with a warning', async () => {
    const { out, warnings, request } = await longDigits()
    const output = join(out, 'out.parquet')
    const report = await exportKlines({ ...request, output })
    expect(report.files[0].inexactDoubles).toBe(1)
    expect(warnings).toEqual([
      expect.stringMatching(/^.*out\.parquet: 1 decimal.* --numbers decimal keeps them all\.$/),
    ])
  })
})
