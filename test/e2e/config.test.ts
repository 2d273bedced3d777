import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, type Env, useSandboxes } from '../support/cli/cli-sandbox.js'
import { WITHOUT_ROOT, whileReadOnly } from '../support/permission.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'
import { GreetingServer } from '../support/servers/greeting-server.js'

const newSandbox = useSandboxes()
const DAILY = csvOf(sampleRows('BTCUSDT', '1d'))

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

  it('a folder has no file', async () => {
    const sandbox = newSandbox()
    sandbox.write('klines.config.json', '{"mirror":"folder"}')
    expect(await mirrorPath(sandbox)).toMatch(/\/home\/cache\/klines\//)
  })
})

describe.concurrent('values are defaults', () => {
  it('of required flags, lists and addresses: a download without flags', async () => {
    const sandbox = sandboxWith({ 'base-url': 'sample', mirror: 'm', interval: ['12h', '1d'], quiet: true })
    expect(await sandbox.call(['download', 'BTCUSDT'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const folders = sandbox.files('m/api/klines').map(name => name.split('/')[0])
    expect([...new Set(folders)].sort()).toEqual(['12h', '1d', 'start-dates'])
    const noisy = await sandbox.call(['download', 'BTCUSDT', '--no-quiet'])
    expect(noisy.stdout).toContain('Everything is up to date. Windows: ')
    const loud = await sandbox.call(['download', 'BTCUSDT'], { KLINES_QUIET: '0' })
    expect(loud.stdout).toContain('Everything is up to date. Windows: ')
  })

  it('format, numbers and columns request no export', async () => {
    const place = { 'base-url': 'sample', mirror: 'm', interval: '1d' }
    const sandbox = sandboxWith({ ...place, format: 'csv', numbers: 'decimal', partial: true })
    const download = await sandbox.call(['download', 'BTCUSDT', '--json'])
    expect(JSON.parse(download.stdout)).toMatchObject({ files: [] })
    // `numbers` is for parquet.
    const data = await sandbox.call(['export', 'BTCUSDT'])
    expect(data).toMatchObject({ code: 0, stdout: DAILY, stderr: '' })
    expect(await sandbox.call(['download', 'BTCUSDT', '-f', 'csv'])).toMatchObject({ code: 0, stdout: DAILY })
  })

  it('--from and KLINES_FROM replace last', async () => {
    const sandbox = sandboxWith({ 'base-url': 'sample', mirror: 'm', interval: '1d', format: 'csv', last: '30d' })
    const run = await sandbox.call(['download', 'BTCUSDT', '-f', 'csv', '--from', '2024'])
    expect(run).toMatchObject({ code: 0, stdout: DAILY })
    expect(await sandbox.call(['export', 'BTCUSDT'], { KLINES_FROM: '2024' })).toMatchObject({ stdout: DAILY })
  })

  it('-f requests an export also where the environment has the same format', async () => {
    const sandbox = sandboxWith({ 'base-url': 'sample', mirror: 'm', interval: '1d' })
    const run = await sandbox.call(['download', 'BTCUSDT', '-f', 'csv'], { KLINES_FORMAT: 'csv' })
    expect(run).toMatchObject({ code: 0, stdout: DAILY })
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
  })

  it('a base-url is not that of the greeting service, and a format not that of tables', async () => {
    const sandbox = sandboxWith({ 'base-url': 'http://127.0.0.1:1', format: 'parquet', mirror: 'm', interval: '1d' })
    const run = await sandbox.call(['openapi'], { KLINES_GREETING_URL: (await GreetingServer.start()).url })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toHaveProperty('openapi')
    await sandbox.call(['download', 'BTCUSDT', '--base-url', 'sample'])
    expect(await sandbox.call(['stats', 'BTCUSDT', '--base-url', 'sample'])).toMatchObject({ code: 0 })
  })

  it('an error that shows a value names its file', async () => {
    const sandbox = sandboxWith({ 'base-url': 'http://127.0.0.1:1', concurrency: 999, interval: '1d' })
    const run = await sandbox.call(['download', 'BTCUSDT'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('--concurrency is 999. Expected a whole number from 1 to 256.')
    expect(run.stderr).toContain(`${sandbox.userConfig} sets concurrency to 999.`)
    const other = sandboxWith({ interval: '1d', from: '2025', to: '2024' })
    const reversed = await other.call(['download', 'BTCUSDT'])
    expect(reversed).toMatchObject({ code: 2, stdout: '' })
    expect(reversed.stderr).toContain(`${other.userConfig} sets from to 2025.`)
    const given = await other.call(['download', 'BTCUSDT', '--from', '2026'])
    expect(given.stderr).not.toContain('sets from')
  })

  it('-v names the file and its flags', async () => {
    const sandbox = sandboxWith({ mirror: 'm', verbose: true, 'base-url': 'sample', quiet: false })
    const run = await sandbox.call(['mirror', '--path', '--base-url', 'sample'])
    expect(run.stderr).toBe(`Defaults from ${sandbox.userConfig}: mirror, verbose, quiet\n`)
  })
})

/** What works whatever the config file holds. */
const ALWAYS = [['--version'], ['--help'], ['download', '--help']]

describe.concurrent('a broken file', () => {
  it.each([
    ['{\n  "mirror": data\n}\n', /klines\.config\.json is not JSON: .* at line 2, column 13\.\n/],
    ['{\n  "mirror": "a",\n', /is not JSON: .* at line 3, column 1\.\n/],
    ['[]', /is an array\.\n.*Expected a JSON object/],
    ['', /is empty\./],
    ['{"mirorr": "x"}', /klines\.config\.json: Unknown key "mirorr"\.\n {2}Did you mean mirror\?\n/],
    ['{"baseUrl": "x"}', /Unknown key "baseUrl"\.\n {2}Did you mean base-url\?\n/],
    ['{"--mirror": "x"}', /Unknown key "--mirror"\.\n {2}Did you mean mirror\?\n/],
    ['{"zzzzzzz": 1}', /Unknown key "zzzzzzz"\.\n {2}Expected the long name of a flag, such as interval\.\n/],
    ['{"__proto__": 1}', /Unknown key "__proto__"\./],
    ['{"constructor": 1}', /Unknown key "constructor"\./],
    ['{"download": {"concurrency": 8}}', /Unknown key "download"\./],
    ['{"local": true}', /klines\.config\.json: --local is gone\. A folder has no config file/],
    ['{"force": true}', /klines\.config\.json: "force" cannot be set: every command line has to say it\.\n/],
    ['{"output": "x"}', /"output" cannot be set/],
    ['{"concurrency": "x"}', /concurrency is "x"\. Expected an integer\./],
    ['{"concurrency": 1.5}', /concurrency is 1\.5\. Expected an integer\./],
    ['{"port": 70000}', /port is 70000\. Expected an integer less than or equal to 65535\./],
    ['{"quiet": "yes"}', /quiet is "yes"\. Expected true or false\./],
    ['{"format": "xml"}', /format is "xml"\. Expected one of csv, json, .*parquet/],
    ['{"mirror": true}', /mirror is true\. Expected a text or a number\./],
    ['{"mirror": ""}', /mirror is ""\. Expected a text or a number\./],
    ['{"mirror": null}', /mirror is null\. Expected a text or a number\./],
    ['{"mirror": ["a"]}', /mirror is \["a"\]\. Expected a text or a number\./],
    ['{"interval": []}', /interval is \[\]\. Expected a list of texts\./],
    ['{"interval": "1h,"}', /interval is "1h,"\. Expected a list of texts\./],
    ['{"interval": {"a": 1}}', /interval is \{"a":1\}\. Expected a list of texts\./],
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

  it('that is not JSON is not changed by set and unset', async () => {
    const sandbox = sandboxWith('{"mirror": x}')
    for (const args of ['set mirror y', 'unset mirror']) {
      expect(await sandbox.call(['config', ...args.split(' ')])).toMatchObject({ code: 2, stdout: '' })
    }
    expect(readConfig(sandbox)).toBe('{"mirror": x}')
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
    expect(
      run.stdout
        .trimEnd()
        .split('\n')
        .map(line => line.split(/ {2,}/)),
    ).toEqual([
      ['key', 'value', 'from'],
      ['interval', '1d', 'KLINES_INTERVAL'],
      ['interval', '1h', `${sandbox.userConfig} (overridden)`],
      ['mirror', 'user', sandbox.userConfig],
    ])
  })

  it('--json has the same values, and the file', async () => {
    const sandbox = sandboxWith({ interval: ['1h', '1d'] })
    const path = sandbox.userConfig
    const run = await sandbox.call(['config', '--json'], { KLINES_MIRROR: 'm' })
    expect(JSON.parse(run.stdout)).toEqual({
      values: [
        { key: 'interval', value: ['1h', '1d'], origin: 'user', source: path, overridden: false },
        { key: 'mirror', value: 'm', origin: 'environment', source: 'KLINES_MIRROR', overridden: false },
      ],
      path,
      warnings: [],
    })
  })

  it('without any value it says where the file would be', async () => {
    const sandbox = newSandbox()
    const run = await sandbox.call(['config'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain(`Your config file: ${sandbox.userConfig}\n`)
  })

  it.each([[], ['--json']])('shows no password, %j', async (...args) => {
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
    ['from', '2024', { from: '2024' }],
    ['host', '::1', { host: '::1' }],
    ['base-url', 'http://127.0.0.1:1', { 'base-url': 'http://127.0.0.1:1' }],
  ]

  it.each(SET)('set %s %s, and unset', async (key, value, expected) => {
    const sandbox = newSandbox()
    const run = await sandbox.call(['config', 'set', key, value])
    expect(run).toMatchObject({ code: 0, stdout: `Set ${key} to ${value} in ${sandbox.userConfig}.\n`, stderr: '' })
    expect(readConfig(sandbox)).toBe(`${JSON.stringify(expected, null, 2)}\n`)
    expect(await sandbox.call(['config'])).toMatchObject({ code: 0 })
    expect(await sandbox.call(['config', 'unset', key])).toMatchObject({ code: 0, stderr: '' })
    expect(readConfig(sandbox)).toBe('{}\n')
  })

  it.each([
    ['intervall', '1h', /Unknown key "intervall"\.\n {2}Did you mean interval\?/],
    ['concurrency', 'many', /concurrency is "many"\. Expected an integer\./],
    ['quiet', 'yes', /quiet is "yes"\. Expected true or false\./],
    ['force', 'true', /"force" cannot be set: every command line has to say it/],
    ['download.quiet', 'true', /Unknown key "download\.quiet"\./],
  ])('set %s %s is refused, and writes nothing', async (key, value, message) => {
    const sandbox = newSandbox()
    const run = await sandbox.call(['config', 'set', key, value])
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(existsSync(sandbox.userConfig)).toBe(false)
  })

  it('set notes what overrides the value', async () => {
    const run = await newSandbox().call(['config', 'set', 'mirror', 'n'], { KLINES_MIRROR: 'm' })
    expect(run).toMatchObject({ code: 0, stderr: 'Note: It has no effect here: KLINES_MIRROR overrides it.\n' })
  })

  it('unset of a key that is not there is exit code 2', async () => {
    const run = await newSandbox().call(['config', 'unset', 'mirror'])
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('does not set "mirror"') })
  })

  it('keep a link and the mode of the file', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    rmSync(sandbox.userConfig)
    writeFileSync(sandbox.path('real.json'), '{}', { mode: 0o600 })
    symlinkSync(sandbox.path('real.json'), sandbox.userConfig)
    expect(await sandbox.call(['config', 'set', 'mirror', 'x'])).toMatchObject({ code: 0 })
    expect(sandbox.text('real.json')).toBe('{\n  "mirror": "x"\n}\n')
    expect(statSync(sandbox.path('real.json')).mode & 0o777).toBe(0o600)
    expect(await mirrorPath(sandbox)).toBe('x')
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

  it('for the config folder there is no file', async () => {
    const sandbox = sandboxWith({ mirror: 'user' })
    const config = dirname(dirname(sandbox.userConfig))
    chmodSync(config, 0o000)
    try {
      expect(await runWithoutRoot(sandbox, 'mirror --path --mirror m')).toMatchObject({ code: 0, stdout: 'm\n' })
    } finally {
      chmodSync(config, 0o755)
    }
  })

  it('for the file, every command says so', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    chmodSync(sandbox.userConfig, 0o000)
    const run = await runWithoutRoot(sandbox, 'mirror --path')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toBe(`klines: Cannot read ${sandbox.userConfig}: permission denied (EACCES).\n`)
  })

  it('for the folder, set changes nothing', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    const run = await runWithoutRoot(sandbox, 'config set quiet true')
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toBe(`klines: Cannot write ${sandbox.userConfig}: permission denied (EACCES).\n`)
    expect(readConfig(sandbox)).toBe('{"mirror":"m"}')
  })
})
