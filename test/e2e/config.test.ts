import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FOLDER_KEYS } from '../../src/cli/config/key-groups.js'
import { type CliSandbox, type Env, useSandboxes } from '../support/cli/cli-sandbox.js'
import { WITHOUT_ROOT, whileReadOnly } from '../support/permission.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const FILE = 'klines.config.json'
const DAILY = csvOf(sampleRows('BTCUSDT', '1d'))

/** A sandbox with a folder's and a user's config file. */
function sandboxWith(folder?: object, user?: object): CliSandbox {
  const sandbox = newSandbox()
  if (folder) sandbox.write(FILE, JSON.stringify(folder))
  if (user) writeUserFile(sandbox, JSON.stringify(user))
  return sandbox
}

function writeUserFile({ userConfig }: CliSandbox, text: string): void {
  mkdirSync(dirname(userConfig), { recursive: true })
  writeFileSync(userConfig, text)
}

/** What a run says that takes the mirror of the folder's file. */
const says = (mirror: string) => `klines.config.json sets mirror ./${mirror}\n`

/** The folder of the mirror that a command would use. */
async function mirrorPath(sandbox: CliSandbox, args: string[] = [], env: Env = {}, stderr = ''): Promise<string> {
  const run = await sandbox.call(['mirror', 'path', ...args], env)
  expect(run).toMatchObject({ code: 0, stderr })
  return run.stdout.trim().replace(sandbox.path(''), '')
}

