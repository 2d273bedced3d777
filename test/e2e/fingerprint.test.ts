import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { FingerprintSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { findPython } from '../support/python.js'

const newSandbox = useSandboxes()
const NAMED = 'named by the file, not computed from it'
const python = findPython()

/** The script of the recipe, without its last lines, and other calls instead. */
function script(calls: string): string {
  const recipe = readFileSync(join(PROJECT, 'src/docs/recipes/cite.md'), 'utf8')
  const [, code] = /^```python\n(.*?)^print/ms.exec(recipe) ?? []
  return `${code}\n${calls}\n`
}

describe('klines fingerprint', () => {
  let sandbox: CliSandbox
  const call = async (command: string, code = 0) => {
    const run = await sandbox.call(command.split(' '), { KLINES_BASE_URL: 'sample', KLINES_MIRROR: 'm' })
    expect(run.code, run.stderr).toBe(code)
    return run
  }
  const lines = async (command: string) => (await call(command)).stdout.trimEnd().split('\n')

  beforeAll(async () => {
    sandbox = newSandbox()
    await call('download BTCUSDT ETHUSDT -i 1h,4h -q')
  })

  it('prints a line for each series as sha256sum does, and one for the set', async () => {
    const all = await lines('fingerprint BTCUSDT ETHUSDT -i 4h')
    expect(all.map(line => line.replace(/[0-9a-f]{64}/, 'HASH'))).toEqual([
      'klines:1:HASH  BTCUSDT 4h  546 candles  2024-12-30 00:00 to 2025-03-30 20:00',
      'klines:1:HASH  ETHUSDT 4h  546 candles  2024-12-30 00:00 to 2025-03-30 20:00',
      'klines:1:set:HASH  2 series  1,092 candles',
    ])
    expect(await lines('fingerprint eth/usdt -i 4h'.replace('/', ''))).toEqual([all[1]])
    expect((await call('fingerprint BTCUSDT -i 4h')).stderr).toMatch(/^Note: .* synthetic sample data, .*\n$/)
    const { series, set } = parseObject((await call('fingerprint all -i 4h --json')).stdout, FingerprintSchema)
    expect([...series.map(({ fingerprint }) => fingerprint), set]).toEqual(all.map(line => line.split(' ')[0]))
    expect(series[0].years.map(({ year, candles }) => [year, candles])).toEqual([
      [2024, 12],
      [2025, 534],
    ])
  })

  it('of a range is that of its file', async () => {
    const range = '-i 1h --from 2025-01-15 --to 2025-02'
    await call(`export BTCUSDT ${range} -q --force -o BTCUSDT-1h.csv`)
    expect(await lines('fingerprint ./BTCUSDT-1h.csv')).toEqual(await lines(`fingerprint BTCUSDT ${range}`))
  })

  it('of resampled candles has the largest unit, and is that of the exported ones', async () => {
    const [hour] = await lines('fingerprint BTCUSDT -i 1h --resample 240m')
    expect(hour).toMatch(/^klines:1:[0-9a-f]{64} {2}BTCUSDT 4h {2}/)
    const [odd] = await lines('fingerprint BTCUSDT -i 1h --resample 180m')
    expect(odd).toContain('  BTCUSDT 3h  ')
    await call('export BTCUSDT -i 1h --resample 180m --numbers text -q -o odd.arrow')
    expect(await lines('fingerprint odd.arrow')).toEqual([odd])
  })

  it('--fingerprint of download and export prints the same, with several threads too', async () => {
    const expected = await lines('fingerprint BTCUSDT ETHUSDT -i 1h')
    const printed = async (command: string) => (await lines(command)).filter(line => line.startsWith('klines:1:'))
    expect(await printed('download BTCUSDT ETHUSDT -i 1h --fingerprint')).toEqual(expected)
    for (const threads of [1, 3]) {
      const output = `{symbol}-${threads}.parquet`
      expect(await printed(`export BTCUSDT ETHUSDT -i 1h --fingerprint --threads ${threads} -o ${output}`)).toEqual(
        expected,
      )
    }
    expect(await lines('export BTCUSDT ETHUSDT -i 1h --fingerprint -q -o quiet.parquet')).toEqual(expected)
    expect(sandbox.bytes('BTCUSDT-1.parquet').equals(sandbox.bytes('BTCUSDT-3.parquet'))).toBe(true)
    // Doubles have not all digits: their file names it.
    expect(await lines('fingerprint BTCUSDT-1.parquet')).toEqual([`${expected[0]}  ${NAMED}`])
    const one = await call('export BTCUSDT ETHUSDT -i 1h --fingerprint --json -o both.parquet')
    const { fingerprints } = parseObject(one.stdout, RunSchema)
    expect([...(fingerprints?.series.map(one => one.fingerprint) ?? []), fingerprints?.set]).toEqual(
      expected.map(line => line.split(' ')[0]),
    )
    const both = parseObject((await call('fingerprint both.parquet --json')).stdout, FingerprintSchema)
    expect(both.series).toEqual(fingerprints?.series.map(one => ({ ...one, file: 'both.parquet', named: true })))
    expect(both.set).toBe(fingerprints?.set)
    const { stdout, stderr } = await call('export BTCUSDT -i 1h --fingerprint -f csv -o -')
    const said = stderr.split('\n').filter(line => line.startsWith('klines:1:'))
    expect([stdout.split('\n').length, said]).toEqual([2183, [expected[0]]])
  })

  it('a refused file leaves the others their lines', async () => {
    await call('export BTCUSDT ETHUSDT -i 4h -q --numbers decimal -o {symbol}-exact.parquet')
    await call('export BTCUSDT -i 4h -q -o doubles.parquet')
    const { stdout, stderr } = await call('fingerprint doubles.parquet BTCUSDT-exact.parquet', 2)
    expect(stdout).toBe(`${(await lines('fingerprint BTCUSDT -i 4h'))[0]}\n`)
    expect(stderr).toMatch(/^Note: doubles\.parquet, row 1, open: it is a double/)
    expect(await call('fingerprint doubles.parquet doubles.parquet', 2)).toMatchObject({ stdout: '' })
  })

  it.each<[string, number, string]>([
    ['fingerprint BTCUSDT ./x.csv -i 1h', 2, '"./x.csv" a file. Expected only symbols, or only files.'],
    ['fingerprint x.csv -i 1h', 2, '--interval is for candles of the mirror, and "x.csv" a file.'],
    ['fingerprint BTCUSDT -i 1h --from 2030', 4, 'No candle of BTCUSDT 1h opens'],
    ['fingerprint BTCUSDT -i 1d', 3, 'Not in the mirror: BTCUSDT 1d.'],
    ['fingerprint BTCUSDT-4h.json', 6, 'BTCUSDT-4h.json: it is not JSON.'],
  ])('%s ends with %i', async (command, code, message) => {
    sandbox.write('BTCUSDT-4h.json', 'x')
    expect((await call(command, code)).stderr).toContain(message)
  })

  it.skipIf(!hasRealTree || python === undefined)(
    'agrees with the script of the recipe on real candles (skipped without ../shared/data)',
    async () => {
      const real = newSandbox()
      const intervals = ['12h', '3d', '1M']
      const run = async (command: string) => {
        const { code, stdout, stderr } = await real.call(command.split(' '), { KLINES_MIRROR: realTree() })
        expect(code, stderr).toBe(0)
        return stdout.split('\n').flatMap(line => /^klines:1:[0-9a-f]{64}/.exec(line) ?? [])
      }
      const expected = await run(`fingerprint BTCUSDT -i ${intervals}`)
      for (const format of ['csv.gz', 'json', 'jsonl'])
        await run(`export BTCUSDT -i ${intervals} -q -o {interval}.${format}`)
      const files = intervals.flatMap(name => ['csv.gz', 'json', 'jsonl'].map(format => [`${name}.${format}`, name]))
      const calls = `for path, name in ${JSON.stringify(files)}: print(fingerprint(path, "BTCUSDT", name))`
      real.write('check.py', script(calls))
      const { stdout } = await real.shell(`'${python}' check.py`)
      expect(stdout.trimEnd().split('\n')).toEqual(expected.flatMap(one => [one, one, one]))
    },
  )
})
