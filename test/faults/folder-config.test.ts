import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REFUSED, USER_GROUPS } from '../../src/cli/config/key-groups.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { closedPort } from '../support/servers/closed-port.js'
import { GreetingServer } from '../support/servers/greeting-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { snapshot } from '../support/snapshot.js'
import { expectPlainText } from './support/fault-case.js'

const newSandbox = useSandboxes()
const FILE = 'klines.config.json'
const SERIES = ['BTCUSDT', '-i', '1d']
/** A range of one window, which the sample has as a file. */
const RANGE = [...SERIES, '--from', '2025-01-01', '--to', '2025-03-01']
const USER_ID = '123e4567-e89b-12d3-a456-426614174000'

/** A working folder with a stranger's file. */
function folderWith(content: object | string | Buffer): CliSandbox {
  const sandbox = newSandbox()
  const isText = typeof content === 'string' || Buffer.isBuffer(content)
  writeFileSync(sandbox.path(FILE), isText ? content : JSON.stringify(content))
  return sandbox
}

/** A folder beside the working folder, with a mirror of the sample in it. */
function placeVictim(sandbox: CliSandbox): string {
  const victim = join(sandbox.folder, '..', 'victim')
  for (const name of ['symbols.json', 'start-dates/1d.json', '1d/BTCUSDT']) {
    cpSync(join(SAMPLE_TREE, 'api', 'klines', name), join(victim, 'api', 'klines', name), { recursive: true })
  }
  return victim
}

/** A command of each kind that reads, writes or removes a mirror, without a question. */
const MIRROR_COMMANDS = [
  ['download', ...SERIES],
  ['download', ...SERIES, '-o', 'out.csv', '--force'],
  ['export', ...SERIES, '-f', 'csv'],
  ['verify', ...SERIES],
  ['stats', ...SERIES],
  ['chart', ...SERIES, '--offline'],
  ['symbols'],
  ['intervals'],
  ['start-dates', '1d'],
  ['serve', '--port', '0'],
  ['sql', 'select 1'],
  ['mirror', 'status'],
  ['mirror', 'path'],
  ['mirror', 'verify', '--repair'],
  ['mirror', 'prune', '--yes'],
  ['mirror', 'publish'],
  ['mirror', 'clear', '--yes'],
]

