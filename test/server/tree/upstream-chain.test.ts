import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../../src/download/download.js'
import { useSandboxes } from '../../support/cli/cli-sandbox.js'
import { filesBelow } from '../../support/files-below.js'
import { expectedSeries, hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../../support/sample-tree.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { serveUpstream } from '../../support/servers/upstream-setup.js'
import { makeTree, START_DATES, SYMBOLS, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const newDesk = useSandboxes()

/** The hash of each CSV file in a folder of a desk, by its name. */
function hashFiles(desk: ReturnType<typeof newDesk>, folder: string): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(desk.bytes(`${folder}/${name}`))
      .digest('hex')
  return Object.fromEntries(desk.files(folder).map(name => [name, hash(name)]))
}

/** The hashes of an independent program. */
function expectedHashes(symbols: readonly string[]): Record<string, string> {
  const known = expectedSeries()
  const series = symbols.flatMap(symbol => ALL_INTERVALS.map(interval => ({ symbol, interval })))
  return Object.fromEntries(
    series.map(({ symbol, interval }) => [`${symbol}-${interval}.csv`, known[symbol][interval].csvSha256]),
  )
}

describe('this server as the service', () => {
  it('a download makes a mirror with the same bytes, and gets 304 the next time', async () => {
    const tree = makeTree(tempFolder())
    const statuses: (number | undefined)[] = []
    const { url } = await startTestServer(tree, { now: Date.now, log: ({ status }) => void statuses.push(status) })
    const mirror = join(tempFolder(), 'mirror')
    const request = { symbols: 'all', intervals: ['15m'], baseUrl: url, mirror } as const
    const first = await downloadKlines(request)
    expect(first.series.map(({ symbol, windows }) => [symbol, windows.fetched])).toEqual(
      SYMBOLS.map(symbol => [symbol, START_DATES.length]),
    )
    for (const symbol of SYMBOLS) {
      for (const startDate of START_DATES) {
        const [cached, original] = [mirror, tree].map(root => readFileSync(join(root, weekPath(symbol, startDate))))
        expect(cached.equals(original), startDate).toBe(true)
      }
    }
    statuses.length = 0
    const second = await downloadKlines(request)
    // Two windows a symbol could still change: the tree was rendered before their end.
    expect(second.series.map(({ windows }) => [windows.fetched, windows.revalidated])).toEqual([
      [0, 2],
      [0, 2],
    ])
    expect(statuses.filter(status => status === 304)).toHaveLength(4)
  })

  it('a chain of three servers returns the same bytes through all of them', async () => {
    const tree = makeTree(tempFolder())
    const first = await startTestServer(tree, { now: Date.now })
    const [near, far] = [join(tempFolder(), 'near'), join(tempFolder(), 'far')]
    const second = await serveUpstream(first.url, near, { now: Date.now })
    const third = await serveUpstream(second.url, far, { now: Date.now })
    const mirror = join(tempFolder(), 'mirror')
    await downloadKlines({ symbols: 'all', intervals: ['15m'], baseUrl: third.url, mirror })
    const files = filesBelow(join(mirror, 'api'))
    expect(files).toHaveLength(2 + SYMBOLS.length * START_DATES.length)
    for (const root of [near, far, mirror]) {
      expect(filesBelow(join(root, 'api'))).toEqual(files)
      for (const file of files) {
        expect(readFileSync(join(root, 'api', file)).equals(readFileSync(join(tree, 'api', file))), file).toBe(true)
      }
    }
  })
})

describe.runIf(hasRealTree)('klines download of the real slice', () => {
  it('from this server writes the same 36 series as an independent program', async () => {
    const desk = newDesk()
    const { url } = await startTestServer(realTree(), { now: Date.now })
    await desk.shell('mkdir out')
    const args = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT', '-i', 'all', '--base-url', url, '--mirror', 'm']
    const run = await desk.run(['download', ...args, '-o', 'out/{symbol}-{interval}.csv', '-q'])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const expected = expectedHashes(['BTCUSDT', 'ADAUSDT', 'DOTUSDT'])
    expect(Object.keys(expected)).toHaveLength(36)
    expect(hashFiles(desk, 'out')).toEqual(expected)
  })

  it('from a server with an empty mirror and that server as its upstream writes the same', async () => {
    const desk = newDesk()
    const first = await startTestServer(realTree(), { now: Date.now })
    const mirror = join(tempFolder(), 'mirror')
    const second = await serveUpstream(first.url, mirror, { now: Date.now })
    await desk.shell('mkdir out')
    const args = ['DOTUSDT', '-i', 'all', '--base-url', second.url, '--mirror', 'm']
    const run = await desk.run(['download', ...args, '-o', 'out/{symbol}-{interval}.csv', '-q'])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(hashFiles(desk, 'out')).toEqual(expectedHashes(['DOTUSDT']))
    const windows = (root: string) => filesBelow(join(root, 'api/klines')).filter(file => /\d\.json$/.test(file))
    expect(windows(mirror)).toEqual(windows(desk.path('m')))
  })
})
