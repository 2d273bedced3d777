import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

it('F69 the tests and the programs that they run use a temporary folder of this run, which all users may write to', async () => {
  expect(basename(tmpdir())).toMatch(/^klines-tests-/)
  expect(statSync(tmpdir()).mode & 0o7777).toBe(0o1777)
  const run = await newSandbox().shell('dirname "$(mktemp -u)"')
  expect(run).toMatchObject({ code: 0, stdout: `${tmpdir()}\n` })
})