describe("keys of a folder's file", () => {
  const REFUSED_KEYS = [...USER_GROUPS.flatMap(({ names }) => names), ...Object.keys(REFUSED)]

  it.each(REFUSED_KEYS)('F78 %s is refused by name, before anything is done', async key => {
    const server = await TreeServer.start(SAMPLE_TREE)
    const sandbox = folderWith({ 'base-url': server.url, mirror: 'm', [key]: true })
    for (const args of [['download', ...SERIES, '-o', 'out.csv'], ['config']]) {
      const run = await sandbox.call(args)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toMatch(/^klines: .*klines\.config\.json: /)
      expect(run.stderr).toMatch(new RegExp(`A folder's file cannot set ${key} \\(|"${key}" cannot be set: `))
    }
    expect(server.log).toEqual([])
    expect(sandbox.files()).toEqual([FILE])
  })

  it("F78 the advice works: the file of the user takes the key, and then the folder's file does without", async () => {
    const sandbox = folderWith({ threads: 2, serve: { port: 0 } })
    const refused = await sandbox.call(['mirror', 'path'])
    expect(refused.stderr).toContain(`cannot set threads (memory of this machine); serve.port (what the server does`)
    expect(refused.stderr).toContain(`${sandbox.userConfig}: klines config set threads VALUE.`)
    for (const args of [
      ['config', 'set', 'threads', '2'],
      ['config', 'unset', 'threads', '--local'],
      ['config', 'unset', 'serve', '--local'],
      ['mirror', 'path'],
    ]) {
      expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    }
    expect(JSON.parse(readFileSync(sandbox.userConfig, 'utf8'))).toEqual({ threads: 2 })
  })

  it('F78 the data of a user goes nowhere else', async () => {
    const server = await GreetingServer.start()
    const update = ['users', 'update', USER_ID, '--email', 'a@example.com']
    for (const content of [{ 'users update': { 'base-url': server.url } }, { openapi: { 'base-url': server.url } }]) {
      const run = await folderWith(content).call(update)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toMatch(/cannot set (users update|openapi)\.base-url \(what is sent to the greeting API/)
    }
    // The base address of candles is not that of the greeting API.
    const other = await folderWith({ 'base-url': server.url }).call(['openapi'], { KLINES_GREETING_URL: 'sample' })
    expect(other).toMatchObject({ code: 0, stderr: '' })
    const env = { KLINES_GREETING_URL: `http://127.0.0.1:${await closedPort()}` }
    expect((await folderWith({ 'base-url': server.url }).call(update, env)).code).toBe(5)
    expect(server.log).toEqual([])
  })
})

describe("base-url and mirror of a folder's file", () => {
  it.each([[], ['-q'], ['--json'], ['-q', '--json'], ['-v']])(
    'F78 are named on stderr by a run, %j',
    async (...flags) => {
      const server = await TreeServer.start(SAMPLE_TREE)
      const sandbox = folderWith({ 'base-url': server.url, mirror: 'candles' })
      const line = `klines.config.json sets base-url ${server.url} and mirror ./candles\n`
      const run = await sandbox.call(['download', ...RANGE, ...flags])
      expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining(line) })
      expect(run.stderr.startsWith(line)).toBe(true)
      expect(server.paths('windows')).not.toEqual([])
      expect(sandbox.files('candles/api')).not.toEqual([])
    },
  )

  it('F78 are named by every command that takes them', async () => {
    const sandbox = folderWith({ 'base-url': 'sample', mirror: 'candles', quiet: true })
    const commands = MIRROR_COMMANDS.filter(([name]) => name !== 'serve' && name !== 'sql')
    for (const args of commands) {
      const { stderr } = await sandbox.call(args)
      expect(stderr, args.join(' ')).toMatch(/^klines\.config\.json sets base-url sample and mirror \.\/candles\n/)
      expect(stderr.match(/klines\.config\.json sets/g), args.join(' ')).toHaveLength(1)
    }
  })

  it('F78 serve names them too', async () => {
    const sandbox = folderWith({ mirror: 'candles' })
    const { child, ended } = sandbox.start(['serve', '--port', '0', '-q'])
    child.stdout?.once('data', () => child.kill('SIGTERM'))
    expect((await ended).stderr).toMatch(/^klines\.config\.json sets mirror \.\/candles\n/)
  })

  it('F78 of the command line, the environment or the user are named by nobody', async () => {
    const sandbox = folderWith({ 'base-url': 'http://127.0.0.1:1', mirror: 'candles' })
    const own = { KLINES_BASE_URL: 'sample', KLINES_MIRROR: 'own' }
    for (const [args, env] of [
      [['--base-url', 'sample', '--mirror', 'own'], {}],
      [[], own],
    ] as const) {
      const run = await sandbox.call(['download', ...SERIES, '-q', ...args], env)
      expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    }
    expect(sandbox.exists('candles')).toBe(false)
  })

  it('F78 an address of a look-alike host is named as it is requested', async () => {
    const sandbox = folderWith({ 'base-url': 'https://f\u0456nom.github.io/static-klines', mirror: 'candles' })
    const run = await sandbox.call(['mirror', 'path', '-q'])
    expect(run.stderr).toBe(
      'klines.config.json sets base-url https://xn--fnom-l9d.github.io/static-klines and mirror ./candles\n',
    )
  })

  it.each([['clear'], ['prune']])('F78 mirror %s removes no mirror that an address of the file chooses', async name => {
    const sandbox = newSandbox()
    const env = { KLINES_BASE_URL: 'sample' }
    expect(await sandbox.call(['download', ...SERIES], env)).toMatchObject({ code: 0 })
    const mirror = (await sandbox.call(['mirror', 'path'], env)).stdout.trim()
    const before = snapshot(mirror)
    sandbox.write(FILE, JSON.stringify({ 'base-url': 'sample' }))
    const run = await sandbox.call(['mirror', name, '--yes'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(/removes files, and the base-url of .*klines\.config\.json would choose the mirror\./)
    expect(snapshot(mirror)).toEqual(before)
    expect(await sandbox.call(['mirror', name, '--yes', '--base-url', 'sample'])).toMatchObject({ code: 0, stderr: '' })
  })
})

describe("a mirror that a folder's file names", () => {
  it.each([['update'], ['mirror verify --repair'], ['mirror publish']])(
    'F78 %s sends no request to an address that only this mirror names',
    async command => {
      const server = await TreeServer.start(SAMPLE_TREE)
      const sandbox = newSandbox()
      cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true })
      sandbox.write('m/mirror.json', JSON.stringify({ layout: 2, baseUrl: server.url, complete: false }))
      sandbox.write('m/api/klines/1h/BTCUSDT/2025-01-01.json', '[')
      sandbox.write(FILE, JSON.stringify({ mirror: 'm' }))
      const run = await sandbox.call(command.split(' '))
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(`m has candles of ${server.url}, of which you have no other mirror.`)
      expect(run.stderr).toContain(`name it with --base-url: ${server.url}`)
      expect(server.log).toEqual([])
    },
  )
})

