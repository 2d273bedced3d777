import { readlinkSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type FaultScenario, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'

/** A scenario whose mirror has every window. */
async function newStockedScenario(): Promise<FaultScenario> {
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  return scenario
}

// What else a reader can do: test/e2e/pipes.test.ts.
it.concurrent('F53 a reader that closes the output after a line causes a quiet exit with 0', async () => {
  const scenario = await newStockedScenario()
  const script = 'klines export BTCUSDT -i 15m --mirror m -f csv -o - | head -1'
  const run = await scenario.shell(`set -o pipefail; ${script}; echo "\${PIPESTATUS[@]}"`)
  expect(run).toMatchObject({ code: 0, stdout: `${scenario.expectedCsv().split('\n')[0]}\n0 0\n`, stderr: '' })
})

it.concurrent('F54 an output has finished when its reader can get the last byte, even if the process exits', async () => {
  const scenario = await newScenario()
  const writer = fileURLToPath(new URL('support/write-and-exit.mjs', import.meta.url))
  const run = await scenario.shell(`'${process.execPath}' '${writer}' | { until [ -e full ]; do :; done; cat; }`)
  expect(run).toMatchObject({ code: 0, stdout: '1'.repeat(64 * 1024) + '2'.repeat(1_000), stderr: '' })
})

describe('an output that cannot be written', () => {
  it.concurrent.each<[string, string, string, number, RegExp]>([
    ['F55 a dangling link', 'ln -s nowhere out.csv', 'out.csv', 2, /out\.csv is a link to something that is not there/],
    ['F56 a name too long', 'true', `${'x'.repeat(300)}.csv`, 2, /the name is too long \(ENAMETOOLONG\)/],
  ])('%s is refused before the first window, and the old file stays', async (_, prepare, output, code, message) => {
    const scenario = await newScenario()
    scenario.sandbox.write('old.csv', OLD)
    const args = scenario.args().map(arg => (arg === 'x.csv' ? output : arg))
    await scenario.shell(prepare)
    const run = await scenario.run(args)
    expect(run).toMatchObject({ code, stdout: '' })
    expect(run.stderr).toMatch(message)
    expect(scenario.server.windowRequests()).toEqual([])
    expect(scenario.sandbox.text('old.csv')).toBe(OLD)
    expect(scenario.outputs().filter(name => name !== 'out.csv')).toEqual(['old.csv'])
  })

  it.concurrent('F55 an existing file with other content, or a link to one, stays without --force', async () => {
    const scenario = await newScenario()
    scenario.sandbox.write('old.csv', OLD)
    await scenario.shell('ln -s old.csv out.csv')
    for (const output of ['old.csv', 'out.csv']) {
      const run = await scenario.run(scenario.args().map(arg => (arg === 'x.csv' ? output : arg)))
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(`${output} exists already, with other content.\n  Replace it with --force`)
    }
    expect(scenario.sandbox.text('old.csv')).toBe(OLD)
    expect(scenario.outputs().sort()).toEqual(['old.csv', 'out.csv'])
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

  it.concurrent('F56 a name that is not UTF-8 is refused before the first request', async () => {
    const scenario = await newScenario()
    for (const set of ["-o $'out\\xff.csv'", "--dry-run -o $'\\xc3.csv'"]) {
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

it.concurrent('F62 two outputs with one path in case or Unicode form only are refused before the first window', async () => {
  const scenario = await newScenario('exchange')
  for (const more of [[], ['--force'], ['--dry-run']]) {
    const run = await scenario.run([
      ...'download BTCUSDT -i 1m,1M --mirror m -o new/{interval}/{symbol}.csv'.split(' '),
      ...['--base-url', scenario.baseUrl, ...more],
    ])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toBe(
      'klines: new/1m/BTCUSDT.csv and new/1M/BTCUSDT.csv differ only in case or Unicode form: on some disks they are the same file.\n' +
        '  Give each an export with an -o of its own.\n',
    )
  }
  expect(scenario.server.windowRequests()).toEqual([])
  expect(scenario.outputs()).toEqual([])
})
