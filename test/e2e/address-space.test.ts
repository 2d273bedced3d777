import { platform } from 'node:os'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

it.skipIf(platform() !== 'linux')('a limit on virtual memory is named, with good advice (Linux only)', async () => {
  const limited = (command: string) => newSandbox().shell(`ulimit -v 8000000 && ${command}`)
  const [probe, plain, helped] = await Promise.all([
    limited(`'${process.execPath}' -e 'new WebAssembly.Memory({ initial: 1 })'`),
    limited('klines mirror --path'),
    limited('NODE_OPTIONS=--disable-wasm-trap-handler klines mirror --path'),
  ])
  // From Node 24 on, WebAssembly does without the addresses that it cannot reserve.
  if (probe.code === 0) expect(plain).toMatchObject({ code: 0, stderr: '' })
  else {
    expect(plain).toMatchObject({ code: 1, stdout: '' })
    expect(plain.stderr).toContain('ulimit -v')
    expect(plain.stderr).toContain('NODE_OPTIONS=--disable-wasm-trap-handler')
  }
  expect(helped).toMatchObject({ code: 0, stderr: '' })
})
