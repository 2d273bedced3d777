import { platform } from 'node:os'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

it.skipIf(platform() !== 'linux')('a limit on virtual memory is named, with advice that works', async () => {
  const limited = (setting: string) => newSandbox().shell(`ulimit -v 8000000 && ${setting} klines mirror path`)
  const [refused, helped] = await Promise.all([limited(''), limited('NODE_OPTIONS=--disable-wasm-trap-handler')])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('ulimit -v')
  expect(refused.stderr).toContain('NODE_OPTIONS=--disable-wasm-trap-handler')
  expect(helped).toMatchObject({ code: 0, stderr: '' })
})
