import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../../src/server/server.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const BADGE = 'Sample data, not prices'

it.each([
  ['of the sample say so', 'sample', true],
  ['of a service do not', 'https://klines.example', false],
])('the pages %s', async (_, baseUrl, isSample) => {
  const root = tempFolder()
  cpSync(SAMPLE_TREE, root, { recursive: true })
  writeFileSync(join(root, 'mirror.json'), JSON.stringify({ layout: 1, baseUrl }))
  const server = await startServer({ host: '127.0.0.1', port: 0, root, source: baseUrl })
  onTestFinished(() => server.close())
  for (const path of ['/', '/chart', '/chart/BTCUSDT/1h']) {
    const page = await (await fetch(server.url + path)).text()
    expect([path, page.includes(BADGE)]).toEqual([path, isSample])
  }
})
