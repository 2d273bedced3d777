import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { wrapLines } from '../../src/cli/terminal/text.js'
import { PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

describe.concurrent('what people type from habit is refused with what it is here', () => {
  const exported = 'download BTCUSDT -i 1d --base-url sample'
  it.each([
    ['get BTCUSDT', 'Did you mean download?'],
    ['fetch BTCUSDT', 'Did you mean download?'],
    ['check BTCUSDT', 'Did you mean verify?'],
    ['gaps BTCUSDT', 'Did you mean verify?'],
    ['plot BTCUSDT', 'Did you mean chart?'],
    ['ls', 'Did you mean mirror?'],
    ['query x', 'Did you mean export --layout hive, and DuckDB on it?'],
    ['live BTCUSDT', 'Did you mean serve --upstream?'],
    ['watch BTCUSDT', 'Did you mean serve --upstream?'],
    [`${exported} --days 3`, 'Did you mean --last, as in --last 30d?'],
    [`${exported} --period 3d`, 'Did you mean --last, as in --last 30d?'],
    [`${exported} --head 3`, 'Did you mean --limit?'],
    [`${exported} --overwrite`, 'Did you mean --force?'],
    [`${exported} --timerange 20250101-`, 'Name both ends: --from 2025-01-01 --to 2025-02-01.'],
    [`${exported} --tz Europe/Berlin`, 'All times are UTC;'],
    [`${exported} --from 20250101`, 'Did you mean 2025-01-01?'],
    [`${exported} --from 2025/01/01`, 'Did you mean 2025-01-01?'],
    [`${exported} --from 2025-1-1`, 'Did you mean 2025-01-01?'],
    [`${exported} --from 2025-03-09T15`, 'Did you mean 2025-03-09T15:00?'],
    [`${exported} --last 1Y`, 'Did you mean 1y?'],
    [`${exported} --last 30days`, 'Did you mean 30d?'],
    [`${exported} --last 6mo`, 'Did you mean 6M?'],
    ['export BTC/USDT:USDT -i 1d', 'Did you mean BTCUSDT?'],
    ['export BINANCE:BTCUSDT -i 1d', 'Did you mean BTCUSDT?'],
    ['export BTCUSDT -i M', 'Did you mean 1M (a month)?'],
    ['export BTCUSDT -i 1Q', '--resample 1q makes such candles of shorter ones: -i 1M'],
    ['export BTCUSDT -i 1min', 'Did you mean 1m (a minute)?'],
  ])('klines %s', async (args, suggestion) => {
    // Only the real program looks for commands.
    const sandbox = newSandbox()
    const run = await (args.includes(' -i ') ? sandbox.call(args.split(' ')) : sandbox.run(args.split(' ')))
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(suggestion) })
  })
})

it('times may have any number of decimals, and a length may be minutes', async () => {
  const sandbox = newSandbox()
  await sandbox.call(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', 'm', '-q'])
  const rows = async (...range: string[]) =>
    JSON.parse((await sandbox.call(['export', 'BTCUSDT', '-i', '1d', '--mirror', 'm', ...range])).stdout) as unknown[][]
  const [first] = await rows('--from', '2025-01-01T12:00:00.000000', '--limit', '1')
  expect(first[0]).toBe(Date.UTC(2025, 0, 2))
  expect(await rows('--last', '2880m', '--to', '2025-01-05')).toHaveLength(2)
})

describe.concurrent('a leading ~ is the home folder', () => {
  it.each([
    ['--mirror=~/candles', {}, ''],
    ['', { KLINES_MIRROR: '~/candles' }, ''],
    ['', {}, '~/candles'],
  ])('%s %o %s', async (flag, env, setting) => {
    const sandbox = newSandbox()
    if (setting) await sandbox.call(['config', 'set', 'mirror', setting])
    const run = await sandbox.call(['mirror', '--path', ...(flag ? [flag] : [])], env)
    expect(run.stdout).toBe(`${sandbox.path('../home/candles')}\n`)
  })

  it("in the name of an output, too; the user's file keeps an absolute path", async () => {
    const sandbox = newSandbox()
    mkdirSync(sandbox.path('../home'), { recursive: true })
    const run = await sandbox.call([
      'download',
      'BTCUSDT',
      '-i',
      '1M',
      '--base-url',
      'sample',
      '--mirror',
      'm',
      '-o',
      '~/x.csv',
      '--json',
    ])
    expect(JSON.parse(run.stdout).outputs ?? JSON.parse(run.stdout).files).toMatchObject([
      { path: sandbox.path('../home/x.csv') },
    ])
    await sandbox.call(['config', 'set', 'mirror', 'candles'])
    expect((await sandbox.call(['mirror', '--path'])).stdout).toBe(`${sandbox.path('candles')}\n`)
  })
})

it('a Node that is too old is told so', async () => {
  const sandbox = newSandbox()
  for (const version of ['12.22.12', '20.9.0', '21.7.3', '22.2.0']) {
    const preload = sandbox.write('old.cjs', `Object.defineProperty(process.versions, 'node', { value: '${version}' })`)
    const run = await sandbox.node(['-r', preload, join(PROJECT, 'bin/run.js'), '--version'])
    const message = `klines: This is Node ${version}. Expected Node 20.18.1 or later of 20, or 22.3 or later.\n`
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: message })
  }
})

it('long lines of a terminal break at words', () => {
  expect(wrapLines('Note: one two three\n  four five six\nx', 12)).toBe(
    'Note: one\n  two three\n  four five\n    six\nx',
  )
  expect(wrapLines('averyveryverylongword and more', 12)).toBe('averyveryverylongword and more')
})
