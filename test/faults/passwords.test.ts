import { describe, expect, it } from 'vitest'
import { filesBelow } from '../support/files-below.js'
import { useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const SECRET = 's3cret'

describe('F68 a password', () => {
  it.concurrent.each([
    `http://user:${SECRET}@127.0.0.1:9`,
    `http://user:p@${SECRET}/@127.0.0.1:9/klines`,
    `http://user:${SECRET}@127.0.0.1/api`,
  ])('in the base address %s is refused and never printed', async baseUrl => {
    const scenario = await newScenario()
    for (const more of [[], ['--json'], ['-v']]) {
      const run = await scenario.download({ baseUrl, args: more })
      expect(run.code).toBe(2)
      expect(run.stdout + run.stderr).not.toContain(SECRET)
      expect(run.stdout + run.stderr).toContain('is not a base address')
    }
    for (const command of [['symbols'], ['serve', '--upstream', '--port', '0'], ['mirror']]) {
      const run = await scenario.run([...command, '--base-url', baseUrl, '--mirror', 'm'])
      expect(run.code).toBe(2)
      expect(run.stdout + run.stderr).not.toContain(SECRET)
    }
    const greeting = await scenario.run(['users', 'update', 'x', '--name', 'y', '--base-url', baseUrl])
    expect(greeting.code).toBe(2)
    expect(greeting.stdout + greeting.stderr).not.toContain(SECRET)
    expect(scenario.strayFiles()).toEqual([])
    expect(filesBelow(scenario.sandbox.folder)).toEqual([])
  })

  it.concurrent.each([
    ['that refuses connections', `http://user:${SECRET}@127.0.0.1:9`],
    ['that is not a URL', `http://user:${SECRET}@127.0.0.1:99999`],
  ])('of a proxy %s is never printed', async (_, proxy) => {
    const scenario = await newScenario()
    for (const more of [[], ['-v']]) {
      const env = { HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, https_proxy: proxy }
      const run = await scenario.download({ env, args: more, policy: { tries: 1 } })
      expect(run.code).not.toBe(0)
      expect(run.stdout + run.stderr).not.toContain(SECRET)
      expect(run.stderr).toMatch(/^klines: /)
    }
  })
})
