import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/klines.js'
import { downloadSetup, readJson } from '../support/download-setup.js'
import { filesBelow } from '../support/files-below.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'

describe('a folder of candles without mirror.json', () => {
  it('becomes a mirror of the base URL of the first download, with a warning', async () => {
    const { tree, server, mirror, warnings, request } = await downloadSetup()
    cpSync(join(tree, 'api'), join(mirror, 'api'), { recursive: true, preserveTimestamps: true })
    await downloadKlines(request)
    expect(readJson(mirror, 'mirror.json')).toMatchObject({ baseUrl: server.url })
    expect(warnings).toEqual([expect.stringContaining(`from now on it is a mirror of ${server.url}`)])
  })

  it.each<[string, string, unknown]>([
    ['differ in a final window', FULL_WEEKS[4], weekRows(FULL_WEEKS[4], { seed: 7 })],
    ['lack a candle of it', FULL_WEEKS[4], weekRows(FULL_WEEKS[4], { days: 7 })],
    ['lack the window', FULL_WEEKS[4], undefined],
  ])('is never mixed with candles that %s', async (_, week, rows) => {
    const { tree, mirror, request } = await downloadSetup()
    cpSync(join(tree, 'api'), join(mirror, 'api'), { recursive: true, preserveTimestamps: true })
    if (rows === undefined) rmSync(join(tree, weekPath('BTCUSDT', week)))
    else putFile(tree, weekPath('BTCUSDT', week), rows)
    const before = filesBelow(mirror)
    await expect(downloadKlines(request)).rejects.toMatchObject({
      code: 'mirror_mismatch',
      message: expect.stringContaining(`BTCUSDT 15m ${week}`),
    })
    expect(filesBelow(mirror)).toEqual(before)
  })

  it('without a final window is held against the candles of an open one, which may have got more', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    const path = weekPath('BTCUSDT', OPEN_WEEK)
    putFile(mirror, path, weekRows(OPEN_WEEK, { days: 1, seed: 7 }), RENDERED - 1000)
    await expect(downloadKlines(request)).rejects.toMatchObject({ code: 'mirror_mismatch' })
    putFile(mirror, path, weekRows(OPEN_WEEK, { days: 1 }), RENDERED - 1000)
    await downloadKlines(request)
    expect(readJson(mirror, 'mirror.json')).toMatchObject({ baseUrl: server.url })
    expect(readJson(mirror, path)).toEqual(readJson(tree, path))
  })
})
