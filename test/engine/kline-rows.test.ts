import { describe, expect, it } from 'vitest'
import { klineRows, type ReadRequest } from '../../src/engine/klines.js'
import { downloadSetup } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { FULL_WEEKS, NOW, SYMBOLS, treeRows, weekPath } from '../support/synthetic-tree.js'

const START = Date.parse('2024-12-30')
const END = NOW

async function collectRows(request: ReadRequest): Promise<string[]> {
  const rows: string[] = []
  for await (const { series, row } of klineRows({ ...request, as: 'arrays' }))
    rows.push(JSON.stringify([series.symbol, series.interval, ...row]))
  return rows
}

/** The rows of the synthetic tree in a range, symbol by symbol, computed from the tree alone. */
function expectedRows(fromTime: number, toTime: number): string[] {
  return SYMBOLS.flatMap(symbol =>
    [...treeRows(symbol).values()]
      .flat()
      .filter(([openTime]) => openTime >= fromTime && openTime < toTime)
      .map(row => JSON.stringify([symbol, '15m', ...row])),
  )
}

describe('rows', () => {
  it('arrive series by series, in order of time, each exactly as the service has it', async () => {
    const { request } = await downloadSetup()
    expect(await collectRows({ ...request, symbols: [...SYMBOLS] })).toEqual(expectedRows(START, END))
    expect(expectedRows(START, END)).toHaveLength(84)
  })

  it('that cannot be downloaded end the loop with incomplete, after the rows before them', async () => {
    const { server, request } = await downloadSetup()
    server.always(weekPath('BTCUSDT', FULL_WEEKS[2]), { status: 404 })
    const seen: number[] = []
    const error = await catchError(async () => {
      for await (const { row } of klineRows(request)) seen.push(row.open_time)
    })
    expect(error).toMatchObject({ code: 'incomplete' })
    expect(seen).toEqual(
      FULL_WEEKS.slice(0, 2).flatMap(date =>
        treeRows('BTCUSDT')
          .get(date)
          ?.map(([time]) => time),
      ),
    )
  })
})
