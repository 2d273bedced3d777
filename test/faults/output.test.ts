import { mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { CLOCK, type CliSandbox } from '../support/cli/cli-sandbox.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { filesBelow } from '../support/files-below.js'
import { oneOf, oneTestOf } from '../support/full.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'
import { type FaultScenario, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const CASE_BLIND_FS = fileURLToPath(new URL('support/case-blind-fs.mjs', import.meta.url))
const OLD = 'what was there before\n'
const EXPORT = 'klines export BTCUSDT -i 15m --mirror m'

/** A scenario whose mirror has every window. */
async function newStockedScenario(): Promise<FaultScenario> {
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  return scenario
}

describe('the reader of the output', () => {
  const itReads = oneTestOf(3, it.concurrent)
  let scenario: FaultScenario
  beforeAll(async () => {
    scenario = await newStockedScenario()
  })

  itReads('F53 that closes it after a line causes a quiet exit with 0', async () => {
    const run = await scenario.shell(`set -o pipefail; ${EXPORT} -f csv -o - | head -1; echo "\${PIPESTATUS[@]}"`)
    expect(run).toMatchObject({ code: 0, stdout: `${scenario.expectedCsv().split('\n')[0]}\n0 0\n`, stderr: '' })
  })

  itReads('F53 that closes it before the first byte causes a quiet exit with 0', async () => {
    const run = await scenario.shell(`set -o pipefail; ${EXPORT} -f csv -o - | true; echo "\${PIPESTATUS[@]}"`)
    expect(run).toMatchObject({ code: 0, stdout: '0 0\n', stderr: '' })
  })

  itReads('F54 that is slow gets every byte', async () => {
    const run = await scenario.shell(`set -o pipefail; ${EXPORT} -f csv -o - | { sleep 1; cat; }`)
    expect(run).toMatchObject({ code: 0, stdout: scenario.expectedCsv(), stderr: '' })
  })

  it.concurrent.each(oneOf(2, ['2>&-', '2>/dev/full']))(
    'F54 gets every byte when stderr is lost (%s)',
    async redirection => {
      expect(await scenario.shell(`${EXPORT} -f csv -o - ${redirection}`)).toMatchObject({
        code: 0,
        stdout: scenario.expectedCsv(),
      })
    },
  )
})

it.concurrent('F54 an output has finished when its reader can get the last byte, even if the process exits', async () => {
  const scenario = await newScenario()
  const writer = fileURLToPath(new URL('support/write-and-exit.mjs', import.meta.url))
  const run = await scenario.shell(`'${process.execPath}' '${writer}' | { until [ -e full ]; do :; done; cat; }`)
  expect(run).toMatchObject({ code: 0, stdout: '1'.repeat(64 * 1024) + '2'.repeat(1_000), stderr: '' })
})

describe('an output that cannot be written', () => {
  it.concurrent.each<[string, string, string, number, RegExp]>([
    ['F55 a folder', 'mkdir out.csv', 'out.csv', 2, /out\.csv is a folder\./],
    ['F55 an existing file', 'true', 'old.csv', 2, /old\.csv exists already\.\n {2}Replace it with --force/],
    ['F55 a dangling link', 'ln -s nowhere out.csv', 'out.csv', 2, /out\.csv is a link to something that is not there/],
    ['F55 a link to an existing file', 'ln -s old.csv out.csv', 'out.csv', 2, /out\.csv exists already/],
    [
      'F56 a missing parent folder',
      'true',
      'none/out.csv',
      2,
      /Cannot write none\/out\.csv: the folder does not exist/,
    ],
    [
      'F56 a file as the parent folder',
      'true',
      'old.csv/out.csv',
      2,
      /Cannot write old\.csv\/out\.csv: part of the path is a file/,
    ],
    ['F56 a name too long', 'true', `${'x'.repeat(300)}.csv`, 2, /the name is too long \(ENAMETOOLONG\)/],
  ])('%s is refused before the first request, and the old file stays', async (_, prepare, output, code, message) => {
    const scenario = await newScenario()
    scenario.sandbox.write('old.csv', OLD)
    const args = scenario.args().map(arg => (arg === 'x.csv' ? output : arg))
    await scenario.shell(prepare)
    const run = await scenario.run(args)
    expect(run).toMatchObject({ code, stdout: '' })
    expect(run.stderr).toMatch(message)
    expect(scenario.server.log).toEqual([])
    expect(scenario.sandbox.text('old.csv')).toBe(OLD)
    expect(filesBelow(scenario.mirror)).toEqual([])
    expect(scenario.outputs().filter(name => name !== 'out.csv')).toEqual(['old.csv'])
  })

  it.concurrent('F55 a link with --force is followed and stays a link', async () => {
    const scenario = await newStockedScenario()
    scenario.sandbox.write('old.csv', OLD)
    symlinkSync('old.csv', scenario.sandbox.path('out.csv'))
    const run = await scenario.run('export BTCUSDT -i 15m --mirror m -q --force -o out.csv'.split(' '))
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(readlinkSync(scenario.sandbox.path('out.csv'))).toBe('old.csv')
    expect(scenario.sandbox.text('old.csv')).toBe(scenario.expectedCsv())
  })

  it.concurrent('F55 a FIFO gets every byte and stays a FIFO', async () => {
    const scenario = await newStockedScenario()
    const run = await scenario.shell(`mkfifo out.csv; cat out.csv & ${EXPORT} -q -o out.csv; wait $!; test -p out.csv`)
    expect(run).toMatchObject({ code: 0, stdout: scenario.expectedCsv(), stderr: '' })
  })

  it.concurrent('F56 a name that is not UTF-8 is refused before the first request', async () => {
    const scenario = await newScenario()
    for (const set of oneOf(2, ["-o $'out\\xff.csv'", "--dry-run -o $'\\xc3.csv'"])) {
      const run = await scenario.shell(`${scenario.command().replace('-o x.csv', () => set)} --force`)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toMatch(
        /^klines: The name of the output is not valid UTF-8: .*\. Expected a name in UTF-8\.\n/,
      )
    }
    expect(scenario.server.log).toEqual([])
    expect(scenario.outputs()).toEqual([])
  })
})

describe('F62 two outputs that are one file', () => {
  const both = (scenario: FaultScenario, output: string, ...more: string[]) =>
    scenario
      .args([...more])
      .flatMap(arg => (arg === 'x.csv' ? [output] : arg === 'BTCUSDT' ? ['BTCUSDT', 'ETHUSDT'] : [arg]))

  it.concurrent.each<[string, string, string]>([
    ['a link', 'cp old.csv ETHUSDT.csv; ln -s ETHUSDT.csv BTCUSDT.csv', '{symbol}.csv'],
    ['a hard link', 'cp old.csv ETHUSDT.csv; ln ETHUSDT.csv BTCUSDT.csv', '{symbol}.csv'],
    ['links to a third file', 'ln -s old.csv ETHUSDT.csv; ln -s old.csv BTCUSDT.csv', '{symbol}.csv'],
    ['folders that are one', 'mkdir BTCUSDT; ln -s BTCUSDT ETHUSDT', '{symbol}/new.csv'],
  ])('%s are refused before the first request, and nothing is written', async (_, prepare, output) => {
    const scenario = await newScenario()
    scenario.sandbox.write('old.csv', OLD)
    await scenario.shell(prepare)
    const before = scenario.outputs()
    for (const more of [['--force'], [], ['--force', '--dry-run']]) {
      const run = await scenario.run(both(scenario, output, ...more))
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toMatch(/^klines: BTCUSDT\S*\.csv and ETHUSDT\S*\.csv are the same file, /)
    }
    expect(scenario.server.log).toEqual([])
    expect(scenario.outputs()).toEqual(before)
    expect(scenario.sandbox.text('old.csv')).toBe(OLD)
    expect(filesBelow(scenario.mirror)).toEqual([])
  })

  describe('1m and 1M in folders that will be made', () => {
    const ARGS = ['export', 'BTCUSDT', '-i', '1m,1M', '--mirror', 'm', '-o', 'new/{interval}/{symbol}.csv', '--mkdir']
    const rows = {
      '1m': makeRows('BTCUSDT', '1m', Date.UTC(2026, 0, 5), Date.UTC(2026, 0, 6), [], 60_000),
      '1M': sampleRows('BTCUSDT', '1M'),
    }
    const newMirror = async () => {
      const { sandbox } = await newScenario()
      const files = {
        'symbols.json': ['BTCUSDT'],
        'start-dates/1min.json': ['2026-01-05'],
        'start-dates/1M.json': ['2010-01-01'],
        '1min/BTCUSDT/2026-01-05.json': rows['1m'],
        '1M/BTCUSDT/2010-01-01.json': rows['1M'],
      }
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(sandbox.path(`m/api/klines/${name}`)), { recursive: true })
        sandbox.write(`m/api/klines/${name}`, JSON.stringify(content))
      }
      return sandbox
    }

    it.concurrent('are written where case makes them two', async () => {
      const sandbox = await newMirror()
      expect(await sandbox.call(ARGS)).toMatchObject({ code: 0 })
      for (const interval of ['1m', '1M'] as const)
        expect(sandbox.text(`new/${interval}/BTCUSDT.csv`)).toBe(csvOf(rows[interval]))
    })

    it.concurrent.each(oneOf(2, [[['--force']], [[]]]))(
      'are refused where it does not (a simulated disk, %j)',
      async more => {
        const sandbox = await newMirror()
        const before = sandbox.files()
        const run = await sandbox.run([...ARGS, ...more], {
          NODE_OPTIONS: `--import=${CLOCK} --import=${CASE_BLIND_FS}`,
        })
        expect(run.code).toBe(2)
        expect(run.stderr).toBe(
          'klines: new/1m/BTCUSDT.csv and new/1M/BTCUSDT.csv are the same file, which would get the candles of only one of them.\n' +
            '  Their names differ only in case or Unicode form, which this disk does not tell apart. Give each an export with an -o of its own.\n',
        )
        expect(sandbox.files()).toEqual(before)
      },
    )
  })
})

