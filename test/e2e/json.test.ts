import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type AnySchema } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXIT_CODES } from '../../src/candles/errors.js'
import * as schemas from '../../src/commands/reports/schemas.js'
import { type CliSandbox, PROJECT, type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { FuturesMarket } from '../support/futures/futures-market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { type ServeProcess, startServeCommand } from '../support/servers/serve-command.js'

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const { commands } = JSON.parse(read('oclif.manifest.json')) as { commands: Record<string, { flags: object }> }
/** All that have the flag. `version` is no command of oclif. */
const COMMANDS = [
  ...Object.keys(commands)
    .filter(id => 'json' in commands[id].flags)
    .map(id => id.replaceAll(':', ' ')),
  'version',
]
const PAGE = read('src/docs/json.md')
const SCHEMAS: Readonly<Record<string, AnySchema>> = schemas
/** The server, or the subject of an error, may say more than the schema. */
const OPEN = ['UsersUpdateSchema', 'StreamsTokensSchema', 'OpenapiSchema', 'ErrorSchema']

type Case = readonly [args: string, code?: number, schema?: keyof typeof schemas]
const USER = '123e4567-e89b-12d3-a456-426614174000 --email a@example.com --name AB --age 30 --notify email'

/** What each command is called with; spaces within quotes are part of a word. The schema is named after the command, or here. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  // Its lines are the data.
  follow: [['BTCUSDT -i 1d', 2, 'ErrorSchema']],
  chart: [
    ['BTCUSDT -i 4h --resample 8h --from 2025-02 --to 2025-05 --offline'],
    ['BTCUSDT -i 1d --offline -o chart.svg'],
  ],
  completion: [['bash']],
  config: [['']],
  'config set': [['interval 1d,1h'], ['concurrency 8']],
  'config unset': [['interval']],
  diff: [
    ['a.parquet a.parquet'],
    ['a.parquet b.parquet', 6],
    ['m bad BTCUSDT -i 4h', 3],
    ['m bad BTCUSDT -i 1d --from 2024 --to 2025-02', 6],
  ],
  download: [
    ['ETHUSDT -i 1w', 0, 'RunSchema'],
    ['BTCUSDT -i 1d,4h -o {interval}.csv --fingerprint', 0, 'RunSchema'],
    ['BTCUSDT -i 1d --refresh --mirror bad', 0, 'RunSchema'],
    ['--lock klines.lock.json -o x.parquet', 0, 'RunSchema'],
    ['BTCUSDT -i 1h --dry-run', 0, 'DryRunSchema'],
    ['--lock klines.lock.json --dry-run', 0, 'DryRunSchema'],
  ],
  export: [
    ['all -i 1d,4h -o new/ --layout hive', 0, 'RunSchema'],
    ['BTCUSDT -i 1d -o x.csv --dry-run', 0, 'DryRunSchema'],
    ['BTCUSDT -i 1d --dry-run', 0, 'DryRunSchema'],
  ],
  fingerprint: [['all -i all --from 2024 --to 2025-02'], ['a.parquet']],
  funding: [['BTCUSDT --from 2024-01-01 --to 2024-01-03'], ['BTCUSDT --base-url sample', 2, 'ErrorSchema']],
  intervals: [['']],
  lock: [['BTCUSDT -i 4h --to 2025-03 --force']],
  'mirror --path': [['']],
  mirror: [[''], ['--mirror bad'], ['--path'], ['--path --mirror none']],
  'mirror publish': [['']],
  openapi: [['export']],
  serve: [['--port 0']],
  'start-dates': [['1d'], ['7h', 2, 'ErrorSchema']],
  stats: [['all -i all'], ['BTCUSDT -i 1d --from 2030', 4, 'ErrorSchema']],
  'streams tokens': [['']],
  symbols: [[''], ['--mirror none --base-url http://127.0.0.1:9']],
  update: [
    ['', 0, 'RunSchema'],
    ['--dry-run', 0, 'DryRunSchema'],
  ],
  'users update': [[USER]],
  verify: [
    ['all -i all'],
    ['all -i all --mirror bad', 6],
    ['BTCUSDT -i 1d --from 2030', 4],
    ['--lock klines.lock.json', 0, 'LockCheckSchema'],
    ['--lock klines.lock.json --mirror bad', 6, 'LockCheckSchema'],
  ],
  version: [['']],
}

const newSandbox = useSandboxes()
const ENV = { KLINES_MIRROR: 'm', KLINES_BASE_URL: 'sample' }
let greeting: ServeProcess
let futures: ExchangeServer
beforeAll(async () => {
  greeting = await startServeCommand(newSandbox(), ['--base-url', 'sample', '--stream-text', 'few words'])
  futures = await ExchangeServer.open(new FuturesMarket())
})
afterAll(() => Promise.all([greeting.stop(), futures.stop()]))

const prepare = usePreparedSandboxes(newSandbox, async sandbox => {
  for (const args of [
    'download all -i 1d,4h',
    'export BTCUSDT -i 1d -o a.parquet --numbers decimal',
    'export BTCUSDT -i 1d -o b.parquet --numbers decimal --from 2025-01-15',
    'export BTCUSDT -i 1d -o lake --layout hive',
    'lock BTCUSDT -i 1d --to 2025-03-01',
  ]) {
    expect(await sandbox.call(args.split(' '), ENV), args).toMatchObject({ code: 0 })
  }
  cpSync(sandbox.path('m'), sandbox.path('bad'), { recursive: true })
  sandbox.write('bad/api/klines/4h/notes.txt', '')
  sandbox.write('bad/api/klines/4h/BTCUSDT/2025-01-01.json', '[[')
  const day = sandbox.path('bad/api/klines/1d/BTCUSDT/2024-01-01.json')
  // A lost candle, and one whose low is above its high.
  const [first, [openTime, open, high, , ...rest], , ...more] = JSON.parse(readFileSync(day, 'utf8'))
  writeFileSync(day, JSON.stringify([first, [openTime, open, high, '999999.00000000', ...rest], ...more]))
})

/** One for all commands that only read, or write files of their own. */
let shared: Promise<CliSandbox>
beforeAll(() => {
  shared = prepare()
})

const words = (text: string) => [...text.matchAll(/"([^"]*)"|[^ ]+/g)].map(([word, quoted]) => quoted ?? word)

async function runCommand(sandbox: CliSandbox, command: string, args: string): Promise<Run> {
  const line = [...words(`${command} ${args}`), '--json']
  // oclif has nothing to do with it.
  if (command === 'version') return sandbox.run(['version', '--json'])
  if (command === 'serve') return (await startServeCommand(sandbox, [], sandbox.start(line, ENV))).stop()
  if (command === 'config unset') await sandbox.call(['config', 'set', args, '1d'])
  const addresses = { KLINES_GREETING_URL: greeting.url, KLINES_FUNDING_URL: `binance-usdm:${futures.url}` }
  return sandbox.call(line, { ...ENV, ...addresses })
}

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true })

