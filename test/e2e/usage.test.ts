import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'

const newSandbox = useSandboxes()
const LIST = 'Run klines --help for a list of commands.'

describe.concurrent('an unknown command', () => {
  it.each([
    ['donwload BTCUSDT -i 1h', `Unknown command: donwload. Did you mean download?\n  ${LIST}`],
    ['Export BTCUSDT', `Unknown command: Export. Did you mean export?\n  ${LIST}`],
    ['publish', `Unknown command: publish. Did you mean mirror publish?\n  ${LIST}`],
    ['miror publish', `Unknown command: miror publish. Did you mean mirror publish?\n  ${LIST}`],
    ['miror', `Unknown command: miror. Did you mean mirror?\n  ${LIST}`],
    ['mirror publsh -q', 'Unexpected argument: publsh.\n  Run klines mirror --help for more.'],
    ['donwload --help', `Unknown command: donwload. Did you mean download?\n  ${LIST}`],
    ['help donwload', `Unknown command: donwload. Did you mean download?\n  ${LIST}`],
    ['fortnight', `Unknown command: fortnight.\n  ${LIST}`],
    ['-q download', `Expected a command before -q.\n  ${LIST}`],
    ['symbols extra', 'Unexpected argument: extra.\n  Run klines symbols --help for more.'],
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
    ['export BTCUSDT -i 1d --form csv', 'Unknown flag: --form.', 'Did you mean --from or --format?'],
    ['export BTCUSDT -i 1d --begin 2024', 'Unknown flag: --begin.', 'Did you mean --from?'],
    ['export BTCUSDT -i 1d --until 2024', 'Unknown flag: --until.', 'Did you mean --to?'],
    ['export BTCUSDT -i 1d --formt=csv', 'Unknown flag: --formt=csv.', 'Did you mean --format?'],
    ['export BTCUSDT -i 1d --base_url x', 'Unknown flag: --base_url.', 'Did you mean --base-url?'],
    ['export BTCUSDT -i 1d --colums x --nope', 'Unknown flags: --colums, --nope.', 'Did you mean --columns?'],
    ['export BTCUSDT -i 1d -f cvs', 'Expected --format=cvs to be one of: csv, json', 'Did you mean csv?'],
    ['openapi klins', 'Expected klins to be one of: greeting, klines, export', 'Did you mean klines?'],
    ['export BTCUSDT -i 60', 'Unknown interval "60".', 'Did you mean 1h?'],
    ['export BTCUSDT -i 1h --columns opne', 'Unknown column "opne".', 'Did you mean open?'],
  ])('klines %s', async (args, message, suggestion) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr.startsWith(`klines: ${message}`)).toBe(true)
    expect(run.stderr).toContain(`\n  ${suggestion}\n`)
  })

  it('an unknown flag that resembles none has no suggestion', async () => {
    const run = await newSandbox().call(['symbols', '--fortnight'])
    const stderr = 'klines: Unknown flag: --fortnight.\n  Run klines symbols --help for more.\n'
    expect(run).toMatchObject({ code: 2, stdout: '', stderr })
  })

  it('an unknown interval ends a run over the sample at once', async () => {
    const run = await newSandbox().run('download BTCUSDT -i 60 --base-url sample'.split(' '))
    expect(run).toMatchObject({ code: 2, signal: null, stdout: '' })
    expect(run.stderr).toContain('Did you mean 1h?')
  })
})

describe.concurrent('a bare command shows its usage, examples and all that is missing', () => {
  it.each([
    ['download', 'SYMBOL and -i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['export', 'SYMBOL and -i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['verify', 'SYMBOL and -i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['stats', 'SYMBOL and -i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['start-dates', 'INTERVAL', 'INTERVAL [FLAGS]'],
    ['users update', 'ID', 'ID [FLAGS]'],
    ['download BTCUSDT', '-i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['download -i 1h', 'SYMBOL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
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

  it('KLINES_INTERVAL is not missing, and --json has the same texts', async () => {
    const run = await newSandbox().call(['download', '--json'], { KLINES_INTERVAL: '1h' })
    expect(run).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(run.stdout).error).toMatchObject({
      code: 'usage',
      message: 'Missing SYMBOL.',
      suggestions: expect.arrayContaining(['Run klines download --help for more.']),
    })
  })

  it('an argument is not read from stdin', async () => {
    const run = await newSandbox().shell('echo 1d | klines start-dates --base-url sample')
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('Missing INTERVAL.') })
  })
})

it.each(['--since', '--start'])('%s, --end and --timeframe are --from, --to and --interval', async start => {
  const sandbox = newSandbox()
  const download = (words: string) =>
    sandbox.call(`download BTCUSDT ${words} -f csv --base-url sample --mirror m`.split(' '))
  const run = await download('-i 1d --from 2025-01 --to 2025-02')
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^open_time,/) })
  expect((await download(`--timeframe 1d ${start} 2025-01 --end=2025-02`)).stdout).toBe(run.stdout)
  expect((await sandbox.call(['download', '--help'])).stdout).not.toMatch(/--(since|start|end|timeframe)\b/)
})
