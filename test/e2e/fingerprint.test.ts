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
    const { series, set } = parseObject((await call('fingerprint all -i 4h --json')).stdout, FingerprintSchema)
    expect([...series.map(({ fingerprint }) => fingerprint), set]).toEqual(all.map(line => line.split(' ')[0]))
    expect(series[0].years.map(({ year, candles }) => [year, candles])).toEqual([
      [2024, 12],
      [2025, 534],
    ])
  })

  it.each([['-i 1h --from 2025-01-15 --to 2025-02', '744', '--from 2025-01-15 --to 2025-02 -i 1h']])(
    'of a range is that of its file: %s',
    async (range, _, exported) => {
      await call(`export BTCUSDT ${exported} -q --force -o BTCUSDT-1h.csv`)
      expect(await lines('fingerprint ./BTCUSDT-1h.csv')).toEqual(await lines(`fingerprint BTCUSDT ${range}`))
    },
  )

  it('of resampled candles has the largest unit, and is that of the exported ones', async () => {
    const [hour] = await lines('fingerprint BTCUSDT -i 1h --resample 240m')
    expect(hour).toMatch(/^klines:1:[0-9a-f]{64} {2}BTCUSDT 4h {2}/)
    const [odd] = await lines('fingerprint BTCUSDT -i 1h --resample 180m')
    expect(odd).toContain('  BTCUSDT 3h  ')
    await call('export BTCUSDT -i 1h --resample 180m --numbers text -q -o odd.arrow')
    expect(await lines('fingerprint odd.arrow')).toEqual([odd])
  })

  it('is the same for lakes of any partition', async () => {
    const expected = await lines('fingerprint BTCUSDT ETHUSDT -i 1h,4h')
    for (const [index, options] of ['', '--partition month', '--partition year'].entries()) {
      const given = options === '' ? [] : options.split(' ')
      const args = ['export', 'all', '-i', '1h,4h', '--numbers', 'decimal', '--layout', 'hive', ...given, '-q']
      const made = await sandbox.call([...args, '-o', `lake-${index}`], {
        KLINES_BASE_URL: 'sample',
        KLINES_MIRROR: 'm',
      })
      expect(made.code, made.stderr).toBe(0)
      expect(new Set(await lines(`fingerprint lake-${index}/`))).toEqual(new Set(expected))
    }
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
    expect([stdout.split('\n').length, stderr.split('\n').filter(line => line.startsWith('klines:1:'))]).toEqual([
      2183,
      [expected[0]],
    ])
  })

  it.each<[string, number, string]>([
    [
      'fingerprint BTCUSDT ./x.csv -i 1h',
      2,
      '"BTCUSDT" is a symbol, and "./x.csv" a file. Expected only symbols, or only files.',
    ],
    ['fingerprint x.csv -i 1h', 2, '--interval is for candles of the mirror, and "x.csv" is a file.'],
    ['fingerprint x.csv', 2, 'x.csv: there is no such file.'],
    ['fingerprint dir\\x', 2, 'dir\\x: there is no such file.'],
    ['fingerprint BTCUSDT', 2, 'Expected at least one interval of the symbols.'],
    ['fingerprint BTCUSDT -i 1h --from 2030', 4, 'No candle of BTCUSDT 1h opens'],
    ['fingerprint BTCUSDT -i 1d', 3, 'Not in the mirror: BTCUSDT 1d.'],
    ['fingerprint damaged-1h.csv', 2, 'it lacks the columns open, high'],
    ['fingerprint BTCUSDT-4h.json', 6, 'BTCUSDT-4h.json: expected an array of rows.'],
  ])('%s ends with %i', async (command, code, message) => {
    sandbox.write('damaged-1h.csv', 'open_time\n1\n')
    sandbox.write('BTCUSDT-4h.json', 'x')
    expect((await call(command, code)).stderr).toContain(message)
  })

  it.skipIf(python === undefined)('agrees with the script of the recipe, on three formats', async () => {
    const [line] = await lines('fingerprint BTCUSDT -i 1h')
    const files = ['c.csv.gz', 'c.json', 'c.jsonl']
    for (const file of files) await call(`export BTCUSDT -i 1h -q -o ${file}`)
    sandbox.write('check.py', script(`for path in ${JSON.stringify(files)}: print(fingerprint(path, "BTCUSDT", "1h"))`))
    const { stdout } = await sandbox.shell(`'${python}' check.py`)
    expect(stdout.trimEnd().split('\n')).toEqual(files.map(() => line.split(' ')[0]))
  })

  it.skipIf(!hasRealTree || python === undefined)(
    'agrees with the script on real candles, from the mirror, CSV, Parquet and a lake (skipped without ../shared/data)',
    async () => {
      const real = newSandbox()
      const run = async (command: string) => {
        const { code, stdout, stderr } = await real.call(command.split(' '), { KLINES_MIRROR: realTree() })
        expect(code, stderr).toBe(0)
        return stdout
          .trimEnd()
          .split('\n')
          .filter(line => line.startsWith('klines:1:'))
          .map(line => line.split('  ')[0])
      }
      const intervals = ['1h', '2h', '4h', '6h', '8h', '12h', '1d', '3d', '1w', '1M']
      const expected = await run(`fingerprint BTCUSDT -i ${intervals}`)
      await run(`export BTCUSDT -i ${intervals} -q -o c/{interval}.csv`)
      await run(`export BTCUSDT -i ${intervals} -q --numbers decimal -o p/BTCUSDT-{interval}.parquet`)
      await run(`export BTCUSDT -i ${intervals} -q --numbers decimal --layout hive --partition year -o lake`)
      expect(await run(`fingerprint ${intervals.map(name => `p/BTCUSDT-${name}.parquet`).join(' ')}`)).toEqual(expected)
      // A lake has an order of its own.
      expect((await run('fingerprint lake/')).sort()).toEqual(expected.toSorted())
      const calls = intervals.map(name => `print(fingerprint("c/${name}.csv", "BTCUSDT", "${name}"))`)
      real.write('check.py', script(calls.join('\n')))
      const { stdout } = await real.shell(`'${python}' check.py`)
      expect(stdout.trimEnd().split('\n')).toEqual(expected.slice(0, -1))
    },
  )
})
