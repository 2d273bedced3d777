import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import { findPython } from '../support/python.js'
import { sampleRows } from '../support/sample-tree.js'
import { startServeCommand } from '../support/servers/serve-command.js'

const newSandbox = useSandboxes()
const RECIPES = join(PROJECT, 'src/docs/recipes')
const MAX_LINES = 80
/** What publish.md needs is run by mirror.test.ts: a cron line and a workflow are not. service.md is about other programs. */
const NOT_RUN = ['publish.md', 'service.md']
const NAMES = ['backtrader', 'charts', 'cite', 'compare', 'duckdb', 'freqtrade', 'pandas', 'polars', 'sql']
const ALL_RECIPES = NAMES.map(name => `${name}.md`)
const UNTESTED = 'Not run by the tests'
/** Where a server listens by default; the tests start one on a free port. */
const ADDRESS = 'http://127.0.0.1:8787'

const python = findPython('pandas')
/** As the recipes say, and without the summaries, so that what is printed is what they announce. */
const SAMPLE = { KLINES_BASE_URL: 'sample', KLINES_QUIET: '1' }

/** A code block of a recipe. */
type Block = Readonly<Record<'language' | 'code', string>>

const readRecipe = (name: string) => readFileSync(join(RECIPES, name), 'utf8')

const lines = (text: string) => text.split('\n')

/** The code blocks that are run: in each section those before the remark that the rest of it is not. */
function testedBlocks(name: string): Block[] {
  const sections = readRecipe(name).split(/^(?=## )/m)
  const texts = sections.map(section => section.split(`\n${UNTESTED}`)[0])
  // A remark before the first section is about the whole recipe.
  const tested = sections[0].includes(`\n${UNTESTED}`) ? texts.slice(0, 1) : texts
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
async function runBlocks(sandbox: CliSandbox, blocks: readonly Block[]): Promise<string[][]> {
  mkdirSync(sandbox.path('bin'))
  // Blocks of Python run last, in one process: pandas takes a second to load.
  sandbox.write('all.py', 'import runpy, sys\nfor name in sys.argv[1:]:\n  runpy.run_path(name)\n  print("THE END")\n')
  // Not a link: a Python of a virtual environment finds its modules by its own path.
  if (python) chmodSync(sandbox.write('bin/python3', `#!/bin/sh\nexec '${python}' "$@"\n`), 0o755)
  const instance = await DuckDBInstance.create(':memory:', { file_search_path: sandbox.folder })
  const connection = await instance.connect()
  const printed: string[][] = []
  const isServed = blocks.some(({ code }) => code.includes(ADDRESS))
  const server = isServed ? await startServeCommand(sandbox, ['--base-url', 'sample']) : undefined
  const scripts: { index: number; name: string }[] = []
  for (const { language, code: written } of blocks) {
    const code = written.replaceAll(ADDRESS, server?.url ?? ADDRESS)
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
    const run = rest && (await sandbox.shell(`PATH="$PWD/bin:$PATH" bash -euo pipefail ${name}`, SAMPLE))
    if (run) expect(run.code, `${code}\n${run.stderr}`).toBe(0)
    printed.push(lines(`${called.stdout}${run ? run.stdout : ''}`.trimEnd()))
  }
  if (scripts.length > 0) {
    const run = await sandbox.shell(`PATH="$PWD/bin:$PATH" python3 all.py ${scripts.map(({ name }) => name).join(' ')}`)
    expect(run.code, run.stderr).toBe(0)
    for (const [at, text] of run.stdout.split('THE END\n').slice(0, -1).entries())
      printed[scripts[at].index] = lines(text.trimEnd())
  }
  connection.closeSync()
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

describe.concurrent('recipes', () => {
  it('are there, are short, and say which code is not run', () => {
    const names = readdirSync(RECIPES)
    expect(names).toEqual([...ALL_RECIPES, ...NOT_RUN].sort())
    for (const name of names) {
      expect(readRecipe(name).split('\n').length, name).toBeLessThanOrEqual(MAX_LINES)
      expect(readRecipe(name), name).toContain(UNTESTED)
      if (!NOT_RUN.includes(name)) expect(testedBlocks(name).length, name).toBeGreaterThan(0)
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
