import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { FuturesMarket } from '../support/futures/futures-market.js'
import { findPython } from '../support/python.js'
import { sampleRows } from '../support/sample-tree.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { openForwardProxy } from '../support/servers/path-proxy.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { startTlsProxy } from '../support/servers/tls-proxy.js'

const newSandbox = useSandboxes()
const RECIPES = join(PROJECT, 'src/docs/recipes')
const MAX_LINES = 80
/** These have tests of their own below: they need an exchange, and programs that run others. */
const OTHERS = ['futures.md', 'publish.md', 'service.md']
const NAMES = ['backtrader', 'charts', 'cite', 'compare', 'duckdb', 'freqtrade', 'pandas', 'polars', 'sql']
const ALL_RECIPES = NAMES.map(name => `${name}.md`)
const UNTESTED = 'Not run by the tests'
/** Where a server listens by default; the tests start one on a free port, behind a proxy that answers for this address. */
const ADDRESS = 'http://127.0.0.1:8787'

const python = findPython('pandas')
/** As the recipes say, and without the summaries, so that what is printed is what they announce. */
const SAMPLE = { KLINES_BASE_URL: 'sample', KLINES_QUIET: '1' }

/** A code block of a recipe. */
type Block = Readonly<Record<'language' | 'code', string>>

const readRecipe = (name: string) => readFileSync(join(RECIPES, name), 'utf8')

const lines = (text: string) => text.split('\n')

/** The code blocks that are run: in each section those before the remark that the rest of it is not. */
function testedBlocks(name: string, all = false): Block[] {
  const sections = readRecipe(name).split(/^(?=## )/m)
  const texts = sections.map(section => (all ? section : section.split(`\n${UNTESTED}`)[0]))
  // A remark before the first section is about the whole recipe.
  const tested = !all && sections[0].includes(`\n${UNTESTED}`) ? texts.slice(0, 1) : texts
  return tested.flatMap(text =>
    [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code]) => ({ language, code })),
  )
}