describe("a mirror of a folder's file outside the folder", () => {
  it.each(['../victim', './../victim', 'a/../../victim', 'VICTIM'])(
    'F78 %s is refused by every command',
    async path => {
      const server = await TreeServer.start(SAMPLE_TREE)
      const sandbox = newSandbox()
      const victim = placeVictim(sandbox)
      const before = snapshot(victim)
      const mirror = path.replace('VICTIM', victim)
      sandbox.write(FILE, JSON.stringify({ 'base-url': server.url, mirror }))
      for (const args of MIRROR_COMMANDS) {
        const run = await sandbox.call(args)
        expect(run, args.join(' ')).toMatchObject({ code: 2, stdout: '' })
        expect(run.stderr).toContain(
          `mirror is ${JSON.stringify(mirror)}. A folder's file cannot name a mirror elsewhere.`,
        )
      }
      expect(snapshot(victim)).toEqual(before)
      expect(server.log).toEqual([])
      expect(sandbox.files()).toEqual([FILE])
    },
  )

  it.each([
    ['a link to it', 'candles', 'candles', '../victim'],
    ['a folder below a link', 'data/candles', 'data', '..'],
    ['a link to nothing', 'candles', 'candles', '../new'],
    ['a link to another folder of the project', 'candles', 'candles', 'data'],
  ])('F78 %s is refused by every command', async (_, mirror, link, target) => {
    const sandbox = folderWith({ 'base-url': 'sample', mirror })
    const victim = placeVictim(sandbox)
    mkdirSync(join(sandbox.folder, '..', 'candles'))
    symlinkSync(target, sandbox.path(link))
    const before = snapshot(join(sandbox.folder, '..', '..')).victim
    const inside = snapshot(victim)
    for (const args of MIRROR_COMMANDS) {
      const run = await sandbox.call(args)
      expect(run, args.join(' ')).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(
        `${sandbox.path(link)} is a symbolic link. Expected a folder inside ${sandbox.folder}`,
      )
    }
    expect(snapshot(join(sandbox.folder, '..', '..')).victim).toEqual(before)
    expect(snapshot(victim)).toEqual(inside)
    expect(sandbox.exists('../new')).toBe(false)
    expect(sandbox.files().sort()).toEqual([link, FILE].sort())
  })

  it('F78 is as good as any for the user, who names it', async () => {
    const sandbox = folderWith({ mirror: '../victim' })
    const victim = placeVictim(sandbox)
    rmSync(sandbox.path(FILE))
    symlinkSync(victim, sandbox.path('link'))
    for (const mirror of ['../victim', victim, 'link']) {
      expect(await sandbox.call(['export', ...RANGE, '-f', 'csv', '--mirror', mirror])).toMatchObject({ code: 0 })
      expect(await sandbox.call(['config', 'set', 'mirror', mirror])).toMatchObject({ code: 0, stderr: '' })
      expect(await sandbox.call(['export', ...RANGE, '-f', 'csv'])).toMatchObject({ code: 0, stderr: '' })
    }
  })
})

