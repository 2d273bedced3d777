import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { EMPTY_WEEK, FULL_WEEKS, FUTURE_WEEK, START_DATES, SYMBOLS, treeRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()

/** First words of the lines of a table, without its head. */
const firstWords = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(line => line.split(' ')[0])

describe('the lists', () => {
  it('come from the service, with what the mirror holds', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const location = ['--base-url', server.url, '--mirror', 'm']
    const [week, nextWeek] = FULL_WEEKS
    const download = ['download', 'BTCUSDT', '-i', '15m', ...location, '--from', week, '--to', nextWeek]
    expect(await sandbox.call(download)).toMatchObject({ code: 0 })
    const [text, json, dates, dateText] = await Promise.all([
      sandbox.call(['symbols', ...location]),
      sandbox.call(['symbols', ...location, '--json']),
      sandbox.call(['start-dates', '15m', ...location, '--json']),
      sandbox.call(['start-dates', '15m', ...location]),
    ])
    for (const run of [text, json, dates, dateText]) expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(firstWords(text.stdout)).toEqual([...SYMBOLS])
    expect(JSON.parse(json.stdout)).toEqual({
      listsFrom: 'service',
      mirror: 'm',
      symbols: [
        { symbol: 'BTCUSDT', mirrored: { intervals: ['15m'], windows: 1 } },
        { symbol: 'ETHUSDT', mirrored: { intervals: [], windows: 0 } },
      ],
      warnings: [],
    })
    expect(dateText.stdout).toMatch(RegExp(`^${week} +${nextWeek} +BTCUSDT$`, 'm'))
    expect(firstWords(dateText.stdout)).toEqual(START_DATES)
    expect(JSON.parse(dates.stdout)).toMatchObject({ listsFrom: 'service', interval: '15m', windowLength: '7 days' })
    const ends = START_DATES.map(date => new Date(Date.parse(date) + 7 * 86_400_000).toISOString().slice(0, 10))
    expect(JSON.parse(dates.stdout).startDates).toEqual(
      START_DATES.map((startDate, index) => ({
        startDate,
        endDate: ends[index],
        mirrored: startDate === week ? ['BTCUSDT'] : [],
      })),
    )
    // A window is listed from its first moment on.
    for (const [ms, started] of [[0, START_DATES] as const, [-3_600_000, START_DATES.slice(0, -1)] as const]) {
      sandbox.now = Date.parse(FUTURE_WEEK) + ms
      expect(firstWords((await sandbox.call(['start-dates', '15m', ...location])).stdout)).toEqual(started)
    }
  })

  it('come from the mirror, with a note, when the service is unreachable', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const location = ['--base-url', server.url, '--mirror', 'm']
    expect(await sandbox.call(['download', 'all', '-i', '15m', ...location])).toMatchObject({ code: 0 })
    await server.stop()
    const [symbols, dates, intervals, quiet] = await Promise.all([
      sandbox.call(['symbols', ...location]),
      sandbox.call(['start-dates', '15m', ...location, '--json']),
      sandbox.call(['intervals', ...location, '--json']),
      sandbox.call(['symbols', ...location, '-q']),
    ])
    expect(symbols.code).toBe(0)
    expect(symbols.stderr).toMatch(/^Note: .*refused.*mirror.*\n$/)
    expect(firstWords(symbols.stdout)).toEqual(SYMBOLS)
    expect(quiet).toMatchObject({ code: 0, stdout: symbols.stdout, stderr: '' })
    expect(dates).toMatchObject({ code: 0, stderr: '' })
    const { listsFrom, warnings, startDates } = JSON.parse(dates.stdout)
    expect({ listsFrom, warnings: warnings.length }).toEqual({ listsFrom: 'mirror', warnings: 1 })
    expect(startDates.map(({ startDate }: { startDate: string }) => startDate)).toEqual(START_DATES)
    expect(startDates.every(({ mirrored }: { mirrored: string[] }) => mirrored.join() === SYMBOLS.join())).toBe(true)
    expect(JSON.parse(intervals.stdout).intervals[0]).toMatchObject({ interval: '15m', windows: 8, mirrored: 16 })
  })
})

describe('mirror', () => {
  it('shows what is cached of each series', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const location = ['--base-url', server.url, '--mirror', 'm']
    expect(await sandbox.call(['download', 'BTCUSDT', '-i', '15m', ...location])).toMatchObject({ code: 0 })
    const [json, text] = await Promise.all([
      sandbox.call(['mirror', '--mirror', 'm', '--json']),
      sandbox.call(['mirror', '--mirror', 'm']),
    ])
    expect((await sandbox.call(['mirror', '--mirror', 'm', '--path', '--json'])).stdout).toBe(json.stdout)
    const bytes = sandbox
      .files('m/api/klines/15m')
      .reduce((sum, name) => sum + sandbox.bytes(`m/api/klines/15m/${name}`).length, 0)
    const [series] = JSON.parse(json.stdout).series
    const sizes = { windows: START_DATES.length, cachedBytes: bytes }
    const rows = [...treeRows('BTCUSDT').values()].flat()
    const ends = { firstOpenTime: rows[0][0], lastOpenTime: rows.at(-1)?.[0] }
    expect(JSON.parse(json.stdout)).toEqual({
      mirror: 'm',
      baseUrl: server.url,
      ...sizes,
      series: [{ symbol: 'BTCUSDT', interval: '15m', ...sizes, empty: [EMPTY_WEEK, FUTURE_WEEK].length, ...ends }],
      others: [],
      warnings: [],
    })
    expect(text).toMatchObject({ code: 0, stderr: '' })
    const [first, last] = [series.firstOpenTime, series.lastOpenTime].map(time => new Date(time).toISOString())
    const times = [first.slice(0, 10), last.slice(0, 16).replace('T', ' ')]
    for (const part of ['BTCUSDT', '15m', ...times, server.url, 'Mirror: m', 'm/api/klines/15m/BTCUSDT'])
      expect(text.stdout).toContain(part)
  })
})

describe.concurrent('mirror --path', () => {
  const PUBLIC = 'finom.github.io_static-klines'
  it.each<[string, string[], Record<string, string>, string]>([
    ['one folder a base address below XDG_CACHE_HOME', [], { XDG_CACHE_HOME: '/x/cache' }, `/x/cache/klines/${PUBLIC}`],
    ['~/.cache without XDG_CACHE_HOME', [], { XDG_CACHE_HOME: '', HOME: '/x/home' }, `/x/home/.cache/klines/${PUBLIC}`],
    ['its own folder for the sample', ['--base-url', 'sample'], { XDG_CACHE_HOME: '/x' }, '/x/klines/sample'],
    ['the folder of --mirror', ['--mirror', '/x/there'], {}, '/x/there'],
  ])('is %s', async (_, args, env, expected) => {
    const sandbox = newSandbox()
    const [text, json] = await Promise.all([
      sandbox.call(['mirror', '--path', ...args], env),
      sandbox.call(['mirror', '--path', ...args, '--json'], env),
    ])
    expect(text).toMatchObject({ code: 0, stdout: `${expected}\n`, stderr: '' })
    expect(JSON.parse(json.stdout)).toMatchObject({ mirror: expected, series: [], warnings: [] })
  })
})
