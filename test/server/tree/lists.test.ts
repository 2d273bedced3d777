import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines, updateKlines } from '../../../src/engine/klines.js'
import { publishMirror } from '../../../src/server/publish.js'
import { downloadSetup, readJson } from '../../support/download-setup.js'
import { type SendRequest, startTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, PRESENT, putFile, treeRows, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SYMBOLS = 'api/klines/symbols.json'
const LISTED = ['PEPEUSDT', 'ETHUSDT', 'ADAUSDT', 'BTCUSDT', 'DOGEUSDT']
/** Longer than what is looked up is kept. */
const WAIT = { timeout: 10_000, interval: 100 }

const list = async (request: SendRequest, path = SYMBOLS) => JSON.parse(String((await request(path)).body))

/** A mirror of two of the five symbols of a service. */
async function mirrorSetup() {
  const setup = await downloadSetup()
  putFile(setup.tree, SYMBOLS, LISTED)
  for (const symbol of LISTED)
    for (const [date, rows] of treeRows('BTCUSDT')) putFile(setup.tree, weekPath(symbol, date), rows)
  setup.server.date = PRESENT
  const request = { ...setup.request, now: PRESENT }
  await downloadKlines({ ...request, symbols: ['BTCUSDT', 'PEPEUSDT'] })
  const update = () => updateKlines({ baseUrl: setup.server.url, mirror: setup.mirror, now: PRESENT })
  await update()
  return { ...setup, request, update }
}

describe('the symbols that a server without --upstream lists', () => {
  it('are those of its mirror in the order of the source, so a client can download them all', async () => {
    const { mirror } = await mirrorSetup()
    const server = await startTestServer(mirror, { now: () => PRESENT })
    expect(await list(server.request)).toEqual(['PEPEUSDT', 'BTCUSDT'])
    const client = join(tempFolder(), 'client')
    const report = await downloadKlines({
      ...{ symbols: 'all', intervals: ['15m'], baseUrl: server.url, mirror: client, now: PRESENT },
    })
    expect(report.series.map(({ symbol }) => symbol).sort()).toEqual(['BTCUSDT', 'PEPEUSDT'])
    expect(readJson(client, '.klines/symbols.json')).toEqual(['PEPEUSDT', 'BTCUSDT'])
  })

  it('are those of its windows once it was published too, and the tree has them until it is published again', async () => {
    const { mirror, request, update } = await mirrorSetup()
    const server = await startTestServer(mirror, { now: () => PRESENT })
    const publish = () => publishMirror({ mirror, now: PRESENT })
    await publish()
    expect(readJson(mirror, SYMBOLS)).toEqual(['PEPEUSDT', 'BTCUSDT'])
    await update()
    await downloadKlines({ ...request, symbols: ['ADAUSDT'] })
    expect(readJson(mirror, SYMBOLS)).toEqual(['PEPEUSDT', 'BTCUSDT'])
    expect(readJson(mirror, '.klines/symbols.json')).toEqual(LISTED)
    await expect.poll(() => list(server.request), WAIT).toEqual(['PEPEUSDT', 'ADAUSDT', 'BTCUSDT'])
    expect(await publish()).toMatchObject({ listsWritten: 1 })
    expect(readJson(mirror, SYMBOLS)).toEqual(['PEPEUSDT', 'ADAUSDT', 'BTCUSDT'])
  })

  it('are those of its windows, whatever a list of the tree says', async () => {
    const root = makeTree(tempFolder())
    putFile(root, SYMBOLS, ['DOTUSDT', 'ETHUSDT'])
    const { request } = await startTestServer(root)
    expect(await list(request)).toEqual(['ETHUSDT', 'BTCUSDT'])
  })

  it('follow the mirror within a second or so; an empty folder is no symbol', async () => {
    const root = makeTree(tempFolder())
    const { request } = await startTestServer(root)
    expect(await list(request)).toEqual(['BTCUSDT', 'ETHUSDT'])
    const folder = join(root, 'api/klines/15m/ETHUSDT')
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    putFile(root, weekPath('NEWUSDT', FULL_WEEKS[0]), [])
    await expect.poll(() => list(request), WAIT).toEqual(['BTCUSDT', 'NEWUSDT'])
  })
})

it('the start dates that a server lists are those of the source, before those of the tree', async () => {
  const root = makeTree(tempFolder())
  const { request } = await startTestServer(root)
  putFile(root, '.klines/start-dates/15m.json', FULL_WEEKS)
  expect(await list(request, 'api/klines/start-dates/15m.json')).toEqual(FULL_WEEKS)
})

it('in a mirror of many symbols, what is missing or the viewer asks of a series costs about what a window costs', async () => {
  const root = tempFolder()
  for (let index = 0; index < 300; index++)
    for (const interval of ['15m', '1h', '4h'])
      putFile(root, weekPath(`S${index}USDT`, FULL_WEEKS[0]).replace('15m', interval), '[]')
  const { request } = await startTestServer(root)
  const least = async (target: string) => {
    const times: number[] = []
    for (let round = 0; round < 30; round++) {
      const start = performance.now()
      await request(target)
      times.push(performance.now() - start)
    }
    return Math.min(...times)
  }
  const most = 3 + 3 * (await least(weekPath('S150USDT', FULL_WEEKS[0])))
  for (const path of [
    ...['S150USDT', 'NOUSDT'].map(name => weekPath(name, FULL_WEEKS[1])),
    '/coverage/15m/S150USDT.json',
  ])
    expect(await least(path), path).toBeLessThan(most)
})
