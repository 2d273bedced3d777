import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { RunSchema } from '../../src/cli/reports/schema.js'
import { bigMirror } from '../support/big-mirror.js'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const DAILY = 'BTCUSDT -i 1d --mirror mirror'
const WEEK_MS = 7 * 86_400_000

/** A sandbox whose mirror has candles of the sample: 91 days from 2024-12-30 to 2025-03-30. */
async function sandboxWithSample(): Promise<CliSandbox> {
  const sandbox = newSandbox()
  const run = await sandbox.call('download BTCUSDT ETHUSDT -i 1h,1d --base-url sample --mirror mirror -q'.split(' '))
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  return sandbox
}

/** The first numbers of the root element: its width and height. */
const sizeOf = (svg: string) => /^<svg [^>]*width="(\d+)" height="(\d+)"/.exec(svg)?.slice(1).map(Number)
const countBodies = (svg: string) => (svg.match(/M[\d.]+ [\d.]+V/g) ?? []).length

describe.concurrent('export of a picture', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = await sandboxWithSample()
  })

  it('to a file, a compressed file and a pipe is the same picture each time', async () => {
    const run = await sandbox.call(`export ${DAILY} -o a.svg`.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^a\.svg: 91 candles, [\d.]+ kB$/m)
    const svg = sandbox.text('a.svg')
    expect(sizeOf(svg)).toEqual([1200, 600])
    expect(svg).toContain('>2024-12-30 to 2025-03-30 UTC, 91 candles · high ')
    expect(svg).toMatch(/ · synthetic sample data<\/text>/)
    expect(svg.endsWith('</svg>\n')).toBe(true)
    await sandbox.call(`export ${DAILY} -o b.svg.gz -q`.split(' '))
    expect(String(gunzipSync(sandbox.bytes('b.svg.gz')))).toBe(svg)
    expect(await sandbox.call(`export ${DAILY} -f svg`.split(' '))).toMatchObject({ code: 0, stdout: svg, stderr: '' })
    expect(sandbox.bytes('a.svg').length).toBeLessThan(30_000)
  })

  it('describes its file with --json, and writes nothing in a dry run', async () => {
    const dry = await sandbox.call(`export ${DAILY} -o dry.svg --dry-run --json`.split(' '))
    expect(JSON.parse(dry.stdout)).toMatchObject({ files: ['dry.svg'] })
    expect(sandbox.exists('dry.svg')).toBe(false)
    const { stdout } = await sandbox.call(`export ${DAILY} -o json.svg --json`.split(' '))
    const { files } = parseObject(stdout, RunSchema) as { files: object[] }
    const series = [{ symbol: 'BTCUSDT', interval: '1d' }]
    expect(files).toEqual([expect.objectContaining({ path: 'json.svg', format: 'svg', candles: 91, series })])
  })

  it('has the theme, size and axis of its flags, of the environment and of a config file', async () => {
    const own = await sandboxWithSample()
    const draw = async (name: string, args: string, env = {}) => {
      const run = await own.call(`export ${DAILY} -q -o ${name} ${args}`.trim().split(' '), env)
      expect(run).toMatchObject({ code: 0, stderr: '' })
      return own.text(name)
    }
    const dark = await draw('dark.svg', '--theme dark --width 800 --height 300 --log')
    expect(sizeOf(dark)).toEqual([800, 300])
    expect(dark).not.toContain('#ffffff')
    const variables = {
      KLINES_THEME: 'dark',
      KLINES_PICTURE_WIDTH: '800',
      KLINES_PICTURE_HEIGHT: '300',
      KLINES_LOG: '1',
    }
    expect(await draw('variables.svg', '', variables)).toBe(dark)
    own.write('klines.config.json', JSON.stringify({ theme: 'dark', log: true, export: { width: 800, height: 300 } }))
    expect(await draw('config.svg', '')).toBe(dark)
  })

  it('ignores defaults of columns, and other formats those of pictures', async () => {
    const env = { KLINES_COLUMNS: 'close', KLINES_NUMBERS: 'text', KLINES_TIME_FORMAT: 'iso', KLINES_THEME: 'dark' }
    const svg = await sandbox.call(`export ${DAILY} -f svg`.split(' '), env)
    expect(svg).toMatchObject({ code: 0, stderr: '' })
    expect(countBodies(svg.stdout)).toBeGreaterThan(90)
    const csv = await sandbox.call(`export ${DAILY} -f csv --to 2024-12-31`.split(' '), env)
    expect(csv).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^close\n[\d.]+\n$/) })
  })

  it('draws other intervals with --resample, --derive and --partial, of a range', async () => {
    const draw = async (args: string) => {
      const run = await sandbox.call(`export BTCUSDT --mirror mirror -f svg ${args}`.split(' '))
      expect(run).toMatchObject({ code: 0, stderr: '' })
      return run.stdout
    }
    expect(await draw('-i 1d --last 30d --to 2025-03-01')).toContain('>2025-01-30 to 2025-02-28 UTC, 30 candles · ')
    expect(await draw('-i 1d --resample 1M')).toContain('>2024-12-01 to 2025-02-01 UTC, 3 candles · ')
    expect(await draw('-i 1d --resample 1M --partial')).toContain('>2024-12-01 to 2025-03-01 UTC, 4 candles · ')
    expect(await draw('-i 1w --derive')).toContain('>BTCUSDT 1w<')
    // 2,181 hours have no room into 1,200 pixels.
    expect(await draw('-i 1h')).toContain('>1h resampled to 6h · 2024-12-30 00:00 to ')
    expect(await draw('-i 1h --resample 3h --width 400')).toContain('>3h resampled to 1d')
  })

  it.each<[string, string, RegExp]>([
    ['columns', '-o x.svg --columns close', /^klines: --columns is for formats with rows; svg is a picture/],
    ['times', '-o x.svg --time-format ms', /^klines: --time-format is for formats with rows/],
    ['numbers', '-f svg --numbers text', /^klines: --numbers is for formats with rows/],
    ['an unknown theme', '-o x.svg --theme blue', /--theme=blue to be one of: light, dark/],
    ['a picture that is too small', '-o x.svg --width 399', /--width.*399|399/],
    ['a picture that is too high', '-o x.svg --height 10001', /10001/],
    ['a theme of another format', '-o x.csv --theme dark', /^klines: --theme is for svg; csv has rows and no picture/],
    ['a width of another format', '-f json --width 800', /^klines: --width is for svg; json has rows/],
    ['several series', 'ETHUSDT -o x.svg', /^klines: A picture shows one series, and 2 series would share x\.svg\./],
  ])('refuses %s', async (_, args, message) => {
    const run = await sandbox.call(`export ${DAILY} ${args}`.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(message)
    expect(sandbox.exists('x.svg')).toBe(false)
  })

  it('draws a file for each series', async () => {
    const run = await sandbox.call('export all -i 1d --mirror mirror -q -o {symbol}-{interval}.svg'.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.text('ETHUSDT-1d.svg')).toContain('<title>ETHUSDT 1d candles</title>')
    expect(sandbox.text('BTCUSDT-1d.svg')).toContain('<title>BTCUSDT 1d candles</title>')
  })

  it('writes nothing without candles (exit code 4) or a missing window (exit code 3)', async () => {
    const none = await sandbox.call(`export ${DAILY} -o none.svg --from 2024-01-01 --to 2024-02-01`.split(' '))
    expect(none).toMatchObject({ code: 4, stdout: '' })
    const missing = await sandbox.call('export BTCUSDT -i 4h --mirror mirror -o none.svg'.split(' '))
    expect(missing.code).toBe(3)
    expect(sandbox.exists('none.svg')).toBe(false)
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
    const args = `export BTCUSDT -i 15m --mirror ${mirror} --from 2024-12-30 --to ${to} --force -o big.svg -q`
    const env = { NODE_OPTIONS: watch, KLINES_TEST_MEMORY: sandbox.path('peak') }
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
  const args = `export BTCUSDT -i 2h --mirror ${realTree()} --from 2018-01-31 --to 2018-02-20 -f svg`
  const run = await sandbox.call(args.split(' '))
  expect(run.code).toBe(0)
  // 20 days of 12 candles; the exchange has none from 02:00 on 8 February to 10:00 on the 9th.
  expect(run.stdout).toContain('2018-01-31 00:00 to 2018-02-19 22:00 UTC, 224 candles, 16 missing')
  expect(run.stdout.match(/<path fill="#f9e7bd" d="M[\d.]+ \d+H[\d.]+V\d+H[\d.]+z"\/>/g)).toHaveLength(1)
})

it.skipIf(!hasScript)('at a terminal it is text (skipped without script of util-linux)', async () => {
  const sandbox = await sandboxWithSample()
  const run = await atTerminal(sandbox, `klines export ${DAILY} -q -f svg`)
  expect(run.code).toBe(0)
  expect(run.stdout).toMatch(/^<svg [\s\S]*<\/svg>\s*$/)
})
