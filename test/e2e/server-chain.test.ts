import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { startTestServer } from '../support/servers/test-server.js'
import { serveUpstream } from '../support/servers/upstream-setup.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const INTERVALS = ['1h', '12h', '1d', '3d', '1w', '1M']

it.skipIf(!hasRealTree)(
  'klines download from a server, whose empty mirror another server fills, writes what an independent program writes (skipped without ../shared/data)',
  async () => {
    const sandbox = newSandbox()
    const first = await startTestServer(realTree(), { now: Date.now })
    const mirror = join(tempFolder(), 'mirror')
    const second = await serveUpstream(first.url, mirror, { now: Date.now })
    const place = ['--base-url', second.url, '--mirror', 'm', '-o', 'out/{interval}.csv', '-q']
    const run = await sandbox.call(['download', 'DOTUSDT', '-i', INTERVALS.join(), ...place])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    for (const interval of INTERVALS) {
      const hash = createHash('sha256')
        .update(sandbox.bytes(`out/${interval}.csv`))
        .digest('hex')
      expect(hash, interval).toBe(expectedSeries().DOTUSDT[interval].csvSha256)
    }
    const windows = (root: string) => filesBelow(join(root, 'api/klines')).filter(file => /\d\.json$/.test(file))
    expect(windows(mirror)).toEqual(windows(sandbox.path('m')))
  },
)
