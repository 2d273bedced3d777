import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { downloadKlines } from '../../src/engine/download.js'
import { openSource } from '../../src/download/sources/open-source.js'
import { UPSTREAM_POLICY } from '../../src/server/upstream.js'
import { until } from '../support/deferred.js'
import { startTestServer } from '../support/servers/test-server.js'
import { expectErrorObject } from '../support/servers/upstream-checks.js'
import { FULL_WEEKS, OPEN_WEEK, PRESENT, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import {
  ALL_WINDOWS,
  FAULTY,
  type FaultScenario,
  type FaultSource,
  useFaultScenarios,
} from './support/fault-scenario.js'
import { healthy } from './support/fault-server.js'
import { busy, reply } from './support/responses.js'

const newScenario = useFaultScenarios()
const [HOUR, DAY] = [3_600_000, 86_400_000]
/** How long a run may take on a busy machine, ms. */
const SLACK = 600_000
const banned = (seconds: number) =>
  reply("418 I'm a teapot", [`Retry-After: ${seconds}`], '{"code":-1003,"msg":"Way too much request weight used."}')

/** The program in this process, at a time, ms UTC. */
function callAt(scenario: FaultScenario, time: number, args: readonly string[] = scenario.args(), env = {}) {
  scenario.sandbox.now = time
  return scenario.sandbox.call(args, env)
}

/** The time that an error names, ms UTC. */
function namedTime(stderr: string): number {
  return Date.parse(/ until (\S+Z)\./.exec(stderr)?.[1] ?? '')
}

describe.each<FaultSource>(['static', 'exchange'])('a limit of a %s service', source => {
  it('F85 a ban: no run sends a request before its end, whatever it asks for', async () => {
    const scenario = await newScenario(source)
    const { server, baseUrl, sandbox } = scenario
    server.everywhere(banned(300))
    // A process of its own.
    const first = await scenario.download()
    expect(first).toMatchObject({ code: 5, stdout: '' })
    expect(first.stderr).toMatch(/ answered 418 \(I'm a Teapot\): this address is banned until /)
    const end = namedTime(first.stderr)
    server.log.length = 0
    const others = [
      scenario.args(),
      ['download', 'ETHUSDT', '-i', '15m', '--base-url', baseUrl, '--mirror', 'other'],
      ['download', 'BTCUSDT', '-i', '15m', '--base-url', baseUrl, '--mirror', 'other', '--dry-run'],
      ['symbols', '--base-url', baseUrl, '--mirror', 'other'],
    ]
    for (const args of others) {
      const run = await callAt(scenario, PRESENT, args)
      expect(run, args.join(' ')).toMatchObject({ code: 5, stdout: '' })
      expect(run.stderr).toContain(` answered before 418 (I'm a Teapot): this address is banned until `)
      expect(run.stderr).toContain(sandbox.limitFile(server.url))
      expect(namedTime(run.stderr)).toBe(end)
    }
    expect(await callAt(scenario, PRESENT + 150_000)).toMatchObject({ code: 5 })
    expect(server.log).toEqual([])
    expect(sandbox.exists('other')).toBe(false)
    server.heal()
    expect(await callAt(scenario, end)).toMatchObject({ code: 0 })
    expect(sandbox.text('x.csv')).toBe(scenario.expectedCsv())
  })

  it('F85 429 for ten minutes: no run sends a request before its end', async () => {
    const scenario = await newScenario(source)
    const { server } = scenario
    server.always(FAULTY, busy('600'))
    const first = await callAt(scenario, PRESENT)
    expect(first).toMatchObject({ code: 5, stdout: '' })
    server.log.length = 0
    const second = await callAt(scenario, PRESENT + 300_000)
    expect(second).toMatchObject({ code: 5, stdout: '' })
    expect(second.stderr).toMatch(/ answered before 429 \(Too Many Requests\): rate limited until /)
    expect(namedTime(second.stderr)).toBe(namedTime(first.stderr))
    expect(server.log).toEqual([])
    server.heal()
    expect(await callAt(scenario, namedTime(first.stderr))).toMatchObject({ code: 0 })
  })

  it('F85 429 for some seconds: another run waits, and says nothing', async () => {
    const scenario = await newScenario(source)
    const { server, sandbox } = scenario
    const file = sandbox.limitFile(server.url)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ status: 429, until: new Date(PRESENT + 2_000).toISOString() }))
    const started = performance.now()
    expect(await callAt(scenario, PRESENT)).toMatchObject({ code: 0, stderr: '' })
    expect(Math.min(...server.log.map(({ at }) => at)) - started).toBeGreaterThanOrEqual(1_999)
  })

  it.each([
    ['418', 10 * 86_400, 72 * HOUR],
    ['429', 86_400, HOUR],
  ])('F85 %s for %d s is remembered for %d ms at most', async (status, seconds, longest) => {
    const scenario = await newScenario(source)
    const { server } = scenario
    server.everywhere(status === '418' ? banned(seconds) : busy(String(seconds)))
    const first = await callAt(scenario, PRESENT)
    expect(namedTime(first.stderr)).toBeGreaterThanOrEqual(PRESENT + seconds * 1000)
    server.heal()
    const second = await callAt(scenario, PRESENT + longest / 2)
    expect(second.code).toBe(5)
    expect(namedTime(second.stderr)).toBeGreaterThanOrEqual(PRESENT + longest)
    // It counts from the moment at which the first run was told.
    expect(namedTime(second.stderr)).toBeLessThan(PRESENT + longest + SLACK)
    expect(server.log).toEqual([])
    expect(await callAt(scenario, namedTime(second.stderr))).toMatchObject({ code: 0 })
  })

  it('F85 a clock that is set back: at most three days', async () => {
    const scenario = await newScenario(source)
    scenario.server.everywhere(banned(300))
    expect(await callAt(scenario, PRESENT + 100 * DAY)).toMatchObject({ code: 5 })
    scenario.server.heal()
    const second = await callAt(scenario, PRESENT - 72 * HOUR)
    expect(second.code).toBe(5)
    const end = namedTime(second.stderr)
    expect(end).toBeLessThan(PRESENT + SLACK)
    expect(await callAt(scenario, end - SLACK)).toMatchObject({ code: 5 })
    expect(scenario.server.log).toEqual([])
    expect(await callAt(scenario, end)).toMatchObject({ code: 0 })
  })

  it('F85 a file that says nothing, or a link in its place: the run goes on', async () => {
    const scenario = await newScenario(source)
    const { server, sandbox } = scenario
    const file = sandbox.limitFile(server.url)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'banned for ever')
    expect(await callAt(scenario, PRESENT)).toMatchObject({ code: 0, stderr: '' })
    const target = sandbox.write('target', JSON.stringify({ status: 418, until: '2099-01-01T00:00:00.000Z' }))
    await sandbox.shell(`ln -sf '${target}' '${file}'`)
    expect(await callAt(scenario, PRESENT, scenario.args(['--force']))).toMatchObject({ code: 0, stderr: '' })
    server.everywhere(banned(300))
    expect(await callAt(scenario, PRESENT, scenario.args(['--force', '--refresh']))).toMatchObject({ code: 5 })
    expect(readFileSync(target, 'utf8')).toContain('2099')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ status: 418 })
  })

  it('F85 a cache folder that cannot be written is no error: each run is told by the service', async () => {
    const scenario = await newScenario(source)
    const env = { XDG_CACHE_HOME: scenario.sandbox.write('no-folder', '') }
    scenario.server.everywhere(banned(300))
    for (let run = 0; run < 2; run++) {
      scenario.server.log.length = 0
      const told = await callAt(scenario, PRESENT, scenario.args(), env)
      expect(told.code).toBe(5)
      expect(told.stderr).toContain(' answered 418 ')
      expect(told.stderr).not.toContain('no-folder')
      expect(scenario.server.log.length).toBeGreaterThan(0)
    }
  })

  it('F85 serve --upstream during a ban: the mirror, else the error object with Retry-After; no request', async () => {
    const scenario = await newScenario(source)
    const { server, baseUrl, mirror } = scenario
    const { now } = Date
    let shiftMs = PRESENT - now()
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + shiftMs)
    onTestFinished(() => spy.mockRestore())
    expect(await scenario.downloadInProcess()).toMatchObject({ code: 0 })
    rmSync(join(mirror, FAULTY))
    server.everywhere(banned(300))
    expect(await scenario.downloadInProcess({ force: true, refresh: true })).toMatchObject({ code: 5 })
    server.log.length = 0
    // A bare mirror would be compared with the service first.
    if (source === 'static') rmSync(join(mirror, 'mirror.json'))
    const { request } = await startTestServer(mirror, {
      baseUrl,
      now: Date.now,
      upstream: memory => openSource({ baseUrl, mirror }, { policy: UPSTREAM_POLICY, memory }),
    })
    const final = await request(weekPath('BTCUSDT', FULL_WEEKS[0]))
    expect([final.status, final.headers.warning]).toEqual([200, undefined])
    const open = await request(weekPath('BTCUSDT', OPEN_WEEK))
    expect(open.status).toBe(200)
    // In a mirror of the exchange it is final.
    if (source === 'static') expect(open.headers.warning).toMatch(/^111 /)
    for (const path of [FAULTY, weekPath('ETHUSDT', FULL_WEEKS[0])]) {
      const missing = await request(path)
      expectErrorObject(missing, 503)
      expect(Number(missing.headers['retry-after'])).toBeGreaterThan(0)
      expect(Number(missing.headers['retry-after'])).toBeLessThanOrEqual(301)
    }
    expect(server.log).toEqual([])
    server.heal()
    shiftMs += 301_000
    expect((await request(FAULTY)).status).toBe(200)
  })
})