describe('F56 the reader of a FIFO', () => {
  const BIG = 'klines export BTCUSDT ETHUSDT -i 15m --to 2025-10 --mirror big'
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = (await newScenario()).sandbox
    bigMirror(sandbox.path('big'), { symbols: ['BTCUSDT', 'ETHUSDT'], weeks: 40 })
  })

  it.concurrent.each(
    oneOf(6, [
      ['csv', 'head -c 1'],
      ['csv', 'true'],
      ['csv.gz', 'head -c 1'],
      ['parquet', 'true'],
      ['arrow', 'head -c 1'],
      ['jsonl', 'head -c 1000000'],
    ]),
  )('that leaves ends the export of %s as a closed pipe does (%s)', async (format, reader) => {
    const fifo = `${format}-${reader.replaceAll(' ', '')}.${format}`
    const run = await sandbox.shell(`mkfifo '${fifo}'; ${reader} < '${fifo}' > /dev/null & ${BIG} -o '${fifo}'`)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(run.tookMs).toBeLessThan(60_000)
  })

  it.concurrent('that leaves is reported when there are other outputs, none of which is replaced', async () => {
    const run = await sandbox.shell(
      `mkdir both; mkfifo both/BTCUSDT.csv; echo old > both/ETHUSDT.csv; true < both/BTCUSDT.csv & ${BIG} --force -o 'both/{symbol}.csv'`,
    )
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toBe(
      'klines: The reader of both/BTCUSDT.csv left before the end. No file is put in its place.\n',
    )
    expect(sandbox.text('both/ETHUSDT.csv')).toBe('old\n')
  })
})
