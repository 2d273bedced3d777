import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRun } from '../../src/engine/run.js'
import { UPSTREAM_POLICY } from '../../src/server/upstream.js'
import { startTestServer } from '../support/servers/test-server.js'
import { expectErrorObject } from '../support/servers/upstream-checks.js'
import { FULL_WEEKS, OPEN_WEEK, PRESENT, weekPath } from '../support/synthetic-tree.js'
import { FAULTY, type FaultScenario, type FaultSource, useFaultScenarios } from './support/fault-scenario.js'
import { reply } from './support/responses.js'

const newScenario = useFaultScenarios()
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

describe.each<FaultSource>(['static', 'exchange'])('a ban of a %s service', source => {
  it('F25 no run sends a request before its end, whatever it asks for', async () => {
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
      expect(run.stderr).toContain(sandbox.banFile)
      expect(namedTime(run.stderr)).toBe(end)
    }
    expect(await callAt(scenario, PRESENT + 150_000)).toMatchObject({ code: 5 })
    expect(server.log).toEqual([])
    expect(sandbox.exists('other')).toBe(false)
    server.heal()
    expect(await callAt(scenario, end)).toMatchObject({ code: 0 })
    expect(sandbox.text('x.csv')).toBe(scenario.expectedCsv())
  })

  it('F25 a cache folder that cannot be written is no error: each run is told by the service', async () => {
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

  it('F25 serve --upstream during a ban: the mirror, else the error object with Retry-After; no request', async () => {
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
      source: baseUrl,
      now: Date.now,
      upstream: () => openRun({ baseUrl, mirror }, { policy: UPSTREAM_POLICY }),
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