describe.concurrent('origins', () => {
  it('command line > environment > folder > user > default', async () => {
    const sandbox = sandboxWith({ mirror: 'folder' }, { mirror: 'user' })
    const env = { KLINES_MIRROR: 'environment' }
    expect(await mirrorPath(sandbox, ['--mirror', 'given'], env)).toBe('given')
    expect(await mirrorPath(sandbox, [], env)).toBe('environment')
    expect(await mirrorPath(sandbox, [], {}, says('folder'))).toBe('folder')
    rmSync(sandbox.path(FILE))
    expect(await mirrorPath(sandbox)).toBe('user')
    rmSync(sandbox.userConfig)
    expect(await mirrorPath(sandbox)).toMatch(/\/home\/cache\/klines\//)
  })

  it('the section of a command wins over other keys of its file, and applies to no other command', async () => {
    const sandbox = sandboxWith({ mirror: 'all', 'mirror path': { mirror: 'section' } })
    expect(await mirrorPath(sandbox, [], {}, says('section'))).toBe('section')
    const status = await sandbox.call(['mirror', 'status'])
    expect(status.stderr).toMatch(/\ball\b/)
  })

  it('the folder above is not searched', async () => {
    const sandbox = sandboxWith({ mirror: 'above' })
    mkdirSync(sandbox.path('below'))
    const run = await sandbox.shell('cd below && klines mirror path')
    expect(run.stdout).toMatch(/\/home\/cache\/klines\//)
  })
})

describe.concurrent('values are defaults', () => {
  it('of required flags, lists and addresses: a download without flags', async () => {
    const sandbox = sandboxWith({ 'base-url': 'sample', mirror: 'm', interval: ['12h', '1d'] }, { quiet: true })
    const stderr = 'klines.config.json sets base-url sample and mirror ./m\n'
    expect(await sandbox.call(['download', 'BTCUSDT'])).toMatchObject({ code: 0, stdout: '', stderr })
    const folders = sandbox.files('m/api/klines').map(name => name.split('/')[0])
    expect([...new Set(folders)].sort()).toEqual(['12h', '1d', 'start-dates'])
    const noisy = await sandbox.call(['download', 'BTCUSDT', '--no-quiet'])
    expect(noisy.stdout).toContain('No new candles. Windows: ')
    const loud = await sandbox.call(['download', 'BTCUSDT'], { KLINES_QUIET: '0' })
    expect(loud.stdout).toContain('No new candles. Windows: ')
  })

  it('format, numbers and columns request no export', async () => {
    const place = { 'base-url': 'sample', mirror: 'm', interval: '1d' }
    const look = { format: 'csv', numbers: 'decimal', partial: true, export: { last: '30d' } }
    const sandbox = sandboxWith(look, place)
    const download = await sandbox.call(['download', 'BTCUSDT', '--json'])
    expect(JSON.parse(download.stdout)).toMatchObject({ files: [] })
    // `numbers` is for parquet, and --from replaces `last`.
    const data = await sandbox.call(['export', 'BTCUSDT', '--from', '2024'])
    expect(data).toMatchObject({ code: 0, stdout: DAILY, stderr: '' })
    expect(await sandbox.call(['download', 'BTCUSDT', '-f', 'csv'])).toMatchObject({ code: 0, stdout: DAILY })
  })

  it('-f requests an export also where the environment has the same format', async () => {
    const sandbox = sandboxWith({ 'base-url': 'sample', mirror: 'm', interval: '1d' })
    const run = await sandbox.call(['download', 'BTCUSDT', '-f', 'csv'], { KLINES_FORMAT: 'csv' })
    expect(run).toMatchObject({ code: 0, stdout: DAILY })
  })

  it('json makes an object of results and of errors, --no-json does not', async () => {
    const sandbox = sandboxWith({ json: true })
    expect(JSON.parse((await sandbox.call(['mirror', 'path'])).stdout)).toHaveProperty('mirror')
    const failed = await sandbox.call(['mirror', 'path', '--nothing'])
    expect(failed).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'usage' } })
    expect((await sandbox.call(['mirror', 'path', '--no-json'])).stdout).toMatch(/^\//)
    expect(await sandbox.call(['mirror', 'path', '--no-json', '--nothing'])).toMatchObject({ code: 2, stdout: '' })
    expect((await sandbox.call(['mirror', 'path'], { KLINES_JSON: '0' })).stdout).toMatch(/^\//)
  })

  it('a base-url is not that of the greeting service', async () => {
    const sandbox = sandboxWith({ 'base-url': 'http://127.0.0.1:1' }, { openapi: { 'base-url': 'sample' } })
    const run = await sandbox.call(['openapi'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toHaveProperty('openapi')
  })

  it('an error that shows a value names its file', async () => {
    const sandbox = sandboxWith({ 'base-url': 'http://127.0.0.1:1', concurrency: 999, interval: '1d' })
    const run = await sandbox.call(['download', 'BTCUSDT'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(`${sandbox.path(FILE)}: concurrency is 999. Expected a whole number from 1 to 256.`)
    sandbox.write(FILE, JSON.stringify({ interval: '1d', from: '2025', to: '2024' }))
    const reversed = await sandbox.call(['download', 'BTCUSDT'])
    expect(reversed).toMatchObject({ code: 2, stdout: '' })
    expect(reversed.stderr).toContain(`${sandbox.path(FILE)} sets from to 2025.`)
    const given = await sandbox.call(['download', 'BTCUSDT', '--from', '2026'])
    expect(given.stderr).not.toContain('sets from')
  })

  it('-v names the file and its flags', async () => {
    const sandbox = sandboxWith({ mirror: 'm', verbose: true }, { 'base-url': 'sample', quiet: false })
    const run = await sandbox.call(['mirror', 'path', '--base-url', 'sample'])
    expect(run.stderr).toBe(
      `${says('m')}Defaults from ${sandbox.path(FILE)}: mirror, verbose\nDefaults from ${sandbox.userConfig}: quiet\n`,
    )
  })
})

/** What works whatever the config files hold. */
const ALWAYS = [['--version'], ['--help'], ['download', '--help'], ['config', 'path'], ['config', 'path', '--local']]

describe.concurrent('a broken file', () => {
  it.each([
    ['{\n  "mirror": data\n}\n', /klines\.config\.json is not JSON: .* at line 2, column 13\.\n/],
    ['{\n  "mirror": "a",\n', /is not JSON: .* at line 3, column 1\.\n/],
    ['[]', /is an array\.\n.*Expected a JSON object/],
    ['', /is empty\./],
    ['{"mirorr": "x"}', /klines\.config\.json: Unknown key "mirorr"\.\n {2}Did you mean mirror\?\n/],
    ['{"force": true}', /klines\.config\.json: "force" cannot be set: it replaces files/],
    ['{"downlaod": {}}', /Unknown command "downlaod"\.\n {2}Did you mean download\?\n/],
    ['{"download": {"concurrency": "x"}}', /download\.concurrency is "x"\. Expected an integer\./],
  ])('%j is exit code 2, for any command', async (text, message) => {
    for (const place of ['folder', 'user']) {
      const sandbox = newSandbox()
      if (place === 'folder') sandbox.write(FILE, text)
      else writeUserFile(sandbox, text)
      for (const args of [['symbols', '--base-url', 'sample'], ['config']]) {
        const run = await sandbox.call(args)
        expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
        expect(run.stderr).toContain(place === 'folder' ? sandbox.path(FILE) : sandbox.userConfig)
      }
      const json = await sandbox.call(['symbols', '--base-url', 'sample', '--json'])
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'bad_config', exitCode: 2 } })
      for (const args of ALWAYS) expect(await sandbox.call(args), args.join(' ')).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('a FIFO or a folder in its place is an error, never a hang', async () => {
    for (const place of [(path: string) => execFileSync('mkfifo', [path]), mkdirSync]) {
      const sandbox = newSandbox()
      place(sandbox.path(FILE))
      const run = await sandbox.call(['mirror', 'path'])
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toBe(`klines: ${sandbox.path(FILE)} is not a regular file. Expected a JSON file.\n`)
      expect(run.tookMs).toBeLessThan(30_000)
    }
  })

  it('that is not JSON is not changed by set and unset', async () => {
    const sandbox = newSandbox()
    sandbox.write(FILE, '{"mirror": x}')
    for (const args of [
      ['set', 'mirror', 'y'],
      ['unset', 'mirror'],
    ]) {
      expect(await sandbox.call(['config', ...args, '--local'])).toMatchObject({ code: 2, stdout: '' })
    }
    expect(sandbox.text(FILE)).toBe('{"mirror": x}')
    expect(sandbox.files()).toEqual([FILE])
  })

  it('is mended by unset when a key is unknown', async () => {
    const sandbox = sandboxWith({ mirorr: 'x', downlaod: { quiet: true }, mirror: 'm' })
    for (const key of ['mirorr', 'downlaod.quiet']) {
      expect(await sandbox.call(['config', 'unset', key, '--local'])).toMatchObject({ code: 0, stderr: '' })
    }
    expect(sandbox.text(FILE)).toBe('{\n  "mirror": "m"\n}\n')
    expect(await mirrorPath(sandbox, [], {}, says('m'))).toBe('m')
  })
})

describe.concurrent('klines config', () => {
  it('shows each value, where it comes from, and what is overridden', async () => {
    const sandbox = sandboxWith(
      { mirror: 'folder', 'mirror verify': { retries: 2 } },
      { mirror: 'user', interval: '1h' },
    )
    const run = await sandbox.call(['config'], { KLINES_INTERVAL: '1d', KLINES_PROGRESS: '' })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const [table, keys] = run.stdout.split('\n\n')
    expect(table.split('\n').map(line => line.split(/ {2,}/))).toEqual([
      ['key', 'value', 'from'],
      ['interval', '1d', 'KLINES_INTERVAL'],
      ['interval', '1h', `${sandbox.userConfig} (overridden)`],
      ['mirror', 'folder', sandbox.path(FILE)],
      ['mirror', 'user', `${sandbox.userConfig} (overridden)`],
      ['mirror verify.retries', '2', sandbox.path(FILE)],
    ])
    expect(keys).toMatch(/^A folder's file may set:\n {2}which candles: interval, from, to, [\s\S]*base-url, mirror\n$/)
  })

  it('--json has the same values, and the files', async () => {
    const sandbox = sandboxWith({ interval: ['1h', '1d'] })
    const run = await sandbox.call(['config', '--json'], { KLINES_MIRROR: 'm', KLINES_PROGRESS: '' })
    const report = JSON.parse(run.stdout)
    const path = sandbox.path(FILE)
    expect(report).toEqual({
      values: [
        { key: 'interval', value: ['1h', '1d'], origin: 'folder', source: path, overridden: false },
        { key: 'mirror', value: 'm', origin: 'environment', source: 'KLINES_MIRROR', overridden: false },
      ],
      files: [
        { origin: 'folder', path, exists: true },
        { origin: 'user', path: sandbox.userConfig, exists: false },
      ],
      folderKeys: [...FOLDER_KEYS],
      warnings: [],
    })
  })

  it('without any value it says where the files would be', async () => {
    const sandbox = newSandbox()
    const run = await sandbox.call(['config'], { KLINES_PROGRESS: '' })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain(`${sandbox.path(FILE)}  (this folder; does not exist)`)
    expect(run.stdout).toContain(`${sandbox.userConfig}  (the user; does not exist)`)
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
    ['verify.json', 'false', { verify: { json: false } }],
    ['mirror verify.retries', '2', { 'mirror verify': { retries: 2 } }],
    ['from', '2024', { from: '2024' }],
    ['base-url', 'http://127.0.0.1:1', { 'base-url': 'http://127.0.0.1:1' }],
  ]

  it.each(SET)('set %s %s, in the file of the user and of the folder, and unset', async (key, value, expected) => {
    const sandbox = newSandbox()
    for (const [path, flags] of [
      [sandbox.userConfig, []],
      [sandbox.path(FILE), ['--local']],
    ] as const) {
      const run = await sandbox.call(['config', 'set', key, value, ...flags])
      expect(run).toMatchObject({ code: 0, stdout: `Set ${key} to ${value} in ${path}.\n` })
      expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(expected, null, 2)}\n`)
    }
    expect(await sandbox.call(['config'])).toMatchObject({ code: 0 })
    for (const flags of [[], ['--local']]) {
      expect(await sandbox.call(['config', 'unset', key, ...flags])).toMatchObject({ code: 0, stderr: '' })
    }
    expect([sandbox.text(FILE), readFileSync(sandbox.userConfig, 'utf8')]).toEqual(['{}\n', '{}\n'])
  })

  it.each([
    ['verify.audit', 'false', { verify: { audit: false } }],
    ['mirror verify.repair', 'true', { 'mirror verify': { repair: true } }],
    ['host', '::1', { host: '::1' }],
    ['openapi.base-url', 'sample', { openapi: { 'base-url': 'sample' } }],
  ])('set %s %s, in the file of the user alone', async (key, value, expected) => {
    const sandbox = newSandbox()
    const refused = await sandbox.call(['config', 'set', key, value, '--local'])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sandbox.userConfig) })
    expect(sandbox.files()).toEqual([])
    const set = await sandbox.call(['config', 'set', key, value])
    expect(set).toMatchObject({ code: 0, stdout: `Set ${key} to ${value} in ${sandbox.userConfig}.\n`, stderr: '' })
    expect(JSON.parse(readFileSync(sandbox.userConfig, 'utf8'))).toEqual(expected)
  })

  it.each([
    ['intervall', '1h', /Unknown key "intervall"\.\n {2}Did you mean interval\?/],
    ['interval', '60', /interval is "60"\. Unknown interval "60"/],
    ['concurrency', 'many', /concurrency is "many"\. Expected an integer\./],
    ['concurrency', '0', /concurrency is "0"\. Expected a whole number from 1 to 256\./],
    ['timeout', '0', /timeout is "0"\. Expected seconds/],
    ['resample', 'foo', /foo/],
    ['base-url', 'notaurl', /notaurl/],
    ['quiet', 'yes', /quiet is "yes"\. Expected true or false\./],
    ['force', 'true', /"force" cannot be set: it replaces files/],
    ['downlaod.quiet', 'true', /Unknown command "downlaod"\.\n {2}Did you mean download\?/],
    [
      'base-url',
      'https://me:secret@example.com',
      /base-url is "https:\/\/\*\*\*@example\.com"\. Expected an address without/,
    ],
  ])('set %s %s is refused, and writes nothing', async (key, value, message) => {
    const sandbox = newSandbox()
    const run = await sandbox.call(['config', 'set', key, value])
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(run.stderr).not.toContain('secret')
    expect(existsSync(sandbox.userConfig)).toBe(false)
  })

  it('set notes what overrides the value', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    const run = await sandbox.call(['config', 'set', 'mirror', 'n'])
    expect(run).toMatchObject({ code: 0 })
    expect(run.stderr).toBe(`Note: It has no effect here: ${sandbox.path(FILE)} overrides it.\n`)
  })

  it('unset of a key that is not there is exit code 2', async () => {
    const run = await newSandbox().call(['config', 'unset', 'mirror'])
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('does not set "mirror"') })
  })
})

describe('without permission', () => {
  /** Runs as a user who may read the sandbox, but not its user's config folder, and write nothing. */
  async function runWithoutRoot(sandbox: CliSandbox, command: string) {
    for (const folder of [sandbox.folder, dirname(sandbox.folder), dirname(dirname(sandbox.folder))]) {
      chmodSync(folder, 0o755)
    }
    const config = dirname(dirname(sandbox.userConfig))
    mkdirSync(config, { recursive: true })
    chmodSync(config, 0o000)
    try {
      return await whileReadOnly(sandbox.folder, () => sandbox.shell([...WITHOUT_ROOT, 'klines', command].join(' ')))
    } finally {
      chmodSync(config, 0o755)
    }
  }

  it('for the config folder there is no file of the user', async () => {
    const run = await runWithoutRoot(sandboxWith({ mirror: 'm' }, { mirror: 'user' }), 'mirror path')
    expect(run).toMatchObject({ code: 0, stdout: 'm\n', stderr: says('m') })
  })

  it('for the file, every command says so', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    chmodSync(sandbox.path(FILE), 0o000)
    const run = await runWithoutRoot(sandbox, 'mirror path')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toBe(`klines: Cannot read ${sandbox.path(FILE)}: permission denied (EACCES).\n`)
  })

  it('for the folder, set changes nothing', async () => {
    const sandbox = sandboxWith({ mirror: 'm' })
    const run = await runWithoutRoot(sandbox, 'config set quiet true --local')
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toBe(`klines: Cannot write ${sandbox.path(FILE)}: permission denied (EACCES).\n`)
    expect(sandbox.text(FILE)).toBe('{"mirror":"m"}')
  })
})
