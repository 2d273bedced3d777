import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../../src/engine/download.js'
import { filesBelow } from '../../support/files-below.js'
import { indexTree } from '../../support/index-tree.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { serveUpstream } from '../../support/servers/upstream-setup.js'
import { makeTree, PRESENT, RENDERED, START_DATES, SYMBOLS, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

describe('this server as the service', () => {
  it('a download makes a mirror with the same bytes, and gets 304 the next time', async () => {
    const tree = indexTree(makeTree(tempFolder()), { rendered: RENDERED })
    const lines: string[] = []
    const { url } = await startTestServer(tree, { now: () => PRESENT, log: line => void lines.push(line) })
    const mirror = join(tempFolder(), 'mirror')
    const request = { symbols: 'all', intervals: ['15m'], baseUrl: url, mirror, now: PRESENT } as const
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
    lines.length = 0
    const second = await downloadKlines(request)
    // Two windows a symbol could still change: the tree was rendered before their end.
    expect(second.series.map(({ windows }) => [windows.fetched, windows.revalidated])).toEqual([
      [0, 2],
      [0, 2],
    ])
    expect(lines.filter(line => / 304 \d+ B /.test(line))).toHaveLength(4)
  })

  it('a chain of three servers returns the same bytes through all of them', async () => {
    const tree = makeTree(tempFolder())
    const first = await startTestServer(tree, { now: () => PRESENT })
    const [near, far] = [join(tempFolder(), 'near'), join(tempFolder(), 'far')]
    const second = await serveUpstream(first.url, near, { now: () => PRESENT })
    const third = await serveUpstream(second.url, far, { now: () => PRESENT })
    const mirror = join(tempFolder(), 'mirror')
    await downloadKlines({ symbols: 'all', intervals: ['15m'], baseUrl: third.url, mirror, now: PRESENT })
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