/** What is wrong with the one object that a run printed. */
function faults({ stdout }: Run, name: string): unknown {
  const validate = ajv.compile(SCHEMAS[name])
  return validate(JSON.parse(stdout)) ? [] : validate.errors
}

/** `MirrorPublishSchema` for `mirror publish`. */
const schemaName = (command: string) =>
  `${command.replaceAll(/(?:^|[ -])(\w)/g, (_, letter: string) => letter.toUpperCase())}Schema`

/** Commands that change what others read have a sandbox of their own. */
const WRITES = ['download', 'lock', 'config set', 'config unset', 'mirror publish', 'serve', 'update']

describe.each(COMMANDS)('%s --json', command => {
  const cases = CASES[command] ?? []

  it('prints an object of its schema, which the page names; an error is an object, on stdout alone', async () => {
    expect(cases.length).toBeGreaterThan(0)
    const sandbox = await (WRITES.includes(command) ? prepare() : shared)
    for (const [args, code = 0, name] of cases) {
      if (name && name !== 'ErrorSchema')
        expect(PAGE).toMatch(new RegExp(`^\\|.*\`${command}.*\\| \`${name}\` \\|$`, 'm'))
      const schema = name ?? schemaName(command)
      expect(Object.keys(SCHEMAS)).toContain(schema)
      const run = await runCommand(sandbox, command, args)
      expect(run, args).toMatchObject({ code })
      expect(faults(run, schema), args).toEqual([])
    }
    if (command === 'version') return
    const run = await (await shared).call([...command.split(' '), '--json', '--nope'])
    expect(run).toMatchObject({ code: 2, stderr: '' })
    expect(faults(run, 'ErrorSchema')).toEqual([])
    expect(JSON.parse(run.stdout).error).toMatchObject({ code: 'usage', exitCode: 2 })
  })
})

describe('the schemas', () => {
  const used = [
    ...COMMANDS.flatMap(command => CASES[command].map(([, , name]) => name ?? schemaName(command))),
    'ErrorSchema',
  ]

  it('are those of the commands', () => {
    expect(Object.keys(SCHEMAS).sort()).toEqual([...new Set(used)].sort())
  })

  it.each(Object.keys(SCHEMAS))('%s has an own $id, and names all properties', name => {
    const twins = Object.values(SCHEMAS).filter(other => Object(other).$id === Object(SCHEMAS[name]).$id)
    expect(twins).toHaveLength(1)
    let open = 0
    JSON.stringify(SCHEMAS[name], (_, value) => {
      if (value?.type === 'object' && value.additionalProperties !== false) open++
      return value
    })
    expect(open > 0).toBe(OPEN.includes(name))
  })
})

describe('an unknown command', () => {
  it.each([
    ['donwload BTCUSDT --json', 'Unknown command: donwload. Did you mean download?', ''],
    ['streams tokns --json', 'Unknown command: streams tokns. Did you mean streams tokens?', 'streams '],
    ['--json symbols', 'Expected a command before --json.', ''],
  ])('%s is the same object on stdout', async (args, message, topic) => {
    const run = await (await shared).call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stderr: '' })
    expect(faults(run, 'ErrorSchema')).toEqual([])
    const suggestions = [`Run klines ${topic}--help for a list of commands.`]
    expect(JSON.parse(run.stdout).error).toEqual({ code: 'usage', message, exitCode: 2, suggestions })
  })
})

it('the page has the code of each error at its exit code', () => {
  const rows = [...PAGE.matchAll(/^\| (\d+) \| (`.*`) \|$/gm)].map(
    ([, exitCode, codes]) => [Number(exitCode), codes] as const,
  )
  const named = rows.flatMap(([exitCode, codes]) =>
    codes
      .replaceAll('`', '')
      .split(', ')
      .map(code => [code, exitCode]),
  )
  // Nobody reads the object of the code 0.
  const expected = [
    ...Object.entries(EXIT_CODES).filter(([, exitCode]) => exitCode > 0),
    ['unexpected', 1],
    ['usage', 2],
  ]
  expect(named.sort()).toEqual(expected.sort())
})
