import { describe, expect, it } from 'vitest'
import { type CliSandbox, type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTestServer } from '../support/servers/test-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { putFile, type Row } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()

const HOUR = 3_600_000
const DAY = 24 * HOUR
const JANUARY = Date.parse('2025-01-01')
const NOW = Date.parse('2025-02-20T12:00Z')
const PATH = 'api/klines/1h/BTCUSDT/2025-01-01.json'
const LATER_PATH = 'api/klines/1h/BTCUSDT/2025-02-01.json'

/** `count` candles of `length` ms that follow each other. */
function candles(openTime: number, length: number, count: number): Row[] {
  return Array.from({ length: count }, (_, index) => {
    const opens = openTime + index * length
    return [opens, '1.5', '2.0', '1.0', '1.5', '3.0', opens + length - 1, '4.5', 7, '1.0', '1.5', '0']
  })
}

const HOURS_OF_JANUARY = candles(JANUARY, HOUR, 31 * 24)

/** Windows of 1h that are none, and where they are wrong. Others: test/rows. */
const WRONG: readonly [string, readonly Row[], RegExp][] = [
  ['rows of 30m', candles(JANUARY, HOUR / 2, 31 * 48), /row 1, element 0 \(open_time\): 2025-01-01T00:30.* the grid/],
  ['rows of 4h', candles(JANUARY, 4 * HOUR, 186), /row 0, element 6 \(close_time\): 2025-01-01T03:59:59.999Z is after/],
]

/** A tree of one series of 1h, and a sandbox at its present. */
async function setup() {
  const sandbox = newSandbox()
  sandbox.now = NOW
  const tree = sandbox.path('tree')
  putFile(tree, 'api/klines/symbols.json', ['BTCUSDT'])
  putFile(tree, 'api/klines/start-dates/1h.json', ['2025-01-01', '2025-02-01'])
  putFile(tree, PATH, HOURS_OF_JANUARY)
  putFile(tree, LATER_PATH, candles(Date.parse('2025-02-01'), HOUR, 19 * 24))
  const server = await TreeServer.start(tree)
  server.date = NOW
  const args = ['BTCUSDT', '-i', '1h', '--mirror', 'm']
  return {
    ...{ sandbox, server, tree },
    download: (...more: string[]) => sandbox.call(['download', ...args, '--base-url', server.url, ...more]),
    offline: (command: string, ...more: string[]) => sandbox.call([command, ...args, ...more]),
  }
}

function expectNamed({ code, stdout, stderr }: Run, exitCode: number, reason: RegExp): void {
  expect(code).toBe(exitCode)
  expect(`${stdout}${stderr}`).toMatch(reason)
}

describe('F75 a window of 1h with', () => {
  it('rows of 30m is not stored and not exported, and the next run repairs it', async () => {
    const [, rows, reason] = WRONG[0]
    const { sandbox, server, download } = await setup()
    server.always(PATH, { body: JSON.stringify(rows) })
    expectNamed(await download('-o', 'x.csv'), 3, reason)
    expect(sandbox.exists('x.csv')).toBe(false)
    expect(sandbox.exists(`m/${PATH}`)).toBe(false)
    server.reset()
    expect(await download('-o', 'x.csv', '-q')).toMatchObject({ code: 0 })
    expect(server.paths('windows')).toContain(PATH)
    expect(sandbox.text('x.csv').split('\n')).toHaveLength(1 + 31 * 24 + 19 * 24 + 1)
  })

  it.each(WRONG)(
    '%s in a mirror is refused offline and by the server, and downloaded again with a note',
    async (_, rows, reason) => {
      const { sandbox, server, download, offline } = await setup()
      expect(await download('-q')).toMatchObject({ code: 0 })
      putFile(sandbox.path('m'), PATH, rows)
      const exported = await offline('export', '-o', 'x.csv')
      expectNamed(exported, 3, reason)
      expect(exported.stderr).toContain('corrupt in the mirror: ')
      expect(sandbox.exists('x.csv')).toBe(false)
      expectNamed(await offline('verify'), 6, reason)
      const { request } = await startTestServer(sandbox.path('m'), { now: () => NOW })
      expect((await request(PATH)).status).toBe(404)
      expect((await request(LATER_PATH)).status).toBe(200)

      server.reset()
      const repaired = await download('-o', 'x.csv')
      expect(repaired.code).toBe(0)
      expect(repaired.stderr).toMatch(/^Note: Corrupt in the mirror, downloaded again: BTCUSDT 1h 2025-01-01: row \d/m)
      expect(repaired.stderr).toMatch(reason)
      expect(sandbox.text(`m/${PATH}`)).toBe(JSON.stringify(HOURS_OF_JANUARY))
    },
  )
})

