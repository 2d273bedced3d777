import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROJECT } from '../../support/cli/cli-sandbox.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { ALL_INTERVALS, SAMPLE_TREE } from '../../support/sample-tree.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { tempFolder } from '../../support/temp-folder.js'

const run = promisify(execFile)
const tool = (name: string) => join(PROJECT, 'node_modules', name)
const TSC = tool('typescript/bin/tsc')
/** The document becomes a source file, which is always checked. */
const STRICT = { strict: true, skipLibCheck: true, target: 'ES2022', module: 'NodeNext', types: [] }

/** The first window of each interval in the sample; the real slice has them too. */
const WINDOWS = ALL_INTERVALS.map(interval => {
  const [name] = readdirSync(join(SAMPLE_TREE, 'api/klines', interval, 'BTCUSDT')).sort()
  return { interval, startDate: name.replace('.json', '') }
})

const get = (interval: string, startDate: string, symbol = 'BTCUSDT') =>
  `client.GET('/api/klines/${interval}/{symbol}/{startDate}.json',` +
  ` { params: { path: { symbol: '${symbol}', startDate: '${startDate}' } } })`

const IMPORTS = `import createClient from 'openapi-fetch'
import type { components, operations, paths } from './api.js'
`

/** Mistakes, each of which the compiler must notice. */
const MISTAKES = `export async function typeErrors() {
  // @ts-expect-error There is no such symbol.
  await ${get('1h', '2025-01-01', 'BTCEUR')}
  // @ts-expect-error No window starts on a 2nd.
  await ${get('1h', '2025-01-02')}
  // @ts-expect-error There is no such interval.
  await ${get('5m', '2025-01-01')}
  // @ts-expect-error There is no such operation.
  await client.POST('/api/klines/symbols.json')
}

export function row(row: components['schemas']['Kline']) {
  // @ts-expect-error A row has 12 elements.
  row[12]
  // @ts-expect-error A price is a string.
  row[1].toFixed()
}
`

/** A program like a user's with the generated client; `typeErrors` is compiled but not called. */
const PROGRAM = `${IMPORTS}
declare const process: { argv: string[] }

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Interval = components['schemas']['Interval']
type Row = [number, string, string, string, string, string, number, string, number, string, string, string]
type Body<Name extends keyof operations> = operations[Name]['responses'][200]['content']['application/json']
const exact: Same<components['schemas']['Kline'], Row> = true
const each: Record<Interval, true> = {
${ALL_INTERVALS.map(interval => `  '${interval}': true satisfies Same<Body<'getKlines${interval}'>, Row[]>,`).join('\n')}
}

const document: { servers: { url: string }[] } = await (await fetch(process.argv[2])).json()
const client = createClient<paths>({ baseUrl: document.servers[0].url })

function unwrap<T>({ data, error }: { data?: T; error?: components['schemas']['ErrorObject'] }): T {
  if (data === undefined) throw new Error(error?.message)
  return data
}

const symbols = unwrap(await client.GET('/api/klines/symbols.json'))
const symbol: Same<(typeof symbols)[number], components['schemas']['Symbol']> = true
const startDates = {
${ALL_INTERVALS.map(
  interval => `  '${interval}': unwrap(await client.GET('/api/klines/start-dates/{interval}.json',
    { params: { path: { interval: '${interval}' } } })),`,
).join('\n')}
}
const windows = {
${WINDOWS.map(({ interval, startDate }) => `  '${interval}': unwrap(await ${get(interval, startDate)}),`).join('\n')}
}
// openapi-fetch 0.17 turns tuples into plain arrays (its issue 2632); the generated types have tuples.
const [[openTime, open, , , , , closeTime, , count]] = windows['1h'] as Body<'getKlines1h'>
const numbers: number[] = [openTime, closeTime, count, open.length]
const missing = await client.GET('/api/klines/1h/{symbol}/{startDate}.json',
  { params: { path: { symbol: 'NONE' as 'BTCUSDT', startDate: '2025-01-01' } } })
const status: number | undefined = missing.error?.statusCode
const own: object = unwrap(await client.GET('/api/openapi.json'))
console.log(JSON.stringify({ exact, each, symbol, numbers, symbols, startDates, windows, status, document, own }))

${MISTAKES}`

/** Runs the compiled program with the document of a server over `root`, and compares what it fetched with the files. */
async function expectFetched(program: string, root: string): Promise<void> {
  const { url } = await startTestServer(root)
  const { stdout } = await run(process.execPath, [program, `${url}/api/openapi.json`], { maxBuffer: 64 << 20 })
  const got = JSON.parse(stdout)
  const file = (path: string) => JSON.parse(readFileSync(join(root, 'api/klines', path), 'utf8'))
  expect(got).toMatchObject({ exact: true, symbol: true, status: 404, own: got.document })
  const [row] = got.windows['1h']
  expect(got.numbers).toEqual([row[0], row[6], row[8], row[1].length])
  expect(got.symbols).toEqual(file('symbols.json'))
  expect(Object.keys(got.windows)).toEqual([...ALL_INTERVALS])
  for (const { interval, startDate } of WINDOWS) {
    expect(got.startDates[interval]).toEqual(file(`start-dates/${interval}.json`))
    expect(got.windows[interval]).toEqual(file(`${interval}/BTCUSDT/${startDate}.json`))
    expect(got.windows[interval].length).toBeGreaterThan(0)
  }
}

it('a client from a public generator fetches everything, with the types of the service', async () => {
  const { url } = await startTestServer(SAMPLE_TREE)
  const folder = tempFolder()
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const files = ['main.ts', 'wrong.ts']
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files }))
  writeFileSync(join(folder, 'main.ts'), PROGRAM)
  const generator = tool('openapi-typescript/bin/cli.js')
  await run(process.execPath, [generator, `${url}/api/openapi.json`, '-o', 'api.ts'], { cwd: folder })
  // The compiler must notice a wrong type: this program lacks one line that announces an error.
  const mistakes = MISTAKES.replace('  // @ts-expect-error There is no such symbol.\n', '')
  writeFileSync(
    join(folder, 'wrong.ts'),
    `${IMPORTS}\ndeclare const client: ReturnType<typeof createClient<paths>>\n${mistakes}`,
  )
  const { stdout } = await run(process.execPath, [TSC, '-p', '.'], { cwd: folder }).catch(error => error)
  const errors = stdout.split('\n').filter((line: string) => /^\S/.test(line))
  expect(errors).toEqual([expect.stringMatching(/^wrong\.ts\(.*"BTCEUR"/)])
  const program = join(folder, 'main.js')
  await expectFetched(program, SAMPLE_TREE)
  if (hasRealTree) await expectFetched(program, realTree())
})
