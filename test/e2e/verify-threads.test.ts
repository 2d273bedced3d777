import { cpSync } from 'node:fs'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'

const newSandbox = useSandboxes()

it('verify with threads finds what it finds without them, of a range alone', async () => {
  const sandbox = newSandbox()
  cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true })
  const file = 'm/api/klines/1h/ETHUSDT/2025-02-01.json'
  const rows = JSON.parse(sandbox.text(file))
  // Before the range, and in it.
  for (const row of [10, 300]) rows[row][8]++
  sandbox.write(file, JSON.stringify(rows))
  const verify = 'verify all -i 1h,4h --mirror m --json --from 2025-02-10 --to 2025-02-20 --threads'.split(' ')
  const [one, two] = await Promise.all(['1', '2'].map(threads => sandbox.run([...verify, threads])))
  expect([two.code, two.stderr]).toEqual([6, ''])
  expect(two.stdout).toBe(one.stdout)
  const { differences } = JSON.parse(two.stdout)
  expect(
    new Set(differences.map(({ openTime }: { openTime: number }) => openTime - (openTime % 14_400_000))).size,
  ).toBe(1)
})