describe('F75 3d windows', () => {
  const DATES = ['2015-01-01', '2020-01-01']
  const path = (startDate: string) => `api/klines/3d/BTCUSDT/${startDate}.json`
  const FIRST = candles(Date.parse('2019-12-20'), 3 * DAY, 4)
  /** 2020-01-01 follows the last candle of the first window. */
  const NEXT = candles(Date.parse('2020-01-01'), 3 * DAY, 300)
  const SHIFTED = candles(Date.parse('2020-01-02'), 3 * DAY, 300)
  const REASON =
    /row 0, element 0 .*: 2020-01-02T00:00:00.000Z is not on the grid of its series, where a candle opens at 20/

  async function setup3d(sandbox: CliSandbox) {
    sandbox.now = Date.parse('2022-08-01')
    const tree = tempFolder()
    putFile(tree, 'api/klines/symbols.json', ['BTCUSDT'])
    putFile(tree, 'api/klines/start-dates/3d.json', DATES)
    putFile(tree, path(DATES[0]), FIRST)
    putFile(tree, path(DATES[1]), NEXT)
    const server = await TreeServer.start(tree)
    server.date = sandbox.now
    const download = ['download', 'BTCUSDT', '-i', '3d', '--mirror', 'm', '--base-url', server.url]
    return { server, download: (...more: string[]) => sandbox.call([...download, ...more]) }
  }

  it('are held to the grid of the first cached candle: a shifted one is not stored, and corrupt in a mirror', async () => {
    const sandbox = newSandbox()
    const { server, download } = await setup3d(sandbox)
    expect(await download('--to', '2020-01-01', '-q')).toMatchObject({ code: 0 })
    server.always(path(DATES[1]), { body: JSON.stringify(SHIFTED) })
    expectNamed(await download('-o', 'x.csv'), 3, REASON)
    expect([sandbox.exists('x.csv'), sandbox.exists(`m/${path(DATES[1])}`)]).toEqual([false, false])

    server.reset()
    expect(await download('-q')).toMatchObject({ code: 0 })
    putFile(sandbox.path('m'), path(DATES[1]), SHIFTED)
    const offline = await sandbox.call(['export', 'BTCUSDT', '-i', '3d', '--mirror', 'm', '-o', 'x.csv'])
    expectNamed(offline, 3, REASON)
    const { request } = await startTestServer(sandbox.path('m'), { now: () => sandbox.now as number })
    expect([(await request(path(DATES[0]))).status, (await request(path(DATES[1]))).status]).toEqual([200, 404])
    const repaired = await download('-o', 'x.csv')
    expect(repaired.code).toBe(0)
    expect(repaired.stderr).toMatch(REASON)
    expect(sandbox.text(`m/${path(DATES[1])}`)).toBe(JSON.stringify(NEXT))
  })

  it('of any first day are valid as long as they have one grid, also without the first one', async () => {
    const sandbox = newSandbox()
    const { server, download } = await setup3d(sandbox)
    server.always(path(DATES[1]), { body: JSON.stringify(SHIFTED) })
    expect(await download('--from', '2020-01-01', '-o', 'x.csv', '-q')).toMatchObject({ code: 0 })
    expect(sandbox.text('x.csv').split('\n')[1]).toMatch(/^1577923200000,/)
  })
})
