import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/klines.js'
import { lockKlines } from '../../src/identity/lock.js'
import { mirrorStatus } from '../../src/mirror/user-mirrors.js'
import { publishMirror } from '../../src/server/publish.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { catchError } from '../support/errors.js'
import { onWarning } from '../support/events.js'
import { filesBelow } from '../support/files-below.js'
import { startTestServer } from '../support/servers/test-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const HOUR = 3_600_000
const MONTHS = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-01`)
const SERIES = { symbols: ['BTCUSDT'], intervals: ['1h'] as const }
const START_DATES = 'api/klines/start-dates/1h.json'
const path = (startDate: string) => `api/klines/1h/BTCUSDT/${startDate}.json`
const ms = (text: string) => Date.parse(text)

/** A candle of an hour. */
const row = (openTime: number) => [openTime, '1', '1', '1', '1', '1', openTime + HOUR - 1, '1', 1, '1', '1', '0']

/** Candles of a month up to a time, exclusive; none before March. */
function monthRows(startDate: string, until: number): unknown[] {
  const start = Math.max(ms(startDate), ms('2026-03-01'))
  const end = Math.min(until, ms(MONTHS[MONTHS.indexOf(startDate) + 1] ?? '2027-01-01'))
  return Array.from({ length: Math.max(0, (end - start) / HOUR) }, (_, index) => row(start + index * HOUR))
}

/** A static service of 1h months, and a client with a mirror. */
async function setup() {
  const tree = tempFolder()
  const server = await TreeServer.start(tree)
  const mirror = join(tempFolder(), 'm')
  const warnings: string[] = []
  putFile(tree, 'api/klines/symbols.json', ['BTCUSDT'])
  putFile(tree, START_DATES, MONTHS)
  /** Deploys all files at a time, with the candles up to another. */
  const deploy = (at: string, until: string) => {
    server.date = ms(at)
    for (const date of MONTHS) putFile(tree, path(date), monthRows(date, ms(until)), ms(at))
  }
  const request = { ...SERIES, baseUrl: server.url, mirror, onEvent: onWarning(text => warnings.push(text)) }
  const download = (at: string, range: { from?: string; to?: string } = {}, more: object = {}) => {
    server.date = ms(at)
    server.log.length = 0
    return downloadKlines({ ...request, ...range, now: ms(at), ...more })
  }
  const stored = (date: string, root = mirror) => JSON.parse(readFileSync(join(root, path(date)), 'utf8')).length
  return { tree, server, mirror, warnings, deploy, download, stored }
}

describe('a service that is late', () => {
  it('and was deployed again as it is: a window that it had half full is asked for again once it went on', async () => {
    const { deploy, download, stored, server, mirror } = await setup()
    deploy('2026-07-01T05:00Z', '2026-04-30T04:00Z')
    await download('2026-07-01T06:00Z', { from: '2026-03', to: '2026-05' })
    expect(stored('2026-04-01')).toBe(30 * 24 - 20)
    deploy('2026-07-10T05:00Z', '2026-07-10')
    await download('2026-07-10T06:00Z', { from: '2026-06' })
    await download('2026-07-10T07:00Z', { from: '2026-03' })
    expect(server.paths('windows')).toContain(path('2026-04-01'))
    expect(stored('2026-04-01')).toBe(30 * 24)
    const { series } = await verifyKlines({ symbols: 'all', intervals: 'all', mirror, now: ms('2026-07-10T08:00Z') })
    expect(series).toMatchObject([{ candles: (ms('2026-07-10') - ms('2026-03-01')) / HOUR, gaps: [] }])
  })

  it('and lists only its last months from now on: the older windows stay, with a note', async () => {
    const { tree, deploy, download, stored, warnings, server } = await setup()
    deploy('2026-07-01T05:00Z', '2026-07-01')
    await download('2026-07-01T06:00Z')
    putFile(tree, START_DATES, MONTHS.slice(5))
    deploy('2026-07-10T05:00Z', '2026-07-10')
    const report = await download('2026-07-10T06:00Z')
    expect(report.series).toMatchObject([{ candles: (ms('2026-07-10') - ms('2026-03-01')) / HOUR }])
    expect(warnings).toEqual([
      `The list of 1h start dates of ${server.url} begins with 2026-06-01; the older cached windows stay.`,
    ])
    expect(stored('2026-03-01')).toBe(31 * 24)
    expect(server.paths('windows')).not.toContain(path('2026-01-01'))
  })
})

it('a lock goes on with the downloads, also behind a window that was downloaded hours after its end', async () => {
  const { deploy, download, mirror } = await setup()
  const lastLocked = async (now: string) => {
    const output = join(mirror, '..', 'klines.lock.json')
    const { series } = await lockKlines({ ...SERIES, mirror, now: ms(now), output, force: true })
    return series[0].lastOpenTime
  }
  deploy('2026-06-01T05:00Z', '2026-06-01T05:00Z')
  await download('2026-06-01T05:00Z')
  expect(await lastLocked('2026-06-01T06:00Z')).toBe(ms('2026-05-31T23:00Z'))
  deploy('2026-07-10T05:00Z', '2026-07-10T05:00Z')
  await download('2026-07-10T05:00Z')
  expect(await lastLocked('2026-07-10T06:00Z')).toBe(ms('2026-07-09T04:00Z'))
})

it('a tree that is deployed daily, with a gap at the end of a window is locked and published the same way on successive days, also when only the open window is new', async () => {
  const { tree, deploy, download, mirror } = await setup()
  const gap = monthRows('2026-04-01', ms('2026-04-28'))
  const found: unknown[] = []
  for (const day of ['2026-07-10', '2026-07-11', '2026-07-12', '2026-07-13']) {
    deploy(`${day}T05:00Z`, day)
    putFile(tree, path('2026-04-01'), gap, ms(`${day}T05:00Z`))
    await download(`${day}T06:00Z`)
    const now = ms(`${day}T07:00Z`)
    const output = join(mirror, '..', 'klines.lock.json')
    const { series } = await lockKlines({ ...SERIES, mirror, now, output, force: true })
    const { windows } = await publishMirror({ mirror, now })
    found.push([series[0].candles, windows])
  }
  // From March on, without three days of April, and up to a day before the deployment.
  const candles = (until: string) => (ms(until) - ms('2026-03-01')) / HOUR - 3 * 24
  const locked = ['2026-07-09T05:00Z', '2026-07-10T05:00Z', '2026-07-11T05:00Z', '2026-07-12T05:00Z'].map(candles)
  expect(found).toEqual(locked.map(count => [count, MONTHS.length]))
})

it('an older index beside a newer tree: the newest candle is that of the files, and a short window is not published', async () => {
  const { deploy, download, mirror } = await setup()
  deploy('2026-05-31T05:00Z', '2026-05-30')
  await download('2026-05-31T06:00Z')
  deploy('2026-06-02T05:00Z', '2026-05-30')
  await download('2026-06-02T06:00Z')
  putFile(mirror, path('2026-06-01'), monthRows('2026-06-01', ms('2026-07-01')))
  const { series } = await mirrorStatus({ mirror })
  expect(series).toMatchObject([{ lastOpenTime: ms('2026-06-30T23:00Z') }])
  const error = await catchError(publishMirror({ mirror, now: ms('2026-07-01T06:00Z') }))
  expect(error.message).toContain('1 x does not reach its end, and later candles are there')
  expect(error.message).toContain('(BTCUSDT 1h 2026-05-01)')
})

it.each(['with', 'without'])(
  'a mirror that was copied by cp -r, %s its index, makes no short window final for those who download from it',
  async index => {
    const { deploy, download, mirror, stored } = await setup()
    deploy('2026-04-10T05:00Z', '2026-04-10')
    await download('2026-04-10T06:00Z')
    // Its files get the present time.
    const copy = join(mirror, '..', 'copy')
    cpSync(mirror, copy, { recursive: true })
    for (const name of filesBelow(copy)) putFile(copy, name, readFileSync(join(copy, name)), ms('2026-07-10'))
    if (index === 'without') rmSync(join(copy, '.klines/1h'), { recursive: true })
    let now = ms('2026-07-10T06:00Z')
    const { url } = await startTestServer(copy, { now: () => now })
    const client = join(mirror, '..', 'client')
    const fromCopy = () => downloadKlines({ ...SERIES, baseUrl: url, mirror: client, to: '2026-05', now })
    await fromCopy()
    expect(stored('2026-04-01', client)).toBe(9 * 24)
    deploy('2026-07-11T05:00Z', '2026-07-11')
    await download('2026-07-11T06:00Z', {}, { mirror: copy })
    expect(stored('2026-04-01', copy)).toBe(30 * 24)
    now = ms('2026-07-11T07:00Z')
    await fromCopy()
    expect(stored('2026-04-01', client)).toBe(30 * 24)
  },
)
