import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { ChartSchema } from '../../src/commands/reports/schemas.js'
import { bigMirror } from '../support/big-mirror.js'
import { CLOCK, type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { closedPort } from '../support/servers/closed-port.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const SAMPLE = '--base-url sample --mirror mirror'
const WEEK_MS = 7 * 86_400_000

describe.concurrent('klines chart -o', () => {
  let sandbox: CliSandbox
  const chart = (args: string, env = {}) => sandbox.call(['chart', ...args.split(' ')], env)
  beforeAll(async () => {
    sandbox = newSandbox()
    const download = `download BTCUSDT ETHUSDT -i 1h,1d ${SAMPLE} -q`
    expect(await sandbox.call(download.split(' '))).toMatchObject({ code: 0 })
  })

  it('draws the candles of a range', async () => {
    const range = '--from 2025-01-05 --to 2025-03-01 --theme dark --log --width 900 --height 400'
    const run = await chart(`BTCUSDT -i 1d ${SAMPLE} ${range} -o chart.svg`)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^chart\.svg: 55 candles, [\d.]+ kB\n$/)
    const svg = sandbox.text('chart.svg')
    expect(svg).toMatch(/^<svg [^>]*width="900" height="400"/)
    expect(svg).toContain('>2025-01-05 to 2025-02-28 UTC, 55 candles · high ')
    expect(svg).toMatch(/synthetic sample data<\/text>/)
    expect(svg).not.toContain('#ffffff')
    expect(svg.endsWith('</svg>\n')).toBe(true)
  })

  it('draws the newest candles that fit without a range, to a pipe with -f svg', async () => {
    const run = await sandbox.call(`chart BTCUSDT -i 1h ${SAMPLE} -f svg --width 400`.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    // The last of 2,181 hours opens at 23:00 on 30 March.
    expect(run.stdout).toMatch(/<desc>2025-03-26 \d\d:00 to 2025-03-30 23:00 UTC, 119 candles\./)
  })

  it('draws a file for each series, of the interval that is requested', async () => {
    const run = await chart(
      `BTCUSDT ETHUSDT -i 1h --resample 4h ${SAMPLE} --from 2025-03 -o pictures/{symbol}-{interval}.svg.gz`,
    )
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('pictures')).toEqual(['BTCUSDT-4h.svg.gz', 'ETHUSDT-4h.svg.gz'])
  })

  it('describes the candles with --json', async () => {
    const { stdout } = await chart(`BTCUSDT -i 1d ${SAMPLE} --last 30d --to 2025-03-01 -o object.svg --json`)
    expect(parseObject(stdout, ChartSchema).series).toMatchObject([{ symbol: 'BTCUSDT', candles: 30 }])
    expect(sandbox.text('object.svg')).toContain('30 candles')
  })

  it('draws what is cached when the service cannot be reached', async () => {
    const own = newSandbox()
    const port = await closedPort()
    await own.call(`download BTCUSDT -i 1d ${SAMPLE} -q`.split(' '))
    own.write('mirror/mirror.json', JSON.stringify({ layout: 1, baseUrl: `http://127.0.0.1:${port}`, complete: false }))
    const args = `chart BTCUSDT -i 1d --base-url http://127.0.0.1:${port} --mirror mirror --retries 0 -o cached.svg`
    const run = await own.call(args.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('Drawing what is cached') })
    expect(own.text('cached.svg')).toContain('91 candles')
  })

  it('ignores the size of charts in the terminal and the defaults of exports', async () => {
    const env = {
      KLINES_WIDTH: '100',
      KLINES_HEIGHT: '20',
      KLINES_ASCII: '1',
      KLINES_FORMAT: 'csv',
      KLINES_OUTPUT: 'x.csv',
    }
    expect(await chart(`BTCUSDT -i 1d ${SAMPLE} -o default.svg`, env)).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.text('default.svg')).toContain('width="1200" height="600"')
    const terminal = await chart(`BTCUSDT -i 1d ${SAMPLE}`, { ...env, KLINES_THEME: 'dark' })
    expect(terminal).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^BTCUSDT 1d/) })
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it.each<[string, RegExp]>([
    ['-o x.png', /has no known extension/],
    ['-o x.csv', /A chart is drawn as svg, and x\.csv is csv/],
    ['-o x.svg --width 100', /--width is 100\. Expected a whole number of pixels from 400 to 10000/],
    ['-o x.svg --ascii', /--ascii is for a terminal/],
    ['-f svg --json', /--json prints an object on stdout/],
    ['--theme dark', /--theme is for a picture/],
    ['--width 1200', /--width is 1200 columns\. Expected 1000 at the most/],
    ['--height 600', /--height is 600 rows\. Expected 200 at the most/],
    ['ETHUSDT -o x.svg', /A picture shows one series/],
  ])('refuses %s', async (args, message) => {
    const run = await chart(`BTCUSDT -i 1d ${SAMPLE} ${args}`)
    expect(run.code).toBe(2)
    // With --json, the error is an object on stdout.
    expect(run.stderr + run.stdout).toMatch(message)
    expect(sandbox.files().filter(name => name.includes('x.'))).toEqual([])
  })

  it('replaces a file only with --force', async () => {
    sandbox.write('old.svg', 'old')
    expect(await chart(`BTCUSDT -i 1d ${SAMPLE} -o old.svg`)).toMatchObject({ code: 2, stdout: '' })
    expect(sandbox.text('old.svg')).toBe('old')
    expect(await chart(`BTCUSDT -i 1d ${SAMPLE} -o old.svg --force -q`)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(sandbox.text('old.svg')).toMatch(/^<svg /)
  })
})

