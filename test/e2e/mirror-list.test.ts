import { cpSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const OWN = 'http://127.0.0.1:8090'

/** A sandbox with mirrors in its cache folder, by the names of their folders: copies of the sample with another address. */
function sandboxWith(mirrors: Record<string, string>) {
  const sandbox = newSandbox()
  for (const [name, baseUrl] of Object.entries(mirrors)) putMirror(sandbox, `cache/klines/${name}`, baseUrl)
  const env = { XDG_CACHE_HOME: sandbox.path('cache') }
  return { sandbox, call: (args: string) => sandbox.call(args.split(' '), env) }
}

function putMirror(sandbox: CliSandbox, folder: string, baseUrl: string): void {
  cpSync(SAMPLE_TREE, sandbox.path(folder), { recursive: true })
  sandbox.write(`${folder}/mirror.json`, JSON.stringify({ layout: 1, baseUrl }))
}

describe('klines mirror', () => {
  it('shows the named mirror, and a line for each other one of the cache folder', async () => {
    const { sandbox, call } = sandboxWith({ 'http_127.0.0.1_8090': OWN, sample: 'sample' })
    putMirror(sandbox, 'mine', 'https://klines.example')
    sandbox.write('cache/klines/notes.txt', 'not a mirror')
    const { mirror, baseUrl, cachedBytes, series, others } = JSON.parse(
      (await call('mirror --json --mirror mine')).stdout,
    )
    expect([mirror, baseUrl, series.length]).toEqual(['mine', 'https://klines.example', 24])
    const figures = { symbols: 2, series: 24, newest: Date.UTC(2025, 2, 30, 23, 45) }
    expect(others).toMatchObject([
      { baseUrl: OWN, root: sandbox.path('cache/klines/http_127.0.0.1_8090'), ...figures },
      { baseUrl: 'sample', ...figures },
    ])
    const bytes = sandbox.files('mine/api').filter(name => !/symbols|start-dates/.test(name))
    expect(cachedBytes).toBe(bytes.reduce((sum, name) => sum + sandbox.bytes(`mine/api/${name}`).length, 0))
    const { stdout, code } = await call(`mirror --base-url ${OWN}`)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sample +2 +[\d.]+ [kM]B +2025-03-30 23:45 +\/.*\/cache\/klines\/sample$/m)
    expect(stdout.split('\n').filter(line => line.includes('/cache/klines/http'))).toHaveLength(2)
  })
})

it.each(['statSync', 'readdirSync'])(
  'a folder of a series that cannot be searched (%s) is named, exit 3',
  async call => {
    const { sandbox } = sandboxWith({ own: OWN })
    const fault = { call, path: 'api/klines/1d/BTCUSDT', code: 'EACCES' }
    const run = await sandbox.call(['mirror', '--mirror', 'cache/klines/own'], {}, { faults: [fault] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Cannot read api\/klines\/1d\/BTCUSDT\S* of the mirror \S+: permission denied/)
  },
)

describe('a run without a mirror of the default address', () => {
  it.each(['export BTCUSDT -i 1h', 'serve'])('%s names the mirror that there is', async args => {
    const { call } = sandboxWith({ 'http_127.0.0.1_8090': OWN })
    const { code, stdout, stderr } = await call(args)
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(
      /There is a mirror of http:\/\/127\.0\.0\.1:8090: add its --base-url, or run klines config set base-url ADDRESS$/m,
    )
  })
})

describe('two addresses whose folders would have the same name', () => {
  it('have a folder each, and each finds its own', async () => {
    const [slash, line] = ['https://klines.example/a/b', 'https://klines.example/a_b']
    const { sandbox, call } = sandboxWith({ 'klines.example_a_b': slash })
    const pathOf = async (baseUrl: string) => (await call(`mirror --path --base-url ${baseUrl}`)).stdout.trim()
    expect(await pathOf(slash)).toBe(sandbox.path('cache/klines/klines.example_a_b'))
    const other = await pathOf(line)
    expect(other).toBe(sandbox.path('cache/klines/https%3A%2F%2Fklines.example%2Fa_b'))
    putMirror(sandbox, 'cache/klines/https%3A%2F%2Fklines.example%2Fa_b', line)
    rmSync(sandbox.path('cache/klines/klines.example_a_b'), { recursive: true })
    expect(await pathOf(line)).toBe(other)
  })
})
