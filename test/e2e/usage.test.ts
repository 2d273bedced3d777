import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'

const newSandbox = useSandboxes()
const LIST = 'Run klines --help for a list of commands.'

describe.concurrent('an unknown command', () => {
  it.each([
    ['donwload BTCUSDT -i 1h', `Unknown command: donwload. Did you mean download?\n  ${LIST}`],
    ['miror publish', `Unknown command: miror publish. Did you mean mirror publish?\n  ${LIST}`],
    ['mirror publsh -q', 'Unexpected argument: publsh.\n  Run klines mirror --help for more.'],
    ['donwload --help', `Unknown command: donwload. Did you mean download?\n  ${LIST}`],
    ['-q download', `Expected a command before -q.\n  ${LIST}`],
  ])('klines %s', async (args, message) => {
    const run = await newSandbox().run(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: `klines: ${message}\n` })
  })

  it.skipIf(!hasScript)('is not asked about at a terminal (skipped without script of util-linux)', async () => {
    // The keyboard stays open: a question would wait until the run is killed.
    const run = await atTerminal(newSandbox(), 'klines donwload BTCUSDT -i 1h')
    expect(run.stdout).toBe(`klines: Unknown command: donwload. Did you mean download?\r\n  ${LIST}\r\n`)
    expect(run.code).toBe(2)
  })
})

describe.concurrent('a misspelt flag or value is suggested', () => {
  it.each([
    ['export BTCUSDT -i 1d --formt csv', 'Unknown flag: --formt.', 'Did you mean --format?'],
    ['export BTCUSDT -i 1d --begin 2024', 'Unknown flag: --begin.', 'Did you mean --from?'],
    ['export BTCUSDT -i 1d --colums x --nope', 'Unknown flags: --colums, --nope.', 'Did you mean --columns?'],
  ])('klines %s', async (args, message, suggestion) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr.startsWith(`klines: ${message}`)).toBe(true)
    expect(run.stderr).toContain(`\n  ${suggestion}\n`)
  })
})

describe.concurrent('a bare command shows its usage, examples and all that is missing', () => {
  it.each([
    ['download', 'SYMBOL and -i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['start-dates', 'INTERVAL', 'INTERVAL [FLAGS]'],
    ['download BTCUSDT', '-i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
  ])('klines %s', async (args, missing, usage) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    const command = args.replace(/ BTCUSDT| -i 1h/, '')
    const [first, second, ...rest] = run.stderr.trimEnd().split('\n')
    expect(first).toBe(`klines: Missing ${missing}.`)
    expect(second).toBe(`  Usage: klines ${command} ${usage}`)
    expect(rest.pop()).toBe(`  Run klines ${command} --help for more.`)
    expect([1, 2]).toContain(rest.length)
    expect(rest.every(line => line.startsWith(`  Example: klines ${command} `))).toBe(true)
  })

  it('an argument is not read from stdin', async () => {
    const run = await newSandbox().shell('echo 1d | klines start-dates --base-url sample')
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('Missing INTERVAL.') })
  })
})

it('--since, --start, --end and --timeframe are --from, --to and --interval', async () => {
  const sandbox = newSandbox()
  const download = (words: string) =>
    sandbox.call(`download BTCUSDT ${words} -f csv --base-url sample --mirror m`.split(' '))
  const run = await download('-i 1d --from 2025-01 --to 2025-02')
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^open_time,/) })
  for (const start of ['--since', '--start'])
    expect((await download(`--timeframe 1d ${start} 2025-01 --end=2025-02`)).stdout).toBe(run.stdout)
  expect((await sandbox.call(['download', '--help'])).stdout).not.toMatch(/--(since|start|end|timeframe)\b/)
})
