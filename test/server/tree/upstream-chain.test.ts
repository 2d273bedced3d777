import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../../src/engine/klines.js'
import { filesBelow } from '../../support/files-below.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { serveUpstream } from '../../support/servers/upstream-setup.js'
import { makeTree, PRESENT, START_DATES, SYMBOLS } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

describe('this server as the service', () => {
  it('a chain of three servers returns the same bytes through all of them', async () => {
    const tree = makeTree(tempFolder())
    const first = await startTestServer(tree, { now: () => PRESENT })
    const [near, far] = [join(tempFolder(), 'near'), join(tempFolder(), 'far')]
    const second = await serveUpstream(first.url, near, { now: () => PRESENT })
    const third = await serveUpstream(second.url, far, { now: () => PRESENT })
    const mirror = join(tempFolder(), 'mirror')
    await downloadKlines({ symbols: 'all', intervals: ['15m'], baseUrl: third.url, mirror, now: PRESENT })
    const files = filesBelow(join(mirror, 'api'))
    expect(files).toHaveLength(SYMBOLS.length * START_DATES.length)
    for (const root of [near, far, mirror]) {
      expect(filesBelow(join(root, 'api'))).toEqual(files)
      for (const file of files) {
        expect(readFileSync(join(root, 'api', file)).equals(readFileSync(join(tree, 'api', file))), file).toBe(true)
      }
    }
  })
})
