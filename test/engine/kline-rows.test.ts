import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { klineBatches, klineRows, type ReadRequest } from '../../src/engine/rows.js'
import { downloadSetup } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { FULL_WEEKS, makeTree, NOW, SYMBOLS, treeRows, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const START = Date.parse('2024-12-30')
const END = NOW
const iso = (time: number) => new Date(time).toISOString()

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

  it('of [a, b) and [b, c) together are those of [a, c)', async () => {
    const mirror = makeTree(tempFolder())
    const request = { symbols: [...SYMBOLS], intervals: ['15m'] as const, mirror, now: NOW, offline: true }
    const times = [...treeRows('BTCUSDT').values()].flat().map(([openTime]) => openTime)
    const time = fc.oneof(
      fc.integer({ min: START, max: END }),
      fc.constantFrom(...times, ...times.map(time => time - 1), ...times.map(time => time + 1)),
    )
    const triple = fc.uniqueArray(time, { minLength: 3, maxLength: 3 }).map(three => three.sort((a, b) => a - b))
    await fc.assert(
      fc.asyncProperty(triple, async ([a, b, c]) => {
        const [first, second, both] = await Promise.all(
          [
            [a, b],
            [b, c],
            [a, c],
          ].map(([from, to]) => collectRows({ ...request, from: iso(from), to: iso(to) })),
        )
        expect(both).toEqual(expectedRows(a, c))
        expect([...first, ...second].sort()).toEqual([...both].sort())
      }),
      { numRuns: 100 },
    )
  })

  it('arrive in batches of one window, none of them empty', async () => {
    const { request } = await downloadSetup()
    const lengths: number[] = []
    for await (const batch of klineBatches({ ...request, from: '2025-01-08', to: '2025-01-28' }))
      lengths.push(batch.length)
    expect(lengths).toEqual([6, 8, 8, 1])
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

  it('do not change when batches are kept while later ones arrive', async () => {
    const { request } = await downloadSetup()
    const batches = []
    for await (const batch of klineBatches({ ...request, symbols: [...SYMBOLS] })) batches.push(batch)
    const rows = batches.flatMap(batch =>
      Array.from({ length: batch.length }, (_, row) =>
        JSON.stringify([batch.series.symbol, batch.series.interval, ...batch.row(row)]),
      ),
    )
    expect(rows).toEqual(expectedRows(START, END))
  })
})
