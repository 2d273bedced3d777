import { rmSync } from 'node:fs'
import { platform } from 'node:os'
import { expect, it, type TestContext } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { oneOf } from '../support/full.js'
import { MANY_SYMBOLS, manyRows, manyWindows } from '../support/many-windows.js'
import { csvOf } from '../support/sample-tree.js'
import { ALL_WINDOWS, FAULTY, LIST, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const newSandbox = useSandboxes()

/** Limits on addresses in kB: Node takes 1.2 GB, 10.5 GB for each memory of compiled code, and 0.7 GB for each thread. */
const TWO_MEMORIES = 27_000_000
const ONE_MEMORY = 14_000_000
const limited = (kB: number, command: string) => `ulimit -v ${kB} && ${command}`
const COUNT_MEMORIES = `
  const all = []
  try {
    for (;;) all.push(new WebAssembly.Memory({ initial: 1, maximum: 65536 }))
  } catch {
    console.log(all.length)
  }`

const known = new Map<number, Promise<string>>()
/** The number of memories that fit into a limit, as a line. */
function countMemories(kB: number): Promise<string> {
  const count = newSandbox().shell(limited(kB, `'${process.execPath}' -e '${COUNT_MEMORIES}'`))
  const line = count.then(({ stdout }) => stdout)
  known.set(kB, line)
  return line
}

/** Skips a test unless so many memories fit into a limit: other versions of Node reserve less. */
async function needMemories(context: TestContext, kB: number, count: number): Promise<void> {
  if (platform() !== 'linux') context.skip('only Linux limits addresses')
  const stdout = await (known.get(kB) ?? countMemories(kB))
  if (stdout !== `${count}\n`) context.skip(`${stdout.trim()} memories fit into ${kB} kB of addresses`)
}

/** Calls of node:fs that fail for lack of memory. */
const failing = (fault: object) => ({ KLINES_TEST_FAIL: JSON.stringify({ code: 'ENOMEM', ...fault }) })

/** The errors of a run. */
const errors = (stderr: string) => stderr.split('\n').filter(line => line.startsWith('klines: '))

it.for(oneOf(2, ['static', 'exchange'] as const))(
  'F79 no room for a window of a %s service: the run ends at the first one',
  async (source, context) => {
    await needMemories(context, TWO_MEMORIES, 2)
    const scenario = await newScenario(source)
    const run = await scenario.shell(limited(TWO_MEMORIES, scenario.command()))
    expect(run).toMatchObject({ code: 1, signal: null, stdout: '' })
    expect(errors(run.stderr)).toEqual([
      expect.stringMatching(
        /^klines: There is no room for the memory of compiled code, 10 GB of addresses: WebAssembly\./,
      ),
    ])
    expect(run.stderr).toMatch(/ulimit -v[\s\S]*--threads 1/)
    expect(run.stderr).not.toContain('could not be downloaded')
    // Those on their way are not asked for again.
    const requests = scenario.server.windowRequests()
    expect(new Set(requests).size).toBe(requests.length)
    expect(scenario.mirroredFiles().filter(name => name !== LIST)).toEqual([])
    expect(scenario.outputs()).toEqual([])
  },
)

it('F79 no room for a cached window: it is not corrupt, and nothing is requested', async context => {
  await needMemories(context, TWO_MEMORIES, 2)
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  rmSync(scenario.sandbox.path('x.csv'))
  scenario.server.heal()
  const run = await scenario.shell(limited(TWO_MEMORIES, scenario.command()))
  expect(run).toMatchObject({ code: 1, signal: null, stdout: '' })
  expect(errors(run.stderr)).toHaveLength(1)
  expect(run.stderr).not.toMatch(/corrupt|downloaded/i)
  expect(scenario.server.windowRequests()).toEqual([])
  scenario.expectHealthy()
  await scenario.expectRepair()
})

it('F79 no room for threads: no worker starts, and the main thread does the work', async context => {
  await needMemories(context, ONE_MEMORY, 1)
  const sandbox = newSandbox()
  manyWindows(sandbox.path('m'))
  const command = 'klines export all -i 15m --mirror m -o {symbol}.csv --threads 8 -q'
  const run = await sandbox.shell(limited(ONE_MEMORY, command))
  expect(run).toMatchObject({ code: 0, signal: null })
  expect(run.stderr).not.toContain('Fatal')
  for (const symbol of MANY_SYMBOLS) expect(sandbox.text(`${symbol}.csv`)).toBe(csvOf(manyRows(symbol).flat()))
})

it.each(
  oneOf(2, [
    ['the main thread does it again', 'workers', 0],
    ['nor has the main thread: the run ends', undefined, 1],
  ] as const),
)('F79 a worker has no memory for a file, %s', async (_, threads, code) => {
  const sandbox = newSandbox()
  manyWindows(sandbox.path('m'))
  const args = ['export', 'all', '-i', '15m', '--mirror', 'm', '-o', '{symbol}.csv', '--threads', '4']
  const fault = { call: 'promises.open', path: 'BTCUSDT.csv', code: 'ENOMEM', ...(threads && { in: threads }) }
  const run = await sandbox.runFailing(args, [fault])
  expect(run.code).toBe(code)
  const files = code === 0 ? MANY_SYMBOLS.map(symbol => `${symbol}.csv`).sort() : []
  expect(sandbox.files().filter(name => !name.startsWith('m/'))).toEqual(files)
  expect(errors(run.stderr)).toEqual(
    code === 0 ? [] : [expect.stringMatching(/^klines: There is not enough memory: ENOMEM/)],
  )
  if (code === 1) expect(run.stderr).toMatch(/--threads 1, --concurrency 1/)
})

it.each(
  oneOf<[string, (command: string) => string]>(2, [
    ['a download', command => command],
    ['verify', () => 'klines verify BTCUSDT -i 15m --mirror m'],
  ]),
)('F79 no memory to read a cached window: %s ends, and the window is not corrupt', async (_, command) => {
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  scenario.server.heal()
  const preload = { preload: ['../../support/cli/failing-fs.mjs'], env: failing({ call: 'readSync', path: FAULTY }) }
  const run = await scenario.shell(command(scenario.command('--force')), preload)
  expect(run).toMatchObject({ code: 1, stdout: '' })
  expect(errors(run.stderr)).toEqual([expect.stringMatching(/^klines: There is not enough memory: ENOMEM/)])
  expect(scenario.server.requestsFor(FAULTY)).toEqual([])
  expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
})