it('a picture of 500,000 candles takes no more memory than one of few', async () => {
  const weeks = 745
  const mirror = bigMirror(tempFolder(), { symbols: ['BTCUSDT'], weeks })
  const sandbox = newSandbox()
  const from = Date.UTC(2024, 11, 30)
  const watch = `--import=${PROJECT}/test/faults/support/watch-memory.mjs`
  const peak = async (count: number) => {
    sandbox.now = from + weeks * WEEK_MS
    const to = new Date(from + count * WEEK_MS).toISOString()
    const args = `chart BTCUSDT -i 15m --offline --mirror ${mirror} --from 2024-12-30 --to ${to} --force -o big.svg -q`
    const env = { NODE_OPTIONS: `--import=${CLOCK} ${watch}`, KLINES_TEST_MEMORY: sandbox.path('peak') }
    expect(await sandbox.run(args.split(' '), env)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    return Number(readFileSync(sandbox.path('peak'), 'utf8')) / 1000
  }
  const few = await peak(30)
  const many = await peak(weeks)
  expect(sandbox.text('big.svg')).toMatch(/>15m resampled to 1M · 2024-12-30 00:00 to .* UTC, 1\d\d candles/)
  expect(sandbox.text('big.svg').length).toBeLessThan(30_000)
  expect(many).toBeLessThan(few + 50)
  expect(many).toBeLessThan(200)
})

it.skipIf(!hasRealTree)('an outage of the exchange is a band, and counted (skipped without real candles)', async () => {
  const sandbox = newSandbox()
  const args = `chart BTCUSDT -i 2h --offline --mirror ${realTree()} --from 2018-01-31 --to 2018-02-20 -f svg`
  const run = await sandbox.call(args.split(' '))
  expect(run.code).toBe(0)
  // 20 days of 12 candles; the exchange has none from 02:00 on 8 February to 10:00 on the 9th.
  expect(run.stdout).toContain('2018-01-31 00:00 to 2018-02-19 22:00 UTC, 224 candles, 16 missing')
  expect(run.stdout.match(/<path fill="#f9e7bd" d="M[\d.]+ \d+H[\d.]+V\d+H[\d.]+z"\/>/g)).toHaveLength(1)
})
