import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
const text = ['README.md', 'test/recipes/library.md'].map(name => readFileSync(join(PROJECT, name), 'utf8')).join('\n')
const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)

/** The values that comments behind `console.log` announce. */
function announced(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, value]) => value)
}

describe('the examples of the library in the README and its recipe', () => {
  it('are there, and announce values', () => {
    expect(blocks.map(code => announced(code).length)).toEqual([5, 7, 2])
  })

  it.each(blocks.map((code, index) => [index + 1, code] as const))(
    'number %i runs and prints what it announces',
    async (_, code) => {
      const sandbox = newSandbox()
      mkdirSync(sandbox.path('node_modules'))
      symlinkSync(PROJECT, sandbox.path('node_modules/klines'))
      const run = await sandbox.node([sandbox.write('example.mjs', code)])
      expect(run.code, run.stderr).toBe(0)
      const lines = run.stdout.trimEnd().split('\n')
      const values = announced(code)
      expect(lines.filter(line => values.includes(line))).toEqual(values)
    },
  )

  it('name every public function', () => {
    const index = readFileSync(join(PROJECT, 'src/index.ts'), 'utf8')
    const names = [...index.matchAll(/(?<!type )\b([a-z]\w+)(?=[,\s}])/g)].map(([, name]) => name)
    const functions = names.filter(name => !['export', 'type', 'from'].includes(name))
    expect(functions.length).toBeGreaterThan(10)
    expect(functions.filter(name => !blocks.some(code => code.includes(`${name}(`)))).toEqual([])
  })
})