describe("the text of a folder's file", () => {
  const ESCAPES = '\u001b[2J\u009b31m\u202e\r\nklines: all is well'

  it.each<[string, object]>([
    ['the name of a key', { [ESCAPES]: 1 }],
    ['the name of a section', { [ESCAPES]: { quiet: true } }],
    ['a key of a section', { download: { [ESCAPES]: true } }],
    ['a mirror', { mirror: `m${ESCAPES}` }],
    ['a mirror with NUL', { mirror: 'm\0' }],
    ['an address', { 'base-url': `x${ESCAPES}` }],
    ['a format', { format: ESCAPES }],
    ['an interval', { interval: `1h${ESCAPES}` }],
    ['a list', { columns: ['open', ESCAPES] }],
    ['a time', { from: ESCAPES }],
    ['a length', { last: ESCAPES }],
    ['a candle length', { resample: ESCAPES }],
    ['a number', { concurrency: ESCAPES }],
    ['a refused key', { host: ESCAPES }],
  ])('F78 reaches no terminal: %s', async (_, content) => {
    const sandbox = folderWith(content)
    for (const args of [['mirror', 'path'], ['config'], ['mirror', 'path', '--json']]) {
      const run = await sandbox.call(args)
      expect(run.code).toBe(2)
      const text = run.stdout + run.stderr
      expectPlainText(text)
      expect(text.split('\n').filter(line => line.startsWith('klines: all'))).toEqual([])
    }
  })

  it('F78 reaches no terminal: an address that is valid without its line ends', async () => {
    const sandbox = folderWith({ 'base-url': 'http://127.0.0.1:1/a\nklines: all is well', mirror: 'm' })
    for (const args of [['config'], ['download', ...SERIES, '--retries', '0'], ['mirror', 'path']]) {
      const run = await sandbox.call(args)
      expectPlainText(run.stdout + run.stderr)
      expect((run.stdout + run.stderr).split('\n').filter(line => line.startsWith('klines: all'))).toEqual([])
    }
  })

  it.each<[string, string | Buffer]>([
    ['300,000 nested arrays', `{"mirror":${'['.repeat(300_000)}${']'.repeat(300_000)}}`],
    ['300,000 nested objects', `{"download":${'{"x":'.repeat(150_000)}1${'}'.repeat(150_000)}}`],
    ['a key of a megabyte', `{"${'x'.repeat(1_000_000)}":1}`],
    ['a value of a megabyte', `{"interval":"${'x'.repeat(1_000_000)}"}`],
    ['an address of a megabyte', `{"base-url":"${'x'.repeat(1_000_000)}"}`],
    ['90,000 sections', `{${Array.from({ length: 90_000 }, (_, index) => `"${index}":{}`).join(',')}}`],
    ['no JSON at all', '#!/bin/sh\nexit\n'],
    ['no UTF-8', Buffer.from('{"mirror":"\u00ff"}', 'latin1')],
  ])('F78 %s is one short error', async (_, text) => {
    const sandbox = folderWith(text)
    const run = await sandbox.call(['mirror', 'path'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(/^klines: .*klines\.config\.json/)
    expect(run.stderr.length).toBeLessThan(4_000)
  })
})

describe("in the place of a folder's file", () => {
  it.each<[string, (sandbox: CliSandbox) => void, RegExp]>([
    ['a link to a file outside', sandbox => symlinkSync('../secret', sandbox.path(FILE)), /is a symbolic link/],
    ['a link to a file inside', sandbox => symlinkSync('inside', sandbox.path(FILE)), /is a symbolic link/],
    ['a link to nothing', sandbox => symlinkSync('nothing', sandbox.path(FILE)), /is a symbolic link/],
    ['a link to itself', sandbox => symlinkSync(FILE, sandbox.path(FILE)), /is a symbolic link/],
    ['a link to a device', sandbox => symlinkSync('/dev/zero', sandbox.path(FILE)), /is a symbolic link/],
    ['a FIFO', sandbox => execFileSync('mkfifo', [sandbox.path(FILE)]), /is not a regular file/],
    ['a folder', sandbox => mkdirSync(sandbox.path(FILE)), /is not a regular file/],
    [
      'a file of 5 GB',
      sandbox => {
        writeFileSync(sandbox.path(FILE), '{}')
        truncateSync(sandbox.path(FILE), 5e9)
      },
      /has 5000000000 bytes/,
    ],
  ])('F78 %s is refused by all that reads and writes it', async (_, place, message) => {
    const sandbox = newSandbox()
    const secret = join(sandbox.folder, '..', 'secret')
    for (const path of [secret, sandbox.path('inside')]) writeFileSync(path, '{"quiet":"top secret"}')
    place(sandbox)
    const before = lstatSync(sandbox.path(FILE)).ino
    for (const args of [
      ['mirror', 'path'],
      ['download', ...SERIES],
      ['config'],
      ['config', 'set', 'interval', '1d', '--local'],
      ['config', 'unset', 'quiet', '--local'],
    ]) {
      const run = await sandbox.call(args)
      expect(run, args.join(' ')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
      expect(run.stderr).not.toContain('top secret')
    }
    expect(lstatSync(sandbox.path(FILE)).ino).toBe(before)
    for (const path of [secret, sandbox.path('inside')])
      expect(readFileSync(path, 'utf8')).toBe('{"quiet":"top secret"}')
    expect(sandbox.exists('nothing')).toBe(false)
  })
})

describe('klines config set --local', () => {
  it.each([
    ['mirror', '../victim', /A folder's file cannot name a mirror elsewhere/],
    ['mirror', '/victim', /A folder's file cannot name a mirror elsewhere/],
    ['mirror', 'link', /link is a symbolic link/],
    ['download.mirror', 'link/below', /link is a symbolic link/],
    ['host', '0.0.0.0', /cannot set host \(what the server does and who can reach it\)/],
    ['users update.base-url', 'http://127.0.0.1:1', /cannot set users update\.base-url/],
    ['upstream', 'true', /cannot set upstream/],
    ['force', 'true', /"force" cannot be set/],
  ])('F78 %s %s is refused, and writes nothing', async (key, value, message) => {
    const sandbox = newSandbox()
    symlinkSync('..', sandbox.path('link'))
    const run = await sandbox.call(['config', 'set', key, value, '--local'])
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(sandbox.files()).toEqual(['link'])
  })

  it("F78 in the config folder of the user, the file is the user's", async () => {
    const sandbox = folderWith({ threads: 2, mirror: '/elsewhere' })
    mkdirSync(sandbox.path('config'))
    symlinkSync('..', sandbox.path('config/klines'))
    const env = { XDG_CONFIG_HOME: sandbox.path('config') }
    expect(await sandbox.call(['mirror', 'path'], env)).toMatchObject({ code: 0, stdout: '/elsewhere\n', stderr: '' })
    expect(await sandbox.call(['config', 'set', 'port', '0', '--local'], env)).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(sandbox.text(FILE))).toEqual({ threads: 2, mirror: '/elsewhere', port: 0 })
  })

  it('F78 keeps the file itself private', async () => {
    const sandbox = folderWith({ interval: '1d' })
    chmodSync(sandbox.path(FILE), 0o600)
    expect(await sandbox.call(['config', 'set', 'mirror', './candles', '--local'])).toMatchObject({ code: 0 })
    expect(lstatSync(sandbox.path(FILE)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(sandbox.text(FILE))).toEqual({ interval: '1d', mirror: './candles' })
  })
})
