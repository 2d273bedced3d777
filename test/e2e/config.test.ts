import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, type Env, useSandboxes } from '../support/cli/cli-sandbox.js'
import { WITHOUT_ROOT, whileReadOnly } from '../support/permission.js'

const newSandbox = useSandboxes()

/** A sandbox with a config file. */
function sandboxWith(content: object | string): CliSandbox {
  const sandbox = newSandbox()
  mkdirSync(dirname(sandbox.userConfig), { recursive: true })
  writeFileSync(sandbox.userConfig, typeof content === 'string' ? content : JSON.stringify(content))
  return sandbox
}

const readConfig = ({ userConfig }: CliSandbox) => readFileSync(userConfig, 'utf8')

/** The folder of the mirror that a command would use. */
async function mirrorPath(sandbox: CliSandbox, args: string[] = [], env: Env = {}): Promise<string> {
  const run = await sandbox.call(['mirror', '--path', ...args], env)
  expect(run).toMatchObject({ code: 0, stderr: '' })
  return run.stdout.trim().replace(sandbox.path(''), '')
}

describe.concurrent('origins', () => {
  it('command line > environment > user > default', async () => {
    const sandbox = sandboxWith({ mirror: 'user' })
    const env = { KLINES_MIRROR: 'environment' }
    expect(await mirrorPath(sandbox, ['--mirror', 'given'], env)).toBe('given')
    expect(await mirrorPath(sandbox, [], env)).toBe('environment')
    expect(await mirrorPath(sandbox, [], { KLINES_MIRROR: '' })).toBe('user')
    rmSync(sandbox.userConfig)
    expect(await mirrorPath(sandbox)).toMatch(/\/home\/cache\/klines\//)
  })
})

describe.concurrent('values are defaults', () => {
  it('of required flags, lists and addresses: a download without flags', async () => {
    const sandbox = sandboxWith({ 'base-url': 'sample', mirror: 'm', interval: ['12h', '1d'], quiet: true })
    expect(await sandbox.call(['download', 'BTCUSDT'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const folders = sandbox.files('m/api/klines').map(name => name.split('/')[0])
    expect([...new Set(folders)].sort()).toEqual(['12h', '1d'])
    const noisy = await sandbox.call(['download', 'BTCUSDT', '--no-quiet'])
    expect(noisy.stdout).toContain('Everything is up to date. Windows: ')
    const loud = await sandbox.call(['download', 'BTCUSDT'], { KLINES_QUIET: '0' })
    expect(loud.stdout).toContain('Everything is up to date. Windows: ')
  })

  it('json makes an object of results and of errors, --no-json does not', async () => {
    const sandbox = sandboxWith({ json: true })
    expect(JSON.parse((await sandbox.call(['mirror', '--path'])).stdout)).toHaveProperty('mirror')
    const failed = await sandbox.call(['mirror', '--path', '--nothing'])
    expect(failed).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'usage' } })
    expect((await sandbox.call(['mirror', '--path', '--no-json'])).stdout).toMatch(/^\//)
    expect(await sandbox.call(['mirror', '--path', '--no-json', '--nothing'])).toMatchObject({ code: 2, stdout: '' })
    expect((await sandbox.call(['mirror', '--path'], { KLINES_JSON: '0' })).stdout).toMatch(/^\//)
    expect(await sandbox.call(['mirror', '--nothing'], { KLINES_JSON: '0' })).toMatchObject({ code: 2, stdout: '' })
    expect(await newSandbox().call(['mirror', '--nothing'], { KLINES_JSON: '1' })).toMatchObject({ stderr: '' })
  })

  it('an error that shows a value names its file', async () => {
    const sandbox = sandboxWith({ 'base-url': 'http://127.0.0.1:1', concurrency: 999, interval: '1d' })
    const run = await sandbox.call(['download', 'BTCUSDT'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('concurrency is 999. Expected an integer less than or equal to 256 but received: 999')
    expect(run.stderr).toContain(sandbox.userConfig)
    const other = sandboxWith({ interval: '1d', from: '2025', to: '2024' })
    const reversed = await other.call(['download', 'BTCUSDT'])
    expect(reversed).toMatchObject({ code: 2, stdout: '' })
    expect(reversed.stderr).toMatch(/Set elsewhere: .*from in .*klines\.config\.json/)
    for (const from of [['--from', '2026'], ['--from=2026']])
      expect((await other.call(['download', 'BTCUSDT', ...from])).stderr).not.toContain('from in')
  })
})

const REFUSED = ['force', 'prune', 'output', 'lock']
/** What works whatever the config file holds. */
const ALWAYS = [['--version'], ['--help'], ['download', '--help']]

describe.concurrent('a broken file', () => {
  it.each([
    ['{\n  "mirror": data\n}\n', /klines\.config\.json is not JSON: .*\n/],
    ['{"mirorr": "x"}', /klines\.config\.json: Unknown key "mirorr"\.\n {2}Did you mean mirror\?\n/],
    ['{"__proto__": 1}', /Unknown key "__proto__"\./],
    ...REFUSED.map((key): [string, RegExp] => [`{"${key}": true}`, RegExp(`json: "${key}" cannot be set: every `)]),
    ['{"concurrency": 1.5}', /concurrency is 1\.5\. Expected an integer but received/],
    ['{"quiet": "yes"}', /quiet is "yes"\. Expected true or false\./],
    ['{"format": "xml"}', /format is "xml"\. Expected one of csv, json, .*parquet/],
    ['{"mirror": null}', /mirror is null\. Expected a text or a number\./],
    ['{"interval": ["1H"]}', /interval: Unknown interval "1H"\..*\n {2}Did you mean 1h\?/],
    ['{"from": "2024-13"}', /from: "2024-13" is not a point in time\./],
    ['{"base-url": "binance.com"}', /base-url: .*\n {2}Did you mean binance\?/],
    ['{"timeout": 0}', /timeout: --timeout is 0\. Expected seconds/],
    ['{"interval": []}', /interval is \[\]\. Expected a list of texts\./],
  ])('%j is exit code 2, for any command', async (text, message) => {
    const sandbox = sandboxWith(text)
    for (const args of [['symbols', '--base-url', 'sample'], ['config']]) {
      const run = await sandbox.call(args)
      expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
      expect(run.stderr).toContain(sandbox.userConfig)
    }
    const json = await sandbox.call(['symbols', '--base-url', 'sample', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'bad_config', exitCode: 2 } })
    for (const args of ALWAYS) expect(await sandbox.call(args), args.join(' ')).toMatchObject({ code: 0, stderr: '' })
  })

  it('is mended by unset when a key is unknown', async () => {
    const sandbox = sandboxWith({ mirorr: 'x', download: { quiet: true }, mirror: 'm' })
    for (const key of ['mirorr', 'download']) {
      expect(await sandbox.call(['config', 'unset', key])).toMatchObject({ code: 0, stderr: '' })
    }
    expect(readConfig(sandbox)).toBe('{\n  "mirror": "m"\n}\n')
    expect(await mirrorPath(sandbox)).toBe('m')
  })
})

describe.concurrent('klines config', () => {
  it('shows each value, where it comes from, and what is overridden', async () => {
    const sandbox = sandboxWith({ mirror: 'user', interval: '1h' })
    const run = await sandbox.call(['config'], { KLINES_INTERVAL: '1d' })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const lines = run.stdout.trimEnd().split('\n')
    expect(lines.map(line => line.split(/ {2,}/))).toEqual([
      ['key', 'value', 'from'],
      ['interval', '1d', 'KLINES_INTERVAL'],
      ['interval', '1h', `${sandbox.userConfig} (overridden)`],
      ['mirror', 'user', sandbox.userConfig],
    ])
  })

  it.each([[[]], [['--json']]])('shows no password %j', async args => {
    const run = await newSandbox().call(['config', ...args], { KLINES_BASE_URL: 'https://me:secret@example.com/k' })
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('https://***@example.com/k')
    expect(run.stdout).not.toContain('secret')
  })
})

describe.concurrent('klines config set and unset', () => {
  const SET: [string, string, object][] = [
    ['interval', '1h,1d', { interval: ['1h', '1d'] }],
    ['concurrency', '8', { concurrency: 8 }],
    ['quiet', 'true', { quiet: true }],
  ]

  it.each(SET)('set %s %s, and unset', async (key, value, expected) => {
    const sandbox = newSandbox()
    const run = await sandbox.call(['config', 'set', key, value])
    expect(run).toMatchObject({ code: 0, stdout: `Set ${key} to ${value} in ${sandbox.userConfig}.\n`, stderr: '' })
    expect(readConfig(sandbox)).toBe(`${JSON.stringify(expected, null, 2)}\n`)
    expect(await sandbox.call(['config'])).toMatchObject({ code: 0 })
    expect(await sandbox.call(['config', 'unset', key])).toMatchObject({ code: 0, stderr: '' })
    expect(readConfig(sandbox)).toBe('{}\n')
    const again = await sandbox.call(['config', 'unset', key])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`does not set "${key}".`) })
  })

  it.each([...REFUSED, 'mirorr'])('set %s is refused', async key => {
    const sandbox = newSandbox()
    expect(await sandbox.call(['config', 'set', key, 'true'])).toMatchObject({ code: 2, stdout: '' })
    expect(existsSync(sandbox.userConfig)).toBe(false)
  })
})

describe('without permission', () => {
  /** Runs as a user who may read the sandbox, but write nothing. */
  async function runWithoutRoot(sandbox: CliSandbox, command: string) {
    for (const folder of [sandbox.folder, dirname(sandbox.folder), dirname(dirname(sandbox.folder))]) {
      chmodSync(folder, 0o755)
    }
    const { userConfig } = sandbox
    return whileReadOnly(dirname(userConfig), () => sandbox.shell([...WITHOUT_ROOT, 'klines', command].join(' ')))
  }

  it('for the file, every command says so', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    chmodSync(sandbox.userConfig, 0o000)
    const run = await runWithoutRoot(sandbox, 'mirror --path')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toBe(`klines: Cannot read ${sandbox.userConfig}: permission denied (EACCES).\n`)
  })
})
