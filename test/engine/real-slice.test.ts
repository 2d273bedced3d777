import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { csvHashes } from '../support/csv-hashes.js'
import { filesBelow } from '../support/files-below.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

/** The day after the slice was downloaded. */
const NOW = Date.UTC(2026, 3, 30, 12)

describe.runIf(hasRealTree)('the real slice (skipped without ../shared/data)', () => {
  it('is exported as an independent program computed it, a second time with one request a series, and offline with none', async () => {
    const server = await TreeServer.start(realTree())
    server.date = NOW
    const symbols = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT'] as const
    const truth = symbols.flatMap(symbol =>
      Object.entries(expectedSeries()[symbol]).map(([interval, facts]) => ({
        name: `${symbol}-${interval}`,
        ...facts,
      })),
    )
    const expected = Object.fromEntries(truth.map(({ name, csvSha256 }) => [name, csvSha256]))
    expect(truth).toHaveLength(12 * symbols.length)

    const [mirror, first, second, offline] = [tempFolder(), tempFolder(), tempFolder(), tempFolder()]
    const request = { symbols, intervals: 'all' as const, mirror, now: NOW }
    const to = (folder: string) => join(folder, '{symbol}-{interval}.csv')

    const report = await exportKlines({ ...request, baseUrl: server.url, output: to(first) })
    expect(csvHashes(first)).toEqual(expected)
    const actual = report.series.map(
      ({ symbol, interval, candles: rows, firstOpenTime, lastOpenTime, gaps, missing }) => ({
        name: `${symbol}-${interval}`,
        rows,
        firstOpenTime,
        lastOpenTime,
        gaps,
        missing,
      }),
    )
    const facts = truth.map(({ name, rows, firstOpenTime, lastOpenTime, gaps, missing }) => ({
      name,
      rows,
      firstOpenTime,
      lastOpenTime,
      gaps,
      missing,
    }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    expect(actual.sort(byName)).toEqual(facts.sort(byName))

    server.reset()
    await exportKlines({ ...request, baseUrl: server.url, output: to(second) })
    // Each series has one window that is not final on that day: only it is requested, and it is unmodified.
    const requested = server.log.filter(({ path }) => /\d\.json$/.test(path))
    expect(new Set(requested.map(({ path }) => path.split('/').slice(2, 4).join('/'))).size).toBe(truth.length)
    expect(requested).toHaveLength(truth.length)
    expect(requested.every(({ status }) => status === 304)).toBe(true)
    expect(csvHashes(second)).toEqual(expected)

    server.reset()
    await exportKlines({ ...request, offline: true, output: to(offline) })
    expect(csvHashes(offline)).toEqual(expected)
    expect(server.log).toEqual([])
    expect(filesBelow(join(mirror, '.klines-tmp'))).toEqual([])
  })
})
