import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { oneOf } from '../support/full.js'

const newSandbox = useSandboxes()
const text = ['README.md', 'src/docs/library.md', 'src/docs/greeting.md']
  .map(name => readFileSync(join(PROJECT, name), 'utf8'))
  .join('\n')
const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)

/** The values that comments behind `console.log` announce. */
function announced(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, value]) => value)
}

/** Another project in which `klines` is installed. */
function newProject(): CliSandbox {
  const sandbox = newSandbox()
  mkdirSync(sandbox.path('node_modules'))
  symlinkSync(PROJECT, sandbox.path('node_modules/klines'))
  return sandbox
}

describe('the examples of the library in the README and its documents', () => {
  it('are there, and announce values', () => {
    expect(blocks.map(code => announced(code).length)).toEqual([0, 4, 7, 2, 2, 1])
  })

  it.each(oneOf(2, ['nodenext', 'bundler']))(
    'compile in a strict TypeScript project, resolved as by %s',
    async resolution => {
      const sandbox = newProject()
      const files = blocks.map((code, index) => sandbox.write(`example-${index}.mts`, code))
      const compilerOptions = {
        target: 'es2022',
        module: resolution === 'bundler' ? 'esnext' : resolution,
        moduleResolution: resolution,
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
        noEmit: true,
        types: ['node'],
        typeRoots: [join(PROJECT, 'node_modules', '@types')],
      }
      const project = sandbox.write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
      const run = await sandbox.node([join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project])
      expect(run.code, run.stdout).toBe(0)
    },
  )

  it.each(blocks.map((code, index) => [index + 1, code] as const))(
    'number %i runs and prints what it announces',
    async (_, code) => {
      const sandbox = newProject()
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
