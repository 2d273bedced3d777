import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname } from 'node:path'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'

const newSandbox = useSandboxes()

it('F69 the tests and the programs that they run use a temporary folder of this run, which all users may write to', async () => {
  expect(basename(tmpdir())).toMatch(/^klines-tests-/)
  expect(statSync(tmpdir()).mode & 0o7777).toBe(0o1777)
  const run = await newSandbox().shell('dirname "$(mktemp -u)"')
  expect(run).toMatchObject({ code: 0, stdout: `${tmpdir()}\n` })
})

it.skipIf(!hasRealTree)('F69 real candles are unpacked there (skipped without ../shared/data)', () => {
  const folder = realTree()
  expect(dirname(folder)).toBe(tmpdir())
  expect(realTree()).toBe(folder)
})
