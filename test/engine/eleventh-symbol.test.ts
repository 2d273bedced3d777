import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { seriesStatuses } from '../../src/mirror/status.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { downloadSetup } from '../support/download-setup.js'
import { startTestServer } from '../support/servers/test-server.js'
import { NOW, OPEN_WEEK, putFile, STARTED, weekPath, weekRows, windowBytes } from '../support/synthetic-tree.js'

const PEPE = 'PEPEUSDT'

/** The synthetic tree with one more pair. */
async function setup() {
  const all = await downloadSetup()
  putFile(all.tree, 'api/klines/symbols.json', ['BTCUSDT', 'ETHUSDT', PEPE])
  for (const date of STARTED)
    putFile(all.tree, weekPath(PEPE, date), weekRows(date, { seed: 5, days: date === OPEN_WEEK ? 2 : 8 }))
  return all
}

it('a pair that the published list has beside the ten is used as it is: downloaded by its name, exported, verified, served and counted', async () => {
  const { server, request, mirror, folder, warnings } = await setup()
  const report = await downloadKlines({ ...request, symbols: ['pepe/usdt'] })
  expect(report.series).toMatchObject([{ symbol: PEPE, candles: 50, windows: { total: 7, fetched: 7 } }])
  const output = join(folder, 'x.json')
  await exportKlines({ ...request, symbols: [PEPE], output, offline: true })
  expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual(
    STARTED.flatMap(date => weekRows(date, { seed: 5, days: date === OPEN_WEEK ? 2 : 8 })),
  )
  const tree = new Mirror(mirror)
  const verified = await verifyKlines({ symbols: [PEPE], intervals: ['15m'], mirror, now: NOW })
  expect(verified.series).toMatchObject([{ symbol: PEPE, interval: '15m' }])
  expect(await seriesStatuses(tree)).toMatchObject([{ symbol: PEPE, interval: '15m', windows: 7 }])
  const served = await (await startTestServer(mirror)).request(weekPath(PEPE, STARTED[2]))
  expect([served.status, String(served.body)]).toEqual([200, String(windowBytes(weekRows(STARTED[2], { seed: 5 })))])
  expect(warnings).toEqual([])
  expect(server.log.every(({ status }) => status === 200)).toBe(true)
})
