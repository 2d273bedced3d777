import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { downloadKlines, klineRows } from '../../src/engine/klines.js'
import { deferred, turns, until } from '../support/deferred.js'
import { downloadSetup, readJson } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import { FULL_WEEKS, STARTED, treeRows, weekPath } from '../support/synthetic-tree.js'

const isWindow = (path: string) => /\d{4}-\d{2}-\d{2}\.json$/.test(path)
const path = (startDate: string) => weekPath('BTCUSDT', startDate)

it('a run that is aborted rejects at once with the reason, leaves a valid mirror without temp files, and the next one fetches the rest', async () => {
  const { server, mirror, request } = await downloadSetup()
  const gate = deferred()
  let windows = 0
  server.hold = path => (isWindow(path) && ++windows > 3 ? gate.promise : undefined)
  const controller = new AbortController()
  const run = catchError(downloadKlines({ ...request, concurrency: 2, signal: controller.signal }))
  await until(() => windows === 5)
  const reason = new Error('enough')
  const started = Date.now()
  controller.abort(reason)
  expect(await run).toBe(reason)
  expect(Date.now() - started).toBeLessThan(30_000)
  gate.resolve()
  await turns()
  expect(server.paths('windows')).toHaveLength(5)

  const stored = STARTED.filter(date => existsSync(join(mirror, path(date))))
  expect(stored).toHaveLength(3)
  for (const date of stored) expect(readJson(mirror, path(date))).toEqual(treeRows('BTCUSDT').get(date))
  expect(filesBelow(join(mirror, '.klines-tmp'))).toEqual([])
  server.reset()
  await downloadKlines({ ...request, from: FULL_WEEKS[0] })
  expect(server.paths('windows').sort()).toEqual(STARTED.filter(date => !stored.includes(date)).map(path))
})

it('leaving a loop over rows ends the requests: the first row needs no more than the concurrency allows', async () => {
  const { server, request } = await downloadSetup()
  const gate = deferred()
  let windows = 0
  server.hold = path => (isWindow(path) && ++windows > 2 ? gate.promise : undefined)
  for await (const { row } of klineRows({ ...request, as: 'arrays', concurrency: 1 })) {
    expect(row).toEqual(treeRows('BTCUSDT').get('2025-01-06')?.[0])
    break
  }
  const requested = server.paths('windows').length
  gate.resolve()
  await turns()
  expect(server.paths('windows')).toHaveLength(requested)
  expect(requested).toBeLessThanOrEqual(3)
})