/** The lines of output that comments of the form `# => output` announce. */
const announced = (code: string) => [...code.matchAll(/(?:#|--) => (.*)$/gm)].map(([, line]) => line)

/** The first lines of a script of bash that are commands of klines, without pipes, redirections and variables; and the others. */
function splitScript(code: string): [commands: string, rest: string] {
  const all = lines(code.trim().replace(/\\\n/g, ' '))
  const plain = all.map(line => line.replace(/'[^']*'|"[^"$`\\]*"/g, 'quoted'))
  const end = plain.findIndex(line => !/^(#.*|klines [^|<>&;$`(){}"'\\]*)?$/.test(line))
  const at = end === -1 ? all.length : end
  return [all.slice(0, at).join('\n'), all.slice(at).join('\n')]
}

/** Prints the words of each command of klines instead of running it. */
const WORDS = `klines() { printf '%s\\0' "$@"; printf '\\n\\0'; }`

/** Runs the commands of a script in this process, each with the words that bash makes of it. */
async function callCommands(sandbox: CliSandbox, code: string) {
  const words = (await sandbox.shell(`${WORDS}\n${code}`)).stdout
  const commands = words.split('\0\n\0').filter(text => text !== '')
  const runs: Run[] = []
  for (const command of commands) {
    runs.push(await sandbox.call(command.split('\0'), SAMPLE))
    if (runs.at(-1)?.code !== 0) break
  }
  const join = (name: 'stdout' | 'stderr') => runs.map(run => run[name]).join('')
  return { code: runs.at(-1)?.code ?? 0, stdout: join('stdout'), stderr: join('stderr') }
}

/** Runs blocks in one folder, as a reader would; returns the lines that each printed. */
async function runBlocks(sandbox: CliSandbox, blocks: readonly Block[], peer = python): Promise<string[][]> {
  mkdirSync(sandbox.path('bin'))
  // Blocks of Python run last, in one process: pandas takes a second to load.
  sandbox.write('all.py', 'import runpy, sys\nfor name in sys.argv[1:]:\n  runpy.run_path(name)\n  print("THE END")\n')
  // Not a link: a Python of a virtual environment finds its modules by its own path.
  if (peer) chmodSync(sandbox.write('bin/python3', `#!/bin/sh\nexec '${peer}' "$@"\n`), 0o755)
  const instance = await DuckDBInstance.create(':memory:', { file_search_path: sandbox.folder })
  const connection = await instance.connect()
  const printed: string[][] = []
  const isServed = blocks.some(({ code }) => code.includes(ADDRESS))
  const server = isServed ? await startServeCommand(sandbox, ['--base-url', 'sample']) : undefined
  const proxy = server && (await openForwardProxy(server.url))
  const viaProxy: Record<string, string> = proxy ? { http_proxy: proxy.url } : {}
  const scripts: { index: number; name: string }[] = []
  for (const { language, code } of blocks) {
    if (language === 'sql') {
      // As `duckdb -init` does.
      if (sandbox.exists('lake/_views.sql')) await connection.run(sandbox.bytes('lake/_views.sql').toString())
      const rows = (await connection.runAndReadAll(code)).getRows()
      printed.push(rows.map(row => row.join(' | ')))
      continue
    }
    const name = `block-${printed.length}.${language}`
    sandbox.write(name, code)
    if (language === 'python') {
      scripts.push({ index: printed.length, name })
      printed.push([])
      continue
    }
    const [commands, rest] = splitScript(code)
    const called = await callCommands(sandbox, commands)
    expect(called.code, `${code}\n${called.stderr}`).toBe(0)
    sandbox.write(name, rest)
    const run =
      rest && (await sandbox.shell(`PATH="$PWD/bin:$PATH" bash -euo pipefail ${name}`, { ...SAMPLE, ...viaProxy }))
    if (run) expect(run.code, `${code}\n${run.stderr}`).toBe(0)
    printed.push(lines(`${called.stdout}${run ? run.stdout : ''}`.trimEnd()))
  }
  if (scripts.length > 0) {
    const names = scripts.map(({ name }) => name).join(' ')
    const run = await sandbox.shell(`PATH="$PWD/bin:$PATH" python3 all.py ${names}`, viaProxy)
    expect(run.code, run.stderr).toBe(0)
    for (const [at, text] of run.stdout.split('THE END\n').slice(0, -1).entries())
      printed[scripts[at].index] = lines(text.trimEnd())
  }
  connection.closeSync()
  proxy?.close()
  await server?.stop()
  return printed
}

async function expectAnnounced(sandbox: CliSandbox, blocks: readonly Block[]): Promise<void> {
  const printed = await runBlocks(sandbox, blocks)
  for (const [index, { code }] of blocks.entries()) {
    const lines = announced(code)
    if (lines.length > 0) expect(printed[index]).toEqual(lines)
  }
}

/** The code blocks of a language, in order, whether or not they are run with the others. */
const blocksOf = (name: string, language: string) =>
  [...readRecipe(name).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code)

/** The command of the one line of a crontab, with its variables, as cron runs it: by sh, in the home folder. */
function cronCommand(name: string): string {
  const [, variables, command] = /^(PATH=.*)\n[\d*]+(?: [\d*]+){4} (.*)$/m.exec(blocksOf(name, 'crontab')[0]) ?? []
  return `cd; export ${variables}; exec sh -c '${command}'`
}

/** A sandbox in whose home `npm link` has put the program. */
async function linkedSandbox(now: number) {
  const sandbox = newSandbox()
  sandbox.now = now
  const home = (await sandbox.shell('mkdir -p ~/.local/bin && cp "$(command -v klines)" ~/.local/bin && echo ~')).stdout
  return { sandbox, home: home.trim() }
}

/** Starts a server by a command of bash, and stops it; returns what it lists. `KLINES_PORT` is a free one. */
async function listedBy(sandbox: CliSandbox, command: string): Promise<unknown> {
  const running = sandbox.startShell(`exec ${command}`, { KLINES_PORT: '0' })
  const server = await startServeCommand(sandbox, [], running)
  expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok' })
  const symbols = await (await fetch(`${server.url}/api/klines/symbols.json`)).json()
  expect(await server.stop('SIGTERM')).toMatchObject({ code: 0 })
  return symbols
}

describe('the recipe of a service', () => {
  const FRESH = Date.parse('2025-03-31T06:00Z')

  it('fills a mirror and keeps it current by cron, which hears of a source that stands still', async () => {
    const { sandbox, home } = await linkedSandbox(FRESH)
    const [commands] = blocksOf('service.md', 'sh')
    const env = { KLINES_BASE_URL: 'sample' }
    expect(await sandbox.shell(`set -e; ${commands}`, env)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await sandbox.shell(cronCommand('service.md'), env)).toMatchObject({ code: 0 })
    sandbox.now = FRESH + 3 * 86_400_000
    expect(await sandbox.shell(cronCommand('service.md'), env)).toMatchObject({ code: 4, stdout: '', stderr: '' })
    const log = readFileSync(join(home, 'klines.log'), 'utf8')
    expect(log).toMatch(/^klines: The newest 1h candle closed 3 days ago, .*\nThe newest 1d candle closed 3 days ago, /)
  })

  it('has a unit of systemd that runs a server, also before there is a mirror', async ({ skip }) => {
    const { sandbox, home } = await linkedSandbox(FRESH)
    const [unit] = blocksOf('service.md', 'ini')
    const setting = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1].replaceAll('%h', home)
    const command = `env '${setting('Environment')}' ${setting('ExecStart')}`
    expect(await listedBy(sandbox, command)).toEqual([])
    expect(await sandbox.shell(blocksOf('service.md', 'sh')[0], SAMPLE)).toMatchObject({ code: 0 })
    expect(await listedBy(sandbox, command)).toEqual(['BTCUSDT', 'ETHUSDT'])
    sandbox.write('klines.service', unit)
    const verify = 'command -v systemd-analyze >/dev/null || exit 99; systemd-analyze verify ./klines.service'
    const { code, stderr } = await sandbox.shell(verify)
    if (code === 99) skip('needs systemd-analyze of the package systemd to check the unit; its command ran')
    expect([code, stderr]).toEqual([0, ''])
  })

  it('starts in Docker and by its compose file in a fresh folder: their commands, with folders in place of mounts', async ({
    skip,
  }) => {
    const { sandbox } = await linkedSandbox(FRESH)
    const listed = (words: string[]) => {
      const inPlace = words.map(word => word.replace(/^\/klines/, PROJECT).replace(/^\/mirror/, sandbox.path('mirror')))
      return listedBy(sandbox, inPlace.join(' '))
    }
    // No Docker here: what it would run is run.
    const docker = `docker() { printf '%s\n' "$@"; }`
    const words = lines((await sandbox.shell(`${docker}\n${blocksOf('service.md', 'sh')[2]}`)).stdout.trimEnd())
    expect(words).toContain(`${sandbox.folder}/mirror:/mirror`)
    expect(await listed(words.slice(words.indexOf('node:22') + 1))).toEqual([])
    const yaml = findPython('yaml')
    if (yaml === undefined) return skip('needs python3-yaml for the compose file; the command of Docker ran')
    sandbox.write('compose.yaml', blocksOf('service.md', 'yaml')[0])
    const script = "import json, yaml; print(json.dumps(yaml.safe_load(open('compose.yaml'))))"
    const { klines } = JSON.parse((await sandbox.shell(`'${yaml}' -c "${script}"`)).stdout).services
    expect([klines.volumes[1], klines.healthcheck.test]).toEqual([
      './mirror:/mirror',
      expect.stringMatching(/healthz$/),
    ])
    expect(await listed([...klines.entrypoint, ...klines.command.split(' ')])).toEqual([])
  })
})

describe('the recipe of a published tree', () => {
  it('publishes a tree of the exchange, and again from cron', async ({ skip }) => {
    if (spawnSync('openssl', ['version']).status !== 0) skip('needs openssl')
    const { sandbox, home } = await linkedSandbox(EXCHANGE_NOW)
    const symbol = { from: '2026-03-02T08:00Z' }
    const exchange = await ExchangeServer.start(madeMarket({ BTCUSDT: symbol, ETHUSDT: symbol }))
    const env = await startTlsProxy('data-api.binance.vision', exchange.url)
    const [commands] = blocksOf('publish.md', 'sh')
    const run = await sandbox.shell(`cd && ${commands}`, env)
    expect(run, run.stderr).toMatchObject({ code: 0 })
    expect(run.stdout).toContain('The tree is complete: 2 symbols, 12 intervals')
    expect(await sandbox.shell(cronCommand('publish.md'), env)).toMatchObject({ code: 0, stderr: '' })
    const read = (path: string) => JSON.parse(readFileSync(join(home, 'tree/api', path), 'utf8'))
    expect(read('klines/symbols.json')).toEqual(['BTCUSDT', 'ETHUSDT'])
    expect(Object.keys(read('openapi.json').paths)).toContain('/api/klines/1d/{symbol}/{startDate}.json')
  })
})

describe('the recipe of futures', () => {
  it('adds up funding at mark prices, and has files for freqtrade', async ({ skip }) => {
    if (spawnSync('openssl', ['version']).status !== 0) skip('needs openssl')
    const { sandbox } = await linkedSandbox(EXCHANGE_NOW)
    const exchange = await ExchangeServer.start(new FuturesMarket())
    const env = await startTlsProxy('fapi.binance.com', exchange.url)
    const [download, files] = blocksOf('futures.md', 'sh')
    const run = await sandbox.shell(`set -e; ${download}`, env)
    expect(run, run.stderr).toMatchObject({ code: 0 })
    const answer = await fetch(
      `${exchange.url}/fapi/v1/fundingRate?symbol=BTCUSDT&startTime=${Date.UTC(2026, 3, 1)}&limit=1000`,
    )
    const all = (await answer.json()) as { fundingTime: number; fundingRate: string; markPrice: string }[]
    // The first candle has closed by then.
    const settled = all.filter(({ fundingTime }) => fundingTime >= Date.UTC(2026, 3, 1, 1))
    const received = settled.reduce(
      (sum, { fundingRate, markPrice }) => sum - Number(fundingRate) * Number(markPrice),
      0,
    )
    const instance = await DuckDBInstance.create(':memory:', { file_search_path: sandbox.folder })
    const connection = await instance.connect()
    const [row] = (await connection.runAndReadAll(blocksOf('futures.md', 'sql')[0])).getRows()
    connection.closeSync()
    expect(settled.length).toBeGreaterThan(80)
    expect(row.map(Number)).toEqual([settled.length, 8, expect.closeTo(received, 2)])
    const listed = await sandbox.shell(`set -e; ${files}`, env)
    expect(listed, listed.stderr).toMatchObject({ code: 0 })
    expect(listed.stdout).toContain(announced(files).join('\n'))
  })
})

describe.concurrent('recipes', () => {
  it('are there, are short, and say which code is not run', () => {
    const names = readdirSync(RECIPES)
    expect(names).toEqual([...ALL_RECIPES, ...OTHERS].sort())
    for (const name of names) {
      expect(readRecipe(name).split('\n').length, name).toBeLessThanOrEqual(MAX_LINES)
      expect(readRecipe(name), name).toContain(UNTESTED)
      if (!OTHERS.includes(name)) expect(testedBlocks(name).length, name).toBeGreaterThan(0)
    }
    const count = (name: string, language: string) =>
      testedBlocks(name).filter(block => block.language === language).length
    expect([count('pandas.md', 'python'), count('duckdb.md', 'sql'), count('polars.md', 'python')]).toEqual([3, 5, 0])
  })

  it.for(ALL_RECIPES)('%s runs, with the output that it announces', async (name, { skip }) => {
    if (name === 'cite.md' && findPython() === undefined) skip('needs Python')
    if (name === 'pandas.md' && python === undefined) skip('needs python3-pandas')
    const sandbox = newSandbox()
    await expectAnnounced(sandbox, testedBlocks(name))
    if (name === 'freqtrade.md') expectFreqtradeFiles(sandbox)
  })
})

/** Where the program or the Python package of a recipe is at hand, all of its code runs. */
describe('the rest of a recipe', () => {
  it.for([
    ['polars.md', 'polars', 'is in no Debian package'],
    ['backtrader.md', 'backtrader', 'is in no Debian package'],
  ])('%s with %s', async ([name, module, reason], { skip }) => {
    const peer = findPython(module)
    if (peer === undefined) return skip(`needs ${module} for Python, which ${reason}`)
    await runBlocks(newSandbox(), testedBlocks(name, true), peer)
  })

  it.for(['duckdb.md', 'sql.md'])('%s with the program duckdb', async (name, { skip }) => {
    if (spawnSync('duckdb', ['--version']).status !== 0) return skip('needs duckdb, which is in no Debian package')
    await runBlocks(newSandbox(), testedBlocks(name, true))
  })

  it('charts.md: klines serve', async () => {
    const [, serve] = blocksOf('charts.md', 'sh')
    expect(await listedBy(newSandbox(), serve.trim())).toEqual(['BTCUSDT', 'ETHUSDT'])
  })
})

/** The files of freqtrade have the columns that it expects. */
function expectFreqtradeFiles(sandbox: CliSandbox): void {
  for (const coin of ['BTC', 'ETH']) {
    const table = tableFromIPC(sandbox.bytes(`user_data/data/binance/${coin}_USDT-1h.feather`))
    expect(table.schema.fields.map(({ type }) => String(type))).toEqual([
      'Timestamp<MILLISECOND, UTC>',
      ...Array.from({ length: 5 }, () => 'Float64'),
    ])
    const rows = sampleRows(`${coin}USDT`, '1h').map(row => row.slice(0, 6).map(Number))
    const columns = table.schema.fields.map(({ name }) => [...(table.getChild(name) ?? [])].map(Number))
    expect(columns).toEqual(rows[0].map((_, index) => rows.map(row => row[index])))
  }
}