it('F85 429 of one run: another one that has begun sends nothing meanwhile', async () => {
  const scenario = await newScenario()
  const { server } = scenario
  const file = join(String(process.env.XDG_CACHE_HOME), 'klines', '.limits', `${encodeURIComponent(server.url)}.json`)
  const [first] = ALL_WINDOWS
  const other = first.replace('BTCUSDT', 'ETHUSDT')
  let told = 0
  server.script(first, async request => {
    await until(() => server.requestsFor(other).length === 1)
    told = performance.now()
    return busy('2')(request)
  })
  server.script(other, async request => {
    await until(() => existsSync(file))
    return healthy(request)
  })
  const download = (symbol: string) =>
    downloadKlines({
      ...{ symbols: [symbol], intervals: ['15m'], baseUrl: server.url, mirror: join(tempFolder(), symbol) },
      ...{ concurrency: 1, now: PRESENT },
    })
  await Promise.all([download('BTCUSDT'), download('ETHUSDT')])
  const after = server.log.filter(({ at }) => at > told)
  const windows = ALL_WINDOWS.flatMap(path => [path, path.replace('BTCUSDT', 'ETHUSDT')])
  // Each at least once: a connection may have become idle too long, so that a request is sent again.
  expect(new Set([...after.map(({ path }) => path), other])).toEqual(new Set(windows))
  expect(Math.min(...after.map(({ at }) => at - told))).toBeGreaterThan(1_950)
})
