import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
const SAMPLE = '--base-url sample --mirror mirror'

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

  it('draws a file for each series, of the interval that is requested', async () => {
    const run = await chart(
      `BTCUSDT ETHUSDT -i 1h --resample 4h ${SAMPLE} --from 2025-03 -o pictures/{symbol}-{interval}.svg.gz`,
    )
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('pictures')).toEqual(['BTCUSDT-4h.svg.gz', 'ETHUSDT-4h.svg.gz'])
  })

  it('ignores the size of charts in the terminal and the defaults of exports', async () => {
    const size = { KLINES_WIDTH: '100', KLINES_HEIGHT: '20', KLINES_ASCII: '1' }
    const env = { ...size, KLINES_FORMAT: 'csv', KLINES_OUTPUT: 'x.csv' }
    expect(await chart(`BTCUSDT -i 1d ${SAMPLE} -o default.svg`, env)).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.text('default.svg')).toContain('width="1200" height="600"')
    const terminal = await chart(`BTCUSDT -i 1d ${SAMPLE}`, { ...env, KLINES_THEME: 'dark' })
    expect(terminal).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^BTCUSDT 1d.* sample data/s) })
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it.each<[string, RegExp]>([
    ['-o x.csv', /A chart is drawn as svg, not as x\.csv/],
    ['-o x.svg --width 100', /--width is 100\. Expected a whole number of pixels from 400 to 10000/],
    ['-f svg --json', /--json prints an object on stdout/],
    ['--theme dark', /--theme is for a picture/],
    ['-o x.svg --ascii', /--ascii is for a terminal/],
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
    const forced = await chart(`BTCUSDT -i 1d ${SAMPLE} -o old.svg --force -q`)
    expect(forced).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const { stdout } = await chart(`BTCUSDT -i 1d ${SAMPLE} -o old.svg --json`)
    const { files, series } = JSON.parse(stdout) as { files: object[]; series: { candles: number; rows?: unknown }[] }
    expect(files).toEqual([{ path: 'old.svg', bytes: sandbox.bytes('old.svg').length, candles: series[0].candles }])
    expect(series[0].rows).toBeUndefined()
    expect(sandbox.text('old.svg')).toMatch(/^<svg /)
  })
})
