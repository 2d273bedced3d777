import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/download/download.js'
import { klineRows } from '../../src/download/read.js'
import { exportKlines } from '../../src/export/export.js'
import { downloadSetup, readJson } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, type Row, weekPath, weekRows } from '../support/synthetic-tree.js'

const [WEEK, NEXT_WEEK] = FULL_WEEKS
const DAY = 86_400_000
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
const restatedWeek = () => weekRows(WEEK).with(0, weekRows(WEEK)[0].with(5, '9.99000000') as Row)

/** A mirror of a service that has changed a candle of one window, and has more of the last one. */
async function restatedSetup() {
  const setup = await downloadSetup()
  await downloadKlines(setup.request)
  putFile(setup.tree, path(WEEK), restatedWeek(), RENDERED + DAY)
  putFile(setup.tree, path(OPEN_WEEK), weekRows(OPEN_WEEK, { days: 3 }), RENDERED + DAY)
  const request = { ...setup.request, refresh: true, failOnRestated: true, now: RENDERED + 2 * DAY }
  return { ...setup, request }
}

describe('with failOnRestated', () => {
  it('a run fails, stores nothing of a restated window, and stores the others', async () => {
    const { mirror, request } = await restatedSetup()
    const error = await catchError(downloadKlines(request))
    const time = Date.parse(WEEK)
    expect(error).toMatchObject({
      code: 'restated',
      message: `1 window has restated candles and was not stored:\nBTCUSDT 15m ${WEEK}: 1 change, the first at ${WEEK} 00:00 UTC: volume 3.50000000 is 9.99000000 now`,
      data: {
        windows: [
          {
            symbol: 'BTCUSDT',
            interval: '15m',
            startDate: WEEK,
            changes: [{ openTime: time, column: 'volume', before: '3.50000000', after: '9.99000000' }],
          },
        ],
      },
    })
    expect(readJson(mirror, path(WEEK))).toEqual(weekRows(WEEK))
    expect(readJson(mirror, path(OPEN_WEEK))).toEqual(weekRows(OPEN_WEEK, { days: 3 }))
    // Every run says it, until one takes the new version.
    expect(await catchError(downloadKlines(request))).toMatchObject({ code: 'restated' })
    expect((await downloadKlines({ ...request, failOnRestated: false })).series[0]).toMatchObject({ restated: 1 })
    expect(readJson(mirror, path(WEEK))).toEqual(restatedWeek())
    await downloadKlines(request)
  })

  it('a version that lacks candles fails too when it changes others', async () => {
    const { tree, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    putFile(tree, path(WEEK), restatedWeek().slice(0, -1), RENDERED + DAY)
    const error = await catchError(downloadKlines({ ...request, refresh: true, failOnRestated: true }))
    expect(error).toMatchObject({ code: 'restated', data: { windows: [{ startDate: WEEK }] } })
    expect(readJson(mirror, path(WEEK))).toEqual(weekRows(WEEK))
  })

  it('a gap that was filled counts, and new candles at the end do not', async () => {
    const { tree, mirror, request } = await downloadSetup()
    putFile(tree, path(WEEK), weekRows(WEEK).toSpliced(2, 1), RENDERED)
    await downloadKlines(request)
    putFile(tree, path(WEEK), weekRows(WEEK), RENDERED + DAY)
    const error = await catchError(downloadKlines({ ...request, refresh: true, failOnRestated: true }))
    expect(error.message).toContain('UTC: it was not there')
    expect(readJson(mirror, path(WEEK))).toHaveLength(7)
    expect(readJson(mirror, path(NEXT_WEEK))).toEqual(weekRows(NEXT_WEEK))
  })

  it('an export writes nothing, and rows end at the window', async () => {
    const { mirror, request } = await restatedSetup()
    const output = join(mirror, '..', 'x.csv')
    const error = await catchError(exportKlines({ ...request, output }))
    expect(error.message).toMatch(/^1 window has restated candles and was not stored, so nothing was exported:/)
    expect(existsSync(output)).toBe(false)
    const read: unknown[] = []
    const reading = async () => {
      for await (const { row } of klineRows(request)) read.push(row)
    }
    expect(await catchError(reading())).toMatchObject({ code: 'restated' })
    expect(read).toEqual([])
  })
})
