import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FULL } from '../support/cases.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../support/sample-tree.js'
import { startTestServer } from '../support/servers/test-server.js'
import { serveUpstream } from '../support/servers/upstream-setup.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const INTERVALS = ALL_INTERVALS

/** The hash of each CSV file in a folder of a sandbox, by its name. */
function hashFiles(sandbox: ReturnType<typeof newSandbox>, folder: string): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(sandbox.bytes(`${folder}/${name}`))
      .digest('hex')
  return Object.fromEntries(sandbox.files(folder).map(name => [name, hash(name)]))
}

/** The hashes of an independent program. */
function expectedHashes(symbols: readonly string[]): Record<string, string> {
  const known = expectedSeries()
  const series = symbols.flatMap(symbol => INTERVALS.map(interval => ({ symbol, interval })))
  return Object.fromEntries(
    series.map(({ symbol, interval }) => [`${symbol}-${interval}.csv`, known[symbol][interval].csvSha256]),
  )
}

describe.runIf(hasRealTree)('klines download of the real slice (skipped without ../shared/data)', () => {
  it('from this server writes the same series as an independent program', async () => {
    const sandbox = newSandbox()
    const { url } = await startTestServer(realTree(), { now: Date.now })
    await sandbox.shell('mkdir out')
    const symbols = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']
    const args = [...symbols, '-i', FULL ? 'all' : INTERVALS.join(), '--base-url', url, '--mirror', 'm']
    const run = await sandbox.call(['download', ...args, '-o', 'out/{symbol}-{interval}.csv', '-q'])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const expected = expectedHashes(symbols)
    expect(Object.keys(expected)).toHaveLength(INTERVALS.length * symbols.length)
    expect(hashFiles(sandbox, 'out')).toEqual(expected)
  })

  it('from a server with an empty mirror and that server as its upstream writes the same', async () => {
    const sandbox = newSandbox()
    const first = await startTestServer(realTree(), { now: Date.now })
    const mirror = join(tempFolder(), 'mirror')
    const second = await serveUpstream(first.url, mirror, { now: Date.now })
    await sandbox.shell('mkdir out')
    const args = ['DOTUSDT', '-i', FULL ? 'all' : INTERVALS.join(), '--base-url', second.url, '--mirror', 'm']
    const run = await sandbox.call(['download', ...args, '-o', 'out/{symbol}-{interval}.csv', '-q'])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(hashFiles(sandbox, 'out')).toEqual(expectedHashes(['DOTUSDT']))
    const windows = (root: string) => filesBelow(join(root, 'api/klines')).filter(file => /\d\.json$/.test(file))
    expect(windows(mirror)).toEqual(windows(sandbox.path('m')))
  })
})
