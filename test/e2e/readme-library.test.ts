import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'

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
    expect(blocks.map(code => announced(code).length)).toEqual([0, 6, 7, 2, 2, 2, 12, 3])
  })

  it('run one after the other, each in an empty folder, and print what they announce', async () => {
    const sandbox = newProject()
    const folders = blocks.map((code, index) => {
      const folder = sandbox.path(`example-${index + 1}`)
      mkdirSync(folder)
      sandbox.write(`example-${index + 1}/example.mjs`, code)
      return folder
    })
    const all = `for (const folder of ${JSON.stringify(folders)}) {
      process.chdir(folder)
      process.env.XDG_CACHE_HOME = folder + '/cache'
      await import(folder + '/example.mjs')
      console.log('THE END')
    }`
    const run = await sandbox.node([sandbox.write('all.mjs', all)])
    expect(run.code, run.stderr).toBe(0)
    const printed = run.stdout.split('THE END\n').slice(0, -1)
    expect(printed).toHaveLength(blocks.length)
    for (const [index, code] of blocks.entries()) {
      const values = announced(code)
      const lines = printed[index].trimEnd().split('\n')
      expect(
        lines.filter(line => values.includes(line)),
        `example ${index + 1}`,
      ).toEqual(values)
    }
  })

  it('name everything that is exported', () => {
    const exported = (path: string) =>
      [...readFileSync(join(PROJECT, path), 'utf8').matchAll(/export \{([^}]*)\}/g)].flatMap(([, names]) =>
        names
          .split(',')
          .map(name => name.trim())
          .filter(name => name !== '' && !name.startsWith('type ')),
      )
    const names = [...exported('src/index.ts'), ...exported('src/greeting.ts')]
    expect(names.length).toBeGreaterThan(30)
    const code = blocks.map(block => block.replaceAll(/^import [\s\S]*? from .*$/gm, '')).join('\n')
    expect(names.filter(name => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
  })
})
